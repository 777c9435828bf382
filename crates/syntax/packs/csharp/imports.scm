; A namespace is taken with all that is in it.
(using_directive !name [(identifier) (qualified_name) (alias_qualified_name)] @module @all) @import
(using_directive name: (identifier) @alias (_) @module .) @import
(extern_alias_directive name: (identifier) @module @bare) @import

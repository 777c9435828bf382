; The names in braces stand in groups, each below the path before it.
(use_declaration) @import
(scoped_use_list path: (_) @prefix list: (use_list) @group)

(use_declaration argument: [(identifier) (scoped_identifier) (crate)] @module @bare)
(use_declaration argument: (use_as_clause path: (_) @module alias: (identifier) @alias))
(use_declaration argument: (use_wildcard (_) @module "*" @all))

(use_list (identifier) @name)
(use_list (scoped_identifier path: (_) @module name: (identifier) @name))
(use_list (self) @bare)
(use_list (use_as_clause path: (identifier) @name alias: (identifier) @alias))
(use_list
  (use_as_clause
    path: (scoped_identifier path: (_) @module name: (identifier) @name)
    alias: (identifier) @alias))
(use_list (use_as_clause path: (self) alias: (identifier) @alias))
(use_list (use_wildcard . (_) @module "*" @all))
(use_list (use_wildcard . "*" @all))

(extern_crate_declaration name: (_) @module @bare !alias) @import
(extern_crate_declaration name: (_) @module alias: (identifier) @alias) @import

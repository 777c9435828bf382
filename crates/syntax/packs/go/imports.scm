(import_spec !name path: (_) @module @bare) @import
(import_spec name: (package_identifier) @alias path: (_) @module) @import
(import_spec name: (blank_identifier) @alias path: (_) @module) @import
(import_spec name: (dot) @all path: (_) @module) @import

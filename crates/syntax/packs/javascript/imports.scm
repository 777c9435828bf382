(import_statement (import_clause (identifier) @default) source: (string) @module) @import
(import_statement (import_clause (namespace_import (identifier) @alias)) source: (string) @module) @import
(import_statement
  (import_clause (named_imports (import_specifier name: (_) @name alias: (_)? @alias)))
  source: (string) @module) @import
(import_statement . source: (string) @module) @import

; What is exported from another file.
(export_statement
  (export_clause (export_specifier name: _ @name alias: _? @alias))
  source: (string) @module) @import
(export_statement "*" @all source: (string) @module) @import
(export_statement (namespace_export (_) @alias) source: (string) @module) @import

; `require`, whole or in parts.
((_
  (variable_declarator
    name: (identifier) @alias
    value: (call_expression function: (identifier) @_require arguments: (arguments . (string) @module .)))) @import
  (#eq? @_require "require"))
((_
  (variable_declarator
    name: (object_pattern [
      (shorthand_property_identifier_pattern) @name
      (pair_pattern key: (property_identifier) @name value: (identifier) @alias)
    ])
    value: (call_expression function: (identifier) @_require arguments: (arguments . (string) @module .)))) @import
  (#eq? @_require "require"))
((_
  (variable_declarator
    name: (identifier) @alias
    value: (member_expression
      object: (call_expression function: (identifier) @_require arguments: (arguments . (string) @module .))
      property: (property_identifier) @name))) @import
  (#eq? @_require "require"))
((expression_statement
  (call_expression function: (identifier) @_require arguments: (arguments . (string) @module .))) @import
  (#eq? @_require "require"))

(call_expression function: (import) arguments: (arguments . (string) @module)) @import

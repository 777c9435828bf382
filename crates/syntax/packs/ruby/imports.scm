((call
  !receiver
  method: (identifier) @_require
  arguments: (argument_list . (string (string_content) @module))) @import
  (#match? @_require "^(require|require_relative|load)$"))
((call
  !receiver
  method: (identifier) @_autoload
  arguments: (argument_list . (simple_symbol) . (string (string_content) @module))) @import
  (#eq? @_autoload "autoload"))

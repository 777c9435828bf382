((command name: (command_name) @_source . argument: (_) @module) @import
  (#match? @_source "^(source|\\.)$"))

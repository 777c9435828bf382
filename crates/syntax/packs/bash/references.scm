(command name: (command_name (word) @reference.call))

; Handlers are called by name.
((command name: (command_name) @_trap . argument: (word) @reference.call) (#eq? @_trap "trap"))

[
  (string)
  (raw_string)
  (ansi_c_string)
  (heredoc_body)
] @string
[
  (command_substitution)
  (process_substitution)
  (simple_expansion)
  (expansion)
  (arithmetic_expansion)
] @code
(comment) @comment

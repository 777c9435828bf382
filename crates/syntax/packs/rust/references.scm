(call_expression function: (identifier) @reference.call)
(call_expression
  function: (scoped_identifier path: (_)? @receiver name: (_) @reference.call @reference.member))
(call_expression
  function: (field_expression value: (_) @receiver field: (field_identifier) @reference.call @reference.member))

; With type arguments: `parse::<u8>()`.
(call_expression function: (generic_function function: (identifier) @reference.call))
(call_expression
  function: (generic_function
    function: (scoped_identifier path: (_)? @receiver name: (_) @reference.call @reference.member)))
(call_expression
  function: (generic_function
    function: (field_expression value: (_) @receiver field: (field_identifier) @reference.call @reference.member)))

(macro_invocation macro: (identifier) @reference.call)
(macro_invocation
  macro: (scoped_identifier path: (_)? @receiver name: (_) @reference.call @reference.member))

; What a macro is given is not parsed; a name before parentheses is most likely called.
(token_tree (identifier) @reference.call . (token_tree . "("))
(token_tree ["." "::"] . (identifier) @reference.member)
(token_tree
  [(identifier) (self) (token_tree)] @receiver . ["." "::"] .
  (identifier) @reference.call @reference.member . (token_tree . "("))
(token_repetition (identifier) @reference.call . (token_tree . "("))
(token_repetition ["." "::"] . (identifier) @reference.member)

(field_expression field: (field_identifier) @reference.member)
(scoped_identifier path: (_) name: (identifier) @reference.member)
(scoped_type_identifier path: (_) name: (type_identifier) @reference.member)

[(string_literal) (raw_string_literal)] @string
[(line_comment) (block_comment)] @comment

; A field and its value in one.
(shorthand_field_initializer (identifier) @short)
(field_pattern name: (shorthand_field_identifier) @short)

[
  (function_definition)
  (compound_statement)
  (for_statement)
] @scope

; A name is known from its own end on, its initial value included. It lies under any number of
; pointers and arrays; each is matched where it ends.
(parameter_declaration declarator: (identifier) @local @late)
(declaration declarator: (identifier) @local @late)
(init_declarator declarator: (identifier) @local @late)
(pointer_declarator declarator: (identifier) @local @late)
(array_declarator declarator: (identifier) @local @late)
(parenthesized_declarator (identifier) @local @late)

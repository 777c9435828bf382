[
  (function_definition)
  (compound_statement)
  (for_statement)
] @scope

; The name lies under any number of pointers and arrays; each is matched where it ends.
(parameter_declaration declarator: (identifier) @local)
(declaration declarator: (identifier) @local)
(init_declarator declarator: (identifier) @local)
(pointer_declarator declarator: (identifier) @local)
(array_declarator declarator: (identifier) @local)
(parenthesized_declarator (identifier) @local)

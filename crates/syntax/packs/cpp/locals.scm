[
  (function_definition)
  (compound_statement)
  (for_statement)
  (for_range_loop)
  (if_statement)
  (while_statement)
  (switch_statement)
  (lambda_expression)
  (catch_clause)
  (template_declaration)
  (field_declaration)
] @scope

; A name is known from its own end on, its initial value included. It lies under any number of
; pointers and arrays; each is matched where it ends.
(parameter_declaration declarator: (identifier) @local @late)
(declaration declarator: (identifier) @local @late)
(init_declarator declarator: (identifier) @local @late)
(pointer_declarator declarator: (identifier) @local @late)
(array_declarator declarator: (identifier) @local @late)
(parenthesized_declarator (identifier) @local @late)
(reference_declarator (identifier) @local @late)
(optional_parameter_declaration declarator: (identifier) @local @late)
(variadic_declarator (identifier) @local @late)
(structured_binding_declarator (identifier) @local @late)
(for_range_loop declarator: (identifier) @local @late)
(lambda_capture_initializer left: (identifier) @local)
(type_parameter_declaration (type_identifier) @local @late)
(variadic_type_parameter_declaration (type_identifier) @local @late)
(optional_type_parameter_declaration name: (type_identifier) @local @late)
(lambda_capture_initializer) @late
(for_range_loop right: (_) @free)

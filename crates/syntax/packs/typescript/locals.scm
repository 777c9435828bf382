[
  (function_declaration)
  (function_expression)
  (generator_function_declaration)
  (generator_function)
  (arrow_function)
  (method_definition)
] @scope @function

[
  (statement_block)
  (for_statement)
  (for_in_statement)
  (catch_clause)
  (switch_body)
  (function_signature)
  (method_signature)
  (abstract_method_signature)
  (function_type)
  (constructor_type)
  (call_signature)
  (construct_signature)
  (class_declaration)
  (abstract_class_declaration)
  (interface_declaration)
  (type_alias_declaration)
] @scope

(required_parameter pattern: (identifier) @local)
(optional_parameter pattern: (identifier) @local)
(arrow_function parameter: (identifier) @local)
; `let` and `const` are known in all of their block, `var` in all of its function.
(lexical_declaration (variable_declarator name: (identifier) @local))
(variable_declaration (variable_declarator name: (identifier) @local.hoisted))
(object_pattern (shorthand_property_identifier_pattern) @local)
(object_pattern (pair_pattern value: (identifier) @local))
(object_assignment_pattern left: (shorthand_property_identifier_pattern) @local)
(array_pattern (identifier) @local)
(assignment_pattern left: (identifier) @local)
(rest_pattern (identifier) @local)
(for_in_statement kind: _ left: (identifier) @local)
(catch_clause parameter: (identifier) @local)

; A parameter is known after itself, so that a function can be called as one of its own.
(formal_parameters (_) @late)

; Functions and classes of a block are known in all of it.
(statement_block (function_declaration name: (identifier) @local.outer))
(statement_block (generator_function_declaration name: (identifier) @local.outer))
(statement_block (class_declaration name: (type_identifier) @local.outer @local.type.outer))
(statement_block (abstract_class_declaration name: (type_identifier) @local.outer @local.type.outer))
(statement_block (enum_declaration name: (identifier) @local @local.type))

; Types have names of their own; a class and an enum have one as a value too.
(type_identifier) @type
(type_parameter name: (type_identifier) @local.type)
(mapped_type_clause name: (type_identifier) @local.type)
(infer_type (type_identifier) @local.type)
(statement_block (interface_declaration name: (type_identifier) @local.type.outer))
(statement_block (type_alias_declaration name: (type_identifier) @local.type.outer))

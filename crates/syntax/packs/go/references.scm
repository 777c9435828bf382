(call_expression function: (identifier) @reference.call)
(call_expression
  function: (selector_expression operand: (_) @receiver field: (field_identifier) @reference.call @reference.member))

; With type arguments: `Map[int](f)`.
(call_expression function: (index_expression operand: (identifier) @reference.call))
(call_expression
  function: (index_expression
    operand: (selector_expression operand: (_) @receiver field: (field_identifier) @reference.call @reference.member)))
(call_expression function: (type_instantiation_expression type: (type_identifier) @reference.call))
(type_conversion_expression type: (generic_type type: (type_identifier) @reference.call))

(selector_expression field: (field_identifier) @reference.member)
(qualified_type name: (type_identifier) @reference.member)

[(interpreted_string_literal) (raw_string_literal)] @string
(comment) @comment

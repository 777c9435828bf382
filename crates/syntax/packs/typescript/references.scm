(call_expression function: (identifier) @reference.call)
(call_expression
  function: (member_expression
    object: (_) @receiver
    property: [(property_identifier) (private_property_identifier)] @reference.call @reference.member))
(new_expression constructor: (identifier) @reference.call)
(new_expression
  constructor: (member_expression object: (_) @receiver property: (_) @reference.call @reference.member))
(decorator (identifier) @reference.call)

; With type arguments after the name in an expression: `make<T>`.
(call_expression function: (instantiation_expression (identifier) @reference.call))

(member_expression property: (_) @reference.member)
(nested_type_identifier name: (_) @reference.member)
(nested_identifier property: (_) @reference.member)

[(string) (template_string)] @string
(template_substitution) @code
(comment) @comment

; A key and its value in one.
(shorthand_property_identifier) @short
(shorthand_property_identifier_pattern) @short

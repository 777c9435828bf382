(invocation_expression function: (identifier) @reference.call)
(invocation_expression function: (generic_name . (identifier) @reference.call))
(invocation_expression
  function: (member_access_expression
    expression: (_) @receiver
    name: [
      (identifier) @reference.call @reference.member
      (generic_name . (identifier) @reference.call @reference.member)
    ]))
(invocation_expression
  function: (conditional_access_expression
    condition: (_) @receiver
    (member_binding_expression
      name: [
        (identifier) @reference.call @reference.member
        (generic_name . (identifier) @reference.call @reference.member)
      ])))
(object_creation_expression
  type: [
    (identifier) @reference.call
    (generic_name . (identifier) @reference.call)
    (qualified_name
      qualifier: (_) @receiver
      name: [
        (identifier) @reference.call @reference.member
        (generic_name . (identifier) @reference.call @reference.member)
      ])
  ])
(constructor_initializer ["base" "this"] @reference.call)

(member_access_expression name: (identifier) @reference.member)
(member_access_expression name: (generic_name . (identifier) @reference.member))
(member_binding_expression name: (identifier) @reference.member)
(qualified_name name: (identifier) @reference.member)

[
  (string_literal)
  (raw_string_literal)
  (verbatim_string_literal)
  (interpolated_string_expression)
] @string
(interpolation) @code
(comment) @comment

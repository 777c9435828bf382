(method_invocation !object name: (identifier) @reference.call)
(method_invocation object: (_) @receiver name: (identifier) @reference.call @reference.member)
(object_creation_expression
  type: [
    (type_identifier) @reference.call
    (generic_type (type_identifier) @reference.call)
    (scoped_type_identifier (type_identifier) @reference.call .)
    (generic_type (scoped_type_identifier (type_identifier) @reference.call .))
  ])
(explicit_constructor_invocation constructor: [(this) (super)] @reference.call)
(method_reference . (_) @receiver "::" . (identifier) @reference.call @reference.member)

(field_access field: (identifier) @reference.member)
(scoped_identifier name: (identifier) @reference.member)
(scoped_type_identifier (_) (type_identifier) @reference.member)

(string_literal) @string
(string_interpolation) @code
[(line_comment) (block_comment)] @comment

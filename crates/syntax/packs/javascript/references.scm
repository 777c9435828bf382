(call_expression function: (identifier) @reference.call)
(call_expression
  function: (member_expression
    object: (_) @receiver
    property: [(property_identifier) (private_property_identifier)] @reference.call @reference.member))
(new_expression constructor: (identifier) @reference.call)
(new_expression
  constructor: (member_expression object: (_) @receiver property: (_) @reference.call @reference.member))
(decorator (identifier) @reference.call)

(member_expression property: (_) @reference.member)

[(string) (template_string)] @string
(template_substitution) @code
(comment) @comment

; A component is called where it is used as an element; names of plain elements are small.
((jsx_opening_element name: (identifier) @reference.call) (#match? @reference.call "^[A-Z]"))
((jsx_self_closing_element name: (identifier) @reference.call) (#match? @reference.call "^[A-Z]"))
(jsx_opening_element
  name: (member_expression object: (_) @receiver property: (_) @reference.call @reference.member))
(jsx_self_closing_element
  name: (member_expression object: (_) @receiver property: (_) @reference.call @reference.member))
(jsx_text) @string

; A key and its value in one.
(shorthand_property_identifier) @short
(shorthand_property_identifier_pattern) @short

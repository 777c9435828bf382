; A component is called where it is used as an element; names of plain elements are small.
((jsx_opening_element name: (identifier) @reference.call) (#match? @reference.call "^[A-Z]"))
((jsx_self_closing_element name: (identifier) @reference.call) (#match? @reference.call "^[A-Z]"))
(jsx_opening_element
  name: (member_expression object: (_) @receiver property: (_) @reference.call @reference.member))
(jsx_self_closing_element
  name: (member_expression object: (_) @receiver property: (_) @reference.call @reference.member))
(jsx_text) @string

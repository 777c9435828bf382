[
  (function_item)
  (function_signature_item)
  (closure_expression)
  (block)
  (match_arm)
  (for_expression)
  (if_expression)
  (while_expression)
  (impl_item)
  (trait_item)
  (struct_item)
  (enum_item)
  (type_item)
] @scope

(parameter pattern: (identifier) @local)
(closure_parameters (identifier) @local)
; Known after the statement, the condition or the parameter that binds it.
(let_declaration) @late
(let_condition) @late
(parameters (_) @late)

(let_declaration pattern: (identifier) @local)
(let_condition pattern: (identifier) @local)
(for_expression pattern: (identifier) @local)

; In patterns a name may also be a constant or a variant; those begin with a capital.
((match_pattern (identifier) @local) (#not-match? @local "^[A-Z]"))
((tuple_pattern (identifier) @local) (#not-match? @local "^[A-Z]"))
((slice_pattern (identifier) @local) (#not-match? @local "^[A-Z]"))
((or_pattern (identifier) @local) (#not-match? @local "^[A-Z]"))
((reference_pattern (identifier) @local) (#not-match? @local "^[A-Z]"))
((tuple_struct_pattern type: (_) (identifier) @local) (#not-match? @local "^[A-Z]"))
(mut_pattern (identifier) @local)
(ref_pattern (identifier) @local)
(captured_pattern . (identifier) @local)
(field_pattern name: (shorthand_field_identifier) @local)
((field_pattern pattern: (identifier) @local) (#not-match? @local "^[A-Z]"))

; Types have names of their own, and what a path begins with is one. A struct may have one as a
; value too, and the value of a constant parameter stands where types do.
(type_identifier) @type
(scoped_identifier path: (identifier) @type)
(scoped_type_identifier path: (identifier) @type)
(type_parameter name: (type_identifier) @local.type)
(const_parameter name: (identifier) @local @local.type)

; What a loop runs over, and what is done otherwise, stand outside.
(for_expression value: (_) @free)
(if_expression alternative: (_) @free)

; Items of a block are known in all of it.
(block (function_item name: (identifier) @local.outer))
(block (struct_item name: (type_identifier) @local.outer @local.type.outer))
(block (enum_item name: (type_identifier) @local.type.outer))
(block (trait_item name: (type_identifier) @local.type.outer))
(block (union_item name: (type_identifier) @local.type))
(block (type_item name: (type_identifier) @local.type.outer))
(block (const_item name: (identifier) @local))
(block (static_item name: (identifier) @local))

; What a block takes from elsewhere is known in all of it.
(use_declaration argument: (identifier) @local @local.type)
(use_declaration argument: (scoped_identifier name: (identifier) @local @local.type))
(use_list (identifier) @local @local.type)
(use_list (scoped_identifier name: (identifier) @local @local.type))
(use_as_clause alias: (identifier) @local @local.type)

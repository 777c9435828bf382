[
  (function_declaration)
  (method_declaration)
  (func_literal)
  (block)
  (for_statement)
  (if_statement)
  (expression_switch_statement)
  (type_switch_statement)
  (expression_case)
  (type_case)
  (default_case)
  (communication_case)
  (type_declaration)
  (function_type)
  (method_elem)
] @scope

; Known after the declaration that binds it.
(parameter_list (_) @late)
(short_var_declaration) @late
(range_clause) @late
(receive_statement) @late
(var_spec) @late
(const_spec) @late

(parameter_declaration name: (identifier) @local)
(variadic_parameter_declaration name: (identifier) @local)
(short_var_declaration left: (expression_list (identifier) @local))
(range_clause left: (expression_list (identifier) @local) ":=")
(receive_statement left: (expression_list (identifier) @local) ":=")
(type_switch_statement alias: (expression_list (identifier) @local))
(block (statement_list (var_declaration (var_spec name: (identifier) @local))))
(block (statement_list (var_declaration (var_spec_list (var_spec name: (identifier) @local)))))
(block (statement_list (const_declaration (const_spec name: (identifier) @local))))
(type_parameter_declaration name: (identifier) @local)
(block (statement_list (type_declaration (type_spec name: (type_identifier) @local.outer))))
(type_switch_statement value: (_) @free)

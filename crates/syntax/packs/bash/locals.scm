(function_definition) @scope
(subshell) @scope

(declaration_command ["local" "declare" "typeset"] (variable_assignment name: (variable_name) @local))
(declaration_command ["local" "declare" "typeset"] (variable_name) @local)
(subshell (variable_assignment name: (variable_name) @local))

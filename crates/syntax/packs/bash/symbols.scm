(function_definition name: (word) @name body: (_) @body) @definition.function

; Details: variables at the top of a script.
(program (variable_assignment name: (variable_name) @name) @definition.variable)
(program (variable_assignments (variable_assignment name: (variable_name) @name) @definition.variable))
(program (declaration_command . (variable_assignment name: (variable_name) @name) .) @definition.variable)
(program (declaration_command . (word)+ . (variable_assignment name: (variable_name) @name) .) @definition.variable)
(program (declaration_command (variable_assignment name: (variable_name) @name) @definition.variable))
(program (list (variable_assignment name: (variable_name) @name) @definition.variable))

(comment) @comment

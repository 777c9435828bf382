; Functions and methods. A method belongs to the type of its receiver.
(function_declaration
  name: (identifier) @name
  parameters: (parameter_list) @params
  body: (block)? @body) @definition.function

(method_declaration
  receiver: (parameter_list
    (parameter_declaration
      type: [
        (type_identifier) @scope
        (generic_type type: (type_identifier) @scope)
        (pointer_type (type_identifier) @scope)
        (pointer_type (generic_type type: (type_identifier) @scope))
        (parenthesized_type (pointer_type (type_identifier) @scope))
      ]))
  name: (field_identifier) @name
  parameters: (parameter_list) @params
  body: (block)? @body) @definition.method

; Types. One alone in its declaration has the keyword too.
(type_declaration . (type_spec name: (type_identifier) @name type: (struct_type (_) @body)) .) @definition.struct
(type_declaration
  . (type_spec name: (type_identifier) @name type: (interface_type "{" @body "}" @body)) .) @definition.interface
(type_declaration . (type_spec name: (type_identifier) @name) .) @definition.typedef
(type_declaration . (type_alias name: (type_identifier) @name) .) @definition.typedef
(type_spec name: (type_identifier) @name type: (struct_type (_) @body)) @definition.struct
(type_spec name: (type_identifier) @name type: (interface_type "{" @body "}" @body)) @definition.interface
(type_spec name: (type_identifier) @name) @definition.typedef
(type_alias name: (type_identifier) @name) @definition.typedef

; What is embedded is a base.
(type_spec
  name: (type_identifier) @name
  type: (struct_type (field_declaration_list (field_declaration !name type: (_) @base)))) @definition.struct
(type_spec
  name: (type_identifier) @name
  type: (interface_type
    (type_elem . [(type_identifier) (qualified_type) (generic_type)] @base .))) @definition.interface

(method_elem name: (field_identifier) @name parameters: (parameter_list) @params) @definition.method

; Details.
(source_file (const_declaration . (const_spec (identifier) @name) .) @definition.constant)
(source_file (const_declaration (const_spec (identifier) @name) @definition.constant))
(source_file (var_declaration . (var_spec name: (identifier) @name) .) @definition.variable)
(source_file (var_declaration (var_spec name: (identifier) @name) @definition.variable))
(source_file (var_declaration (var_spec_list (var_spec name: (identifier) @name) @definition.variable)))
(field_declaration name: (field_identifier) @name) @definition.field

(comment) @comment

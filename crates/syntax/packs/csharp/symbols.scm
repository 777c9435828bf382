; Namespaces. Of a name with dots the last part is its own.
(namespace_declaration name: (identifier) @name body: (_) @body) @definition.namespace
(namespace_declaration
  name: (qualified_name qualifier: (_) @scope name: (_) @name) body: (_) @body) @definition.namespace
; Without braces it holds the rest of the file.
(compilation_unit (file_scoped_namespace_declaration name: (identifier) @name) @definition.namespace) @until
(compilation_unit
  (file_scoped_namespace_declaration
    name: (qualified_name qualifier: (_) @scope name: (_) @name)) @definition.namespace) @until

; Types. Each base is a match of its own.
(class_declaration name: (_) @name (parameter_list)? @params body: (_)? @body) @definition.class
(class_declaration name: (_) @name (base_list [(_ !type) @base (primary_constructor_base_type type: (_) @base)])) @definition.class
(struct_declaration name: (_) @name (parameter_list)? @params body: (_)? @body) @definition.struct
(struct_declaration name: (_) @name (base_list [(_ !type) @base (primary_constructor_base_type type: (_) @base)])) @definition.struct
(record_declaration "struct" name: (_) @name (parameter_list)? @params body: (_)? @body) @definition.struct
(record_declaration name: (_) @name (parameter_list)? @params body: (_)? @body) @definition.class
(record_declaration name: (_) @name (base_list [(_ !type) @base (primary_constructor_base_type type: (_) @base)])) @definition.class
(interface_declaration name: (_) @name body: (_)? @body) @definition.interface
(interface_declaration name: (_) @name (base_list (_) @base)) @definition.interface
(enum_declaration name: (_) @name body: (_)? @body) @definition.enum
(delegate_declaration name: (_) @name parameters: (_) @params) @definition.typedef

; Methods, constructors, destructors, operators and local functions.
(method_declaration name: (_) @name parameters: (_) @params body: (_)? @body) @definition.method
(constructor_declaration name: (_) @name parameters: (_) @params body: (_)? @body) @definition.method
(destructor_declaration "~" @name name: (_) @name parameters: (_) @params body: (_)? @body) @definition.method
(operator_declaration "operator" @name operator: _ @name parameters: (_) @params body: (_)? @body) @definition.method
(conversion_operator_declaration "operator" @name type: (_) @name parameters: (_) @params body: (_)? @body) @definition.method
(local_function_statement name: (_) @name parameters: (_) @params body: (_)? @body) @definition.function

; Details. The only field of a statement has its type too.
(property_declaration name: (_) @name accessors: (_) @body) @definition.field
(property_declaration name: (_) @name value: (arrow_expression_clause) @body) @definition.field
(property_declaration name: (_) @name) @definition.field
(indexer_declaration "this" @name parameters: (_) @params accessors: (_)? @body value: (_)? @body) @definition.field
(event_declaration name: (_) @name accessors: (_)? @body) @definition.field
(event_field_declaration
  (variable_declaration type: (_) . (variable_declarator name: (_) @name) .)) @definition.field
(event_field_declaration (variable_declaration (variable_declarator name: (_) @name) @definition.field))
(field_declaration (variable_declaration type: (_) . (variable_declarator name: (_) @name) .)) @definition.field
(field_declaration (variable_declaration (variable_declarator name: (_) @name) @definition.field))
(enum_member_declaration name: (_) @name) @definition.constant

(attribute_list) @decorator
(comment) @comment

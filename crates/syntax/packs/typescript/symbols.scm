; Functions.
(function_declaration name: (identifier) @name parameters: (_) @params body: (_) @body) @definition.function
(generator_function_declaration name: (identifier) @name parameters: (_) @params body: (_) @body) @definition.function

; Overloads and ambient functions.
(function_signature name: (identifier) @name parameters: (_) @params) @definition.function

; Functions and classes bound to a name. The only one of a statement has all of it.
(variable_declarator
  name: (identifier) @name
  value: [
    (arrow_function "async"? @async [parameters: (_) @params parameter: (_) @params] body: (_) @body)
    (function_expression "async"? @async parameters: (_) @params body: (_) @body)
    (generator_function "async"? @async parameters: (_) @params body: (_) @body)
  ]) @definition.function
(variable_declarator
  name: (identifier) @name
  value: (class (class_heritage [(extends_clause value: (_) @base) (implements_clause (_) @base)])? body: (_) @body)) @definition.class
(lexical_declaration . (variable_declarator) @inner .) @outer
(variable_declaration . (variable_declarator) @inner .) @outer

; What is exported without a name is called `default`.
(export_statement
  "default" @name
  value: [
    (arrow_function "async"? @async [parameters: (_) @params parameter: (_) @params] body: (_) @body)
    (function_expression "async"? @async parameters: (_) @params body: (_) @body)
    (generator_function "async"? @async parameters: (_) @params body: (_) @body)
  ]) @definition.function
(export_statement
  "default" @name
  value: (class !name (class_heritage [(extends_clause value: (_) @base) (implements_clause (_) @base)])? body: (_) @body)) @definition.class
(export_statement "default" @name value: (object) @body) @definition.variable

; Functions given to members at the top of a file: of exports, of a prototype, of an object.
((expression_statement
  (assignment_expression
    left: (member_expression object: (_) @_of property: (property_identifier) @name)
    right: [
      (arrow_function "async"? @async [parameters: (_) @params parameter: (_) @params] body: (_) @body)
      (function_expression "async"? @async parameters: (_) @params body: (_) @body)
      (generator_function "async"? @async parameters: (_) @params body: (_) @body)
    ])) @definition.function @top
  (#match? @_of "^(module|exports|module\\.exports)$"))
((expression_statement
  (assignment_expression
    left: (member_expression
      object: (member_expression object: (identifier) @scope property: (property_identifier) @_of)
      property: (property_identifier) @name)
    right: [
      (arrow_function "async"? @async [parameters: (_) @params parameter: (_) @params] body: (_) @body)
      (function_expression "async"? @async parameters: (_) @params body: (_) @body)
      (generator_function "async"? @async parameters: (_) @params body: (_) @body)
    ])) @definition.method @top
  (#eq? @_of "prototype"))
(expression_statement
  (assignment_expression
    left: (member_expression object: (identifier) @scope property: (property_identifier) @name)
    right: [
      (arrow_function "async"? @async [parameters: (_) @params parameter: (_) @params] body: (_) @body)
      (function_expression "async"? @async parameters: (_) @params body: (_) @body)
      (generator_function "async"? @async parameters: (_) @params body: (_) @body)
    ])) @definition.method @top
((expression_statement
  (assignment_expression
    left: (member_expression object: (identifier) @_of property: (property_identifier) @name)
    right: (object) @body)) @definition.variable @top
  (#eq? @_of "module"))

; Functions in objects at the top of a file.
(object
  (method_definition name: (_) @name parameters: (_) @params body: (_) @body) @definition.method @top)
(pair
  key: (_) @name
  value: [
    (arrow_function "async"? @async [parameters: (_) @params parameter: (_) @params] body: (_) @body)
    (function_expression "async"? @async parameters: (_) @params body: (_) @body)
    (generator_function "async"? @async parameters: (_) @params body: (_) @body)
  ]) @definition.method @top

; Classes. Each base is a match of its own.
(class_declaration
  name: (_) @name
  (class_heritage [(extends_clause value: (_) @base) (implements_clause (_) @base)])?
  body: (_) @body) @definition.class
(abstract_class_declaration
  name: (_) @name
  (class_heritage [(extends_clause value: (_) @base) (implements_clause (_) @base)])?
  body: (_) @body) @definition.class
(class_body
  (method_definition name: (_) @name parameters: (_) @params body: (_) @body) @definition.method)
(public_field_definition
  name: (_) @name
  value: [
    (arrow_function "async"? @async [parameters: (_) @params parameter: (_) @params] body: (_) @body)
    (function_expression "async"? @async parameters: (_) @params body: (_) @body)
    (generator_function "async"? @async parameters: (_) @params body: (_) @body)
  ]) @definition.method
(class_body (method_signature name: (_) @name parameters: (_) @params) @definition.method)
(abstract_method_signature name: (_) @name parameters: (_) @params) @definition.method

; Types.
(interface_declaration
  name: (_) @name (extends_type_clause type: (_) @base)? body: (_) @body) @definition.interface
(interface_body (method_signature name: (_) @name parameters: (_) @params) @definition.method)
(type_alias_declaration name: (_) @name) @definition.typedef
(enum_declaration name: (_) @name body: (_) @body) @definition.enum

; Namespaces and modules.
(internal_module name: (identifier) @name body: (_)? @body @open) @definition.namespace
(internal_module
  name: (nested_identifier object: (_) @scope property: (_) @name) body: (_)? @body @open) @definition.namespace
(module name: (identifier) @name body: (_)? @body @open) @definition.namespace
(module name: (string (string_fragment) @name) body: (_)? @body @open) @definition.namespace
(ambient_declaration "global" @name (statement_block) @body @open) @definition.namespace

; Details: variables at the top, fields of classes.
[(statement_block) (for_statement) (switch_body)] @closed
(lexical_declaration
  kind: "const"
  (variable_declarator name: (identifier) @name value: [(object) (array)]? @body) @definition.constant @top)
(lexical_declaration
  kind: "let"
  (variable_declarator name: (identifier) @name value: [(object) (array)]? @body) @definition.variable @top)
(variable_declaration
  (variable_declarator name: (identifier) @name value: [(object) (array)]? @body) @definition.variable @top)
(variable_declarator
  name: [
    (object_pattern (shorthand_property_identifier_pattern) @name)
    (object_pattern (pair_pattern value: (identifier) @name))
    (array_pattern (identifier) @name)
  ]) @definition.variable @top
(public_field_definition name: (_) @name) @definition.field
(interface_body (property_signature name: (_) @name) @definition.field)
(enum_body name: (_) @name @definition.constant)
(enum_assignment name: (_) @name) @definition.constant

; `export` belongs to what it exports as a decorator does.
(decorator) @decorator
(export_statement "export" @decorator "default"? @decorator declaration: (_))
(ambient_declaration "declare" @decorator)

; Members end with a sign that stands beside them.
(class_body ";" @tail)
(interface_body [";" ","] @tail)

(comment) @comment

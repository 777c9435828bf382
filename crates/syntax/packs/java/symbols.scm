; Types. Each base is a match of its own.
(class_declaration name: (_) @name superclass: (superclass (_) @base) body: (_) @body) @definition.class
(class_declaration
  name: (_) @name interfaces: (super_interfaces (type_list (_) @base)) body: (_) @body) @definition.class
(class_declaration name: (_) @name body: (_) @body) @definition.class
(record_declaration
  name: (_) @name
  parameters: (_) @params
  interfaces: (super_interfaces (type_list (_) @base))
  body: (_) @body) @definition.class
(record_declaration name: (_) @name parameters: (_) @params body: (_) @body) @definition.class
(interface_declaration name: (_) @name (extends_interfaces (type_list (_) @base)) body: (_) @body) @definition.interface
(interface_declaration name: (_) @name body: (_) @body) @definition.interface
(annotation_type_declaration name: (_) @name body: (_) @body) @definition.interface
(enum_declaration
  name: (_) @name interfaces: (super_interfaces (type_list (_) @base)) body: (_) @body) @definition.enum
(enum_declaration name: (_) @name body: (_) @body) @definition.enum

; Methods and constructors.
(method_declaration name: (_) @name parameters: (_) @params body: (_)? @body) @definition.method
(constructor_declaration name: (_) @name parameters: (_) @params body: (_) @body) @definition.method
(compact_constructor_declaration name: (_) @name body: (_) @body) @definition.method
(annotation_type_element_declaration name: (_) @name) @definition.method

; Details. The only field of a statement has its type too.
(field_declaration . (modifiers)? . type: (_) . declarator: (variable_declarator name: (_) @name) .) @definition.field
(field_declaration declarator: (variable_declarator name: (_) @name) @definition.field)
(constant_declaration
  . (modifiers)? . type: (_) . declarator: (variable_declarator name: (_) @name) .) @definition.constant
(constant_declaration declarator: (variable_declarator name: (_) @name) @definition.constant)
(enum_constant name: (_) @name body: (_)? @body) @definition.constant

[(annotation) (marker_annotation)] @decorator
[(line_comment) (block_comment)] @comment

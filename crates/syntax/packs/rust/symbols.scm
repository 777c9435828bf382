; Functions, and methods of impl and trait blocks.
(function_item
  name: (_) @name
  parameters: (parameters) @params
  body: (block) @body) @definition.function

(function_signature_item
  name: (_) @name
  parameters: (parameters) @params) @definition.function

; Types.
(struct_item name: (type_identifier) @name body: (field_declaration_list) @body) @definition.struct
(struct_item name: (type_identifier) @name) @definition.struct
(union_item name: (type_identifier) @name body: (_) @body) @definition.union
(enum_item name: (type_identifier) @name body: (_) @body) @definition.enum
(trait_item name: (type_identifier) @name bounds: (trait_bounds (_) @base) body: (_) @body) @definition.trait
(trait_item name: (type_identifier) @name body: (_) @body) @definition.trait
(type_item name: (type_identifier) @name) @definition.typedef
(associated_type name: (type_identifier) @name) @definition.typedef

; An impl block has the name of its type, without arguments and path.
(impl_item
  trait: (_)? @base
  type: [
    (type_identifier) @name
    (scoped_type_identifier name: (type_identifier) @name)
    (generic_type type: (type_identifier) @name)
    (generic_type type: (scoped_type_identifier name: (type_identifier) @name))
    (reference_type type: (type_identifier) @name)
    (reference_type type: (generic_type type: (type_identifier) @name))
    (dynamic_type trait: (type_identifier) @name)
    (primitive_type) @name
    (array_type) @name
    (tuple_type) @name
    (unit_type) @name
    (pointer_type) @name
    (function_type) @name
    (reference_type type: (primitive_type) @name)
    (reference_type type: (array_type) @name)
    (reference_type type: (dynamic_type) @name)
    (macro_invocation) @name
    (metavariable) @name
  ]
  body: (declaration_list)? @body) @definition.impl

(mod_item name: (identifier) @name body: (declaration_list) @body) @definition.namespace

(macro_definition name: (identifier) @name ["(" "{" "["] @body [")" "}" "]"] @body) @definition.macro

; Details. Constants in functions are none.
(source_file [(const_item name: (identifier) @name) (static_item name: (identifier) @name)] @definition.constant)
(declaration_list [(const_item name: (identifier) @name) (static_item name: (identifier) @name)] @definition.constant)
(enum_variant name: (identifier) @name) @definition.constant
(field_declaration name: (field_identifier) @name) @definition.field

(attribute_item) @decorator

; Comments that speak of the module around them document nothing after them.
(line_comment !inner) @comment
(block_comment !inner) @comment

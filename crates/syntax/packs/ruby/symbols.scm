; The head ends where the name, the parameters or the superclass do: an `end` may follow at once.
; Modules and classes. `A::B` is B in A; `class << self` adds to the class around it.
(module name: (constant) @name @head body: (_)? @body) @definition.namespace
(module name: (scope_resolution scope: (_)? @scope name: (_) @name) @head body: (_)? @body) @definition.namespace
(class name: (constant) @name @head superclass: (superclass (_) @base)? @head body: (_)? @body) @definition.class
(class
  name: (scope_resolution scope: (_)? @scope name: (_) @name) @head
  superclass: (superclass (_) @base)? @head
  body: (_)? @body) @definition.class

; Methods. One without a body is defined all the same.
(module
  body: (body_statement
    (method "def" @defined name: (_) @name @head parameters: (_)? @params @head body: (_)? @body) @definition.method))
(singleton_class
  body: (body_statement
    (method
      "def" @defined
      name: (_) @name @head
      parameters: (_)? @params @head
      body: (_)? @body) @definition.method))
(method "def" @defined name: (_) @name @head parameters: (_)? @params @head body: (_)? @body) @definition.function
(singleton_method "def" @defined name: (_) @name @head parameters: (_)? @params @head body: (_)? @body) @definition.method

; Details.
(program (assignment left: (constant) @name) @definition.constant)
(body_statement (assignment left: (constant) @name) @definition.constant)

(comment) @comment

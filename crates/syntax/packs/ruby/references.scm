(call !receiver method: [(identifier) (constant)] @reference.call)
(call receiver: (_) @receiver method: [(identifier) (constant)] @reference.call @reference.member)
(super) @reference.call

; `Foo.new` makes a Foo.
((call receiver: (constant) @reference.call method: (identifier) @_new) (#eq? @_new "new"))
((call
  receiver: (scope_resolution scope: (_) @receiver name: (constant) @reference.call @reference.member)
  method: (identifier) @_new)
  (#eq? @_new "new"))

(scope_resolution scope: (_) name: (constant) @reference.member)

[
  (string)
  (string_array)
  (heredoc_body)
  (subshell)
  (regex)
] @string
(interpolation) @code
(comment) @comment

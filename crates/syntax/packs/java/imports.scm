; `import static` takes a member, not a type.
((import_declaration . (_) @module @bare .) @import (#not-match? @import "^import\\s+static"))
(import_declaration . (_) @module . (asterisk) @all) @import
(import_declaration "static" . (scoped_identifier scope: (_) @module name: (_) @name) .) @import

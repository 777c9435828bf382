//! A language that no pack knows, added from outside: a grammar, four queries and nothing else.

use std::sync::Arc;

use tectum_syntax::{
    Bodies, CallSite, Detail, Docs, Front, Kind, Language, Outline, Pack, Packs, Queries, Reach, Role,
    Shadow, Source, Span, Style,
    names::{self, Asked, Meaning},
};

static LUA: Pack = Pack {
    id: "lua",
    title: "Lua",
    family: "lua",
    extensions: &["lua"],
    filenames: &[".luacheckrc"],
    interpreters: &["lua"],
    style: Style {
        separator: ".",
        bodies: Bodies::Worded,
        placeholder: "...",
        comment: "--",
        docs: Docs::CommentBefore,
        receivers: &["self"],
        overloads: false,
        reach: Reach::Imported,
        pragmas: &[],
        implicit_receiver: false,
        calls_apart: false,
        arrow: false,
        fixed: |_| false,
        members: "",
        valued_assignments: true,
        package: "",
        defining: &[],
        module: "",
        exports: "",
        public_named: false,
    },
    grammar: Some(|| tree_sitter_lua::LANGUAGE.into()),
    queries: Queries {
        symbols: r#"
            (function_declaration
              name: [
                (identifier) @name
                (dot_index_expression table: (_) @scope field: (identifier) @name)
                (method_index_expression table: (_) @scope method: (identifier) @name)
              ]
              parameters: (_) @params @head
              body: (_)? @body
              "end" @defined) @definition.function
            (chunk
              (variable_declaration
                (assignment_statement (variable_list name: (identifier) @name))) @definition.variable)
            (comment) @comment
        "#,
        references: r#"
            (function_call name: (identifier) @reference.call)
            (function_call
              name: (dot_index_expression table: (_) @receiver field: (_) @reference.call @reference.member))
            (function_call
              name: (method_index_expression table: (_) @receiver method: (_) @reference.call @reference.member))
            (dot_index_expression field: (_) @reference.member)
            (string) @string
            (comment) @comment
        "#,
        imports: r#"
            ((variable_declaration
              (assignment_statement
                (variable_list name: (identifier) @alias)
                (expression_list
                  value: (function_call
                    name: (identifier) @_require
                    arguments: (arguments (string content: (_) @module)))))) @import
              (#eq? @_require "require"))
        "#,
        locals: r#"
            [(function_declaration) (function_definition) (for_statement) (do_statement)] @scope
            (parameters name: (identifier) @local)
            (variable_list name: (identifier) @local)
        "#,
    },
    front: Front::NONE,
};

const TEXT: &str = r#"-- Tills.
local money = require("shop.money")

-- Counts what is in it.
-- Slowly.
local function count(till)
  return #till.coins
end

function Till.open(name)
  local count = 3
  print("count", name)
end

function Till:close(name, ...)
  self.total = money.sum(count(self))
  Till.open(name)
end
"#;

fn lua() -> Arc<Language> {
    Packs::new([&LUA]).named("lua").unwrap().clone()
}

fn outline(text: &str) -> Outline {
    lua().outline(text, Detail::Full, &|| false).unwrap()
}

fn at(line: &str) -> usize {
    TEXT.find(line).unwrap()
}

#[test]
fn it_is_known_by_its_files() {
    let packs = Packs::new([&LUA]);
    packs.named("lua").unwrap().compile().unwrap();
    for (file, text, expect) in [
        ("a/b.lua", "", true),
        (".luacheckrc", "", true),
        ("run", "#!/usr/bin/lua5.4\n", true),
        ("a.rs", "", false),
    ] {
        assert_eq!(packs.of_file(file, text).is_some(), expect, "{file}");
    }
}

#[test]
fn it_has_an_outline() {
    let outline = outline(TEXT);
    let all: Vec<(Kind, String, &str, &str, bool)> = (0u32..)
        .zip(&outline.symbols)
        .map(|(index, symbol)| {
            let name = names::full_name(&LUA, TEXT, &outline, index);
            (symbol.kind, name, symbol.head.slice(TEXT), symbol.doc.slice(TEXT), symbol.declaration)
        })
        .collect();
    let (function, method) = ("-- Counts what is in it.\n-- Slowly.", Kind::Method);
    assert_eq!(
        all,
        [
            (Kind::Variable, "money".into(), "local money = require(\"shop.money\")", "-- Tills.", false),
            (Kind::Function, "count".into(), "local function count(till)", function, false),
            (method, "Till.open".into(), "function Till.open(name)", "", false),
            (method, "Till.close".into(), "function Till:close(name, ...)", "", false),
        ]
    );
    assert_eq!(outline.symbols[3].params.slice(TEXT), "name, ...");
}

#[test]
fn its_definitions_are_found_by_name() {
    let outline = outline(TEXT);
    for (name, expect) in
        [("Till.close", Some(3)), ("close", Some(3)), ("Till::open(name)", Some(2)), ("clos", None)]
    {
        let expect = match expect {
            Some(index) => Meaning::Some(vec![index]),
            None => Meaning::Nothing(vec!["Till.close".to_owned()]),
        };
        assert_eq!(names::find(&LUA, TEXT, &outline, &Asked::parse(name), |_| true), expect, "{name}");
    }
}

#[test]
fn its_words_have_roles() {
    let mentions = lua().mentions(TEXT, "count", &|| false).unwrap();
    let roles: Vec<Role> = mentions.iter().map(|mention| mention.role).collect();
    assert_eq!(roles, [Role::Definition, Role::Reference, Role::String, Role::Call]);
    let shadows = lua().shadows(TEXT, "count", &|| false).unwrap();
    let open = outline(TEXT).symbols[2].whole;
    assert_eq!(shadows, [Shadow { span: open, scope: open, sure: true }]);
}

#[test]
fn its_imports_and_calls_are_told() {
    let imports = lua().imports(TEXT, &|| false).unwrap();
    let [import] = imports.as_slice() else { panic!("{imports:?}") };
    assert_eq!((import.module.as_str(), import.local.as_deref()), ("shop.money", Some("money")));
    let outline = outline(TEXT);
    let calls = lua().calls(TEXT, outline.symbols[3].whole, &outline, &|| false).unwrap();
    let calls: Vec<(&str, &str)> =
        calls.iter().map(|CallSite { name, receiver }| (receiver.slice(TEXT), name.slice(TEXT))).collect();
    assert_eq!(calls, [("money", "sum"), ("", "count"), ("Till", "open")]);
}

#[test]
fn its_faults_are_told_and_the_rest_survives() {
    assert_eq!(lua().check(TEXT, &|| false).unwrap(), []);
    let broken = TEXT.replace("local count = 3", "local count = = 3");
    let problems = lua().check(&broken, &|| false).unwrap();
    let line = at("  local count = 3");
    let line = Span::new(line, line + "  local count = = 3".len());
    assert!(problems.iter().all(|problem| line.holds(problem.span)) && !problems.is_empty(), "{problems:?}");
    let names: Vec<&str> = outline(&broken).symbols.iter().map(|symbol| symbol.name.slice(&broken)).collect();
    assert_eq!(names, ["money", "count", "open", "close"]);
}

#[test]
fn an_edit_is_followed() {
    let source = Source::new(lua(), TEXT.into());
    source.outline(Detail::Outline, &|| false).unwrap();
    let range = at("Till.open(name)\n  local")..at("(name)\n  local");
    let after = TEXT.replacen("Till.open(name)", "Till.unlock(name)", 1);
    let next = source.edited(&range, "Till.unlock", after.as_str().into(), &|| false);
    let fresh = lua().outline(&after, Detail::Outline, &|| false).unwrap();
    assert_eq!(*next.outline(Detail::Outline, &|| false).unwrap(), fresh);
}

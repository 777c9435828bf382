//! Every code tool, once. A row is a name, what the model reads, and the one implementation it
//! shares with its siblings; `py_*`, `ts_c_*` and `ts_cpp_*` are rows bound to a language.

use std::{sync::Arc, time::Duration};

use tectum_core::{
    Card, Ctx, Effect, Fault, Reply, Subject, ToolRole, Wants,
    security::{Access, RawPath},
};
use tectum_native::NativeTool;
use tectum_syntax::Detail;

use super::{
    Code, Only,
    args::{
        Addition, Move, NewContent, NewDeclaration, NewSignature, OfFile, OfFileFrom, OfFileFully, OfSymbol,
        Region, Removal,
    },
    check, class_summary,
    definition::{self, Part},
    derive_code_path::{CodePathArgs, derive_code_path},
    docs,
    hierarchy::{HierarchyArgs, hierarchy},
    imports, move_def, outline, region, remove, rename,
    repo_map::{RepoMapArgs, repo_map},
    skeleton, summary, update,
    usages::{UsagesArgs, usages},
};
use crate::cards::READS;

/// Python's rows.
const PY: Only = Only::One("python");

/// What every language of its own has, in this order: skeleton, outline, definition, update and
/// signature, each with its name, its title and its description.
type LanguageRows = [(&'static str, &'static str, &'static str); 5];

const PY_ROWS: LanguageRows = [
    ("py_get_skeleton", "Python skeleton", "A Python file with function bodies as `...`; docstrings stay."),
    (
        "py_get_code_outline",
        "Python outline",
        "Classes, functions and methods of a Python file with line ranges.",
    ),
    ("py_get_definition", "Python definition", "Source of a Python class, function or method."),
    (
        "py_update_definition",
        "Update Python definition",
        "Replace a Python definition. Decorators stay unless new_content begins with one.",
    ),
    ("py_get_signature", "Python signature", "A Python definition from `def` or `class` to its colon."),
];
/// `ts` is tree-sitter in these names, not TypeScript.
const C_ROWS: LanguageRows = [
    ("ts_c_get_skeleton", "C skeleton", "A C file with function bodies as `{ ... }`."),
    ("ts_c_get_code_outline", "C outline", "What a C file defines, nested, with line ranges."),
    ("ts_c_get_definition", "C definition", "Source of a C symbol; qualified names work."),
    ("ts_c_update_definition", "Update C definition", "Replace a C definition."),
    ("ts_c_get_signature", "C signature", "A C symbol up to its body."),
];
const CPP_ROWS: LanguageRows = [
    ("ts_cpp_get_skeleton", "C++ skeleton", "A C++ file with function bodies as `{ ... }`."),
    ("ts_cpp_get_code_outline", "C++ outline", "What a C++ file defines, nested, with line ranges."),
    ("ts_cpp_get_definition", "C++ definition", "Source of a C++ symbol; qualified names work."),
    ("ts_cpp_update_definition", "Update C++ definition", "Replace a C++ definition."),
    ("ts_cpp_get_signature", "C++ signature", "A C++ symbol up to its body."),
];

/// The rows, in the order clients see them.
pub fn rows(code: &Arc<Code>) -> Vec<NativeTool> {
    let aliases = Table { code, role: ToolRole::Alias };
    let mut rows = Table { code, role: ToolRole::Usual }.neutral();
    rows.extend(aliases.language(PY_ROWS, PY));
    rows.extend(aliases.python());
    rows.extend(aliases.language(C_ROWS, Only::One("c")));
    rows.extend(aliases.language(CPP_ROWS, Only::One("cpp")));
    rows
}

struct Table<'t> {
    code: &'t Arc<Code>,
    /// The rows bound to a language are other names for those that are not.
    role: ToolRole,
}

/// What rows of the two kinds have in common.
const fn card(
    (name, title): (&'static str, &'static str),
    role: ToolRole,
    effect: Effect,
    primary: &'static str,
) -> Card {
    let idempotent = matches!(effect, Effect::Read);
    Card { name, title, effect, idempotent, primary, deadline: Duration::from_secs(60), role, ..READS }
}

impl Table<'_> {
    /// A row that reads one file.
    fn reader<A, O>(
        &self,
        names: (&'static str, &'static str),
        description: &str,
        path: fn(&A) -> &RawPath,
        run: impl Fn(&Code, &Ctx, A) -> Result<Reply<O>, Fault> + Send + Sync + 'static,
    ) -> NativeTool
    where
        A: serde::de::DeserializeOwned + schemars::JsonSchema + Send + 'static,
        O: serde::Serialize + schemars::JsonSchema + Send + 'static,
    {
        let code = self.code.clone();
        let wants = move |args: &A| Wants::path(path(args), Access::Read);
        let card = card(names, self.role, Effect::Read, "path");
        NativeTool::row(card, description, wants, move |ctx, args| run(&code, ctx, args))
    }

    /// A row that changes one file.
    fn writer<A>(
        &self,
        names: (&'static str, &'static str),
        description: &str,
        path: fn(&A) -> &RawPath,
        run: impl Fn(&Code, &Ctx, &A) -> Result<Reply<super::change::Output>, Fault> + Send + Sync + 'static,
    ) -> NativeTool
    where
        A: serde::de::DeserializeOwned + schemars::JsonSchema + Send + 'static,
    {
        let code = self.code.clone();
        let wants = move |args: &A| Wants::path(path(args), Access::Write);
        let card = card(names, self.role, Effect::Change, "path");
        NativeTool::row(card, description, wants, move |ctx, args| run(&code, ctx, &args))
    }

    fn neutral(&self) -> Vec<NativeTool> {
        vec![
            self.reader(
                ("get_file_summary", "File summary"),
                "What a file holds in a few lines: code, TOML, JSON, YAML, Markdown.",
                |args: &OfFile| &args.path,
                |code, ctx, _| summary::run(code, ctx),
            ),
            self.reader(
                ("code_outline", "Code outline"),
                "Outline of a file: its symbols (classes, functions) with line ranges.",
                |args: &OfFileFully| &args.path,
                |code, ctx, args| {
                    let detail = if args.full { Detail::Full } else { Detail::Outline };
                    outline::run(code, ctx, Only::Outlined, detail, args.from_line.unwrap_or(0))
                },
            ),
            self.reader(
                ("code_skeleton", "Code skeleton"),
                "A file without function bodies: signatures, types, docs.",
                |args: &OfFileFrom| &args.path,
                |code, ctx, args| skeleton::run(code, ctx, Only::Any, args.from_line.unwrap_or(0)),
            ),
            self.reader(
                ("code_definition", "Code definition"),
                "Go to definition: the source of a symbol and its lines.",
                |args: &OfSymbol| &args.path,
                |code, ctx, args| definition::run(code, ctx, &args, Only::Any, Part::Whole, |_| true),
            ),
            self.reader(
                ("code_signature", "Code signature"),
                "Signature of a symbol: all before its body.",
                |args: &OfSymbol| &args.path,
                |code, ctx, args| definition::run(code, ctx, &args, Only::Any, Part::Head, |_| true),
            ),
            self.writer(
                ("code_update_definition", "Update definition"),
                "Replace the source of a function, class or other symbol.",
                |args: &NewContent| &args.path,
                |code, ctx, args| update::definition(code, ctx, args, Only::Any),
            ),
            self.reader(
                ("code_usages", "Code usages"),
                "Find references: where a symbol is used, each place with its role.",
                |args: &UsagesArgs| &args.path,
                |code, ctx, args| usages(code, ctx, args, Only::Any),
            ),
            self.reader(
                ("code_hierarchy", "Class hierarchy"),
                "Subclasses and implementations of a class or interface.",
                |args: &HierarchyArgs| &args.path,
                |code, ctx, args| hierarchy(code, ctx, args, Only::Any),
            ),
            self.reader(
                ("derive_code_path", "Code path"),
                "Call tree of a function: what it calls, across files.",
                |args: &CodePathArgs| &args.path,
                derive_code_path,
            ),
            self.reader(
                ("get_repo_map", "Repository map"),
                "Overview of a project: its most used symbols, file by file.",
                |args: &RepoMapArgs| &args.path,
                repo_map,
            ),
            self.reader(
                ("code_imports", "Code imports"),
                "What a source file imports or includes.",
                |args: &OfFile| &args.path,
                |code, ctx, _| imports::run(code, ctx, Only::Any),
            ),
            self.reader(
                ("code_check", "Check syntax"),
                "Check a source file for syntax errors.",
                |args: &OfFile| &args.path,
                |code, ctx, _| check::run(code, ctx, Only::Any),
            ),
            self.writer(
                ("code_remove", "Remove definition"),
                "Delete a symbol with decorators and docs.",
                |args: &Removal| &args.path,
                |code, ctx, args| remove::run(code, ctx, args, Only::Any),
            ),
            self.writer(
                ("code_add", "Add definition"),
                "Insert a function, class or method.",
                |args: &Addition| &args.path,
                |code, ctx, args| super::add::run(code, ctx, args, Only::Any),
            ),
            self.mover(
                ("code_move", "Move definition"),
                "Move a symbol to another file with its imports; lists uses to fix.",
                Only::Any,
            ),
            self.renamer(),
        ]
    }

    fn renamer(&self) -> NativeTool {
        let (code, judged) = (self.code.clone(), self.code.clone());
        let card = card(("code_rename", "Rename symbol"), self.role, Effect::Change, "path");
        let description = "Rename a symbol and all references. Shows a plan; repeat with its id.";
        let wants = move |args: &rename::Args| rename::wants(&judged, args);
        NativeTool::row(card, description, wants, move |ctx, args: rename::Args| {
            rename::run(&code, ctx, &args)
        })
    }

    fn mover(&self, names: (&'static str, &'static str), description: &str, only: Only) -> NativeTool {
        let code = self.code.clone();
        let wants = |args: &Move| Wants {
            subject: Subject::Path(args.src_path.clone()),
            paths: vec![
                (args.src_path.clone(), Access::Write),
                (args.dest_path.clone(), Access::Write),
                (args.within.clone(), Access::Read),
            ],
        };
        let card = card(names, self.role, Effect::Change, "src_path");
        NativeTool::row(card, description, wants, move |ctx, args: Move| {
            move_def::run(&code, ctx, &args, only)
        })
    }

    fn python(&self) -> Vec<NativeTool> {
        vec![
            self.writer(
                ("py_set_signature", "Set Python signature"),
                "Replace a Python signature; the body stays.",
                |args: &NewSignature| &args.path,
                |code, ctx, args| update::signature(code, ctx, args, PY),
            ),
            self.reader(
                ("py_get_class_summary", "Python class summary"),
                "A Python class in short: header, docstring, method signatures with lines.",
                |args: &OfSymbol| &args.path,
                |code, ctx, args| class_summary::run(code, ctx, &args, PY),
            ),
            self.reader(
                ("py_get_var_declaration", "Python variable"),
                "The statement that assigns a module or class variable.",
                |args: &OfSymbol| &args.path,
                |code, ctx, args| definition::run(code, ctx, &args, PY, Part::Whole, update::is_variable),
            ),
            self.writer(
                ("py_set_var_declaration", "Set Python variable"),
                "Replace the statement that assigns a module or class variable.",
                |args: &NewDeclaration| &args.path,
                |code, ctx, args| update::declaration(code, ctx, args, PY),
            ),
            self.reader(
                ("py_get_docstring", "Python docstring"),
                "The docstring of a class or function; of the module for name `module` or an empty one.",
                |args: &OfSymbol| &args.path,
                |code, ctx, args| docs::run(code, ctx, args, PY),
            ),
            self.reader(
                ("py_find_usages", "Python usages"),
                "Where a name is used in Python files, as `path:line: [role] text`; strings and comments told apart.",
                |args: &OfSymbol| &args.path,
                |code, ctx, args| usages(code, ctx, UsagesArgs::new(args.path, args.name), PY),
            ),
            self.reader(
                ("py_get_hierarchy", "Python hierarchy"),
                "Subclasses of a Python class below a directory, direct ones first.",
                |args: &HierarchyArgs| &args.path,
                |code, ctx, args| hierarchy(code, ctx, args, PY),
            ),
            self.reader(
                ("py_get_imports", "Python imports"),
                "Modules and names a Python file imports, dotted, sorted.",
                |args: &OfFile| &args.path,
                |code, ctx, _| imports::run(code, ctx, PY),
            ),
            self.reader(
                ("py_check_syntax", "Check Python syntax"),
                "What CPython would refuse: line, column, message.",
                |args: &OfFile| &args.path,
                |code, ctx, _| check::run(code, ctx, PY),
            ),
            self.writer(
                ("py_remove_def", "Remove Python definition"),
                "Remove a Python definition with its decorators.",
                |args: &Removal| &args.path,
                |code, ctx, args| remove::run(code, ctx, args, PY),
            ),
            self.writer(
                ("py_add_def", "Add Python definition"),
                "Insert a Python definition at an anchor, indented as the file is.",
                |args: &Addition| &args.path,
                |code, ctx, args| super::add::run(code, ctx, args, PY),
            ),
            self.mover(
                ("py_move_def", "Move Python definition"),
                "Move a Python definition within a file or to another, with the imports it needs.",
                PY,
            ),
            self.writer(
                ("py_region_wrap", "Wrap in region"),
                "Put lines between `#region: Name` and `#endregion: Name`.",
                |args: &Region| &args.path,
                |code, ctx, args| region::run(code, ctx, args, PY),
            ),
        ]
    }

    fn language(&self, rows: LanguageRows, only: Only) -> Vec<NativeTool> {
        let [skeleton, outline, definition, update, signature] =
            rows.map(|(name, title, description)| ((name, title), description));
        vec![
            self.reader(
                skeleton.0,
                skeleton.1,
                |args: &OfFile| &args.path,
                move |code, ctx, _| skeleton::run(code, ctx, only, 0),
            ),
            self.reader(
                outline.0,
                outline.1,
                |args: &OfFile| &args.path,
                move |code, ctx, _| outline::run(code, ctx, only, Detail::Outline, 0),
            ),
            self.reader(
                definition.0,
                definition.1,
                |args: &OfSymbol| &args.path,
                move |code, ctx, args| definition::run(code, ctx, &args, only, Part::Whole, |_| true),
            ),
            self.writer(
                update.0,
                update.1,
                |args: &NewContent| &args.path,
                move |code, ctx, args| update::definition(code, ctx, args, only),
            ),
            self.reader(
                signature.0,
                signature.1,
                |args: &OfSymbol| &args.path,
                move |code, ctx, args| definition::run(code, ctx, &args, only, Part::Head, |_| true),
            ),
        ]
    }
}

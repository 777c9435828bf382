//! Every code tool, once. A row is a name, what the model reads, and the one implementation it
//! shares with its siblings; `py_*`, `ts_c_*` and `ts_cpp_*` are rows bound to a language.

use std::{sync::Arc, time::Duration};

use schemars::JsonSchema;
use serde::{Serialize, de::DeserializeOwned};
use tectum_core::{
    Card, Ctx, Effect, Fault, Reply, Subject, ToolRole, Wants,
    security::{Access, RawPath},
};
use tectum_native::NativeTool;
use tectum_syntax::Detail;

use super::{
    Code, Only, add,
    args::{
        Addition, Move, NewContent, NewDeclaration, NewSignature, OfFile, OfFileFrom, OfFileFully, OfSymbol,
        Region, Removal,
    },
    change::Output as Changed,
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

/// The name of a row, and its title.
type Names = (&'static str, &'static str);

/// The rows that every language of its own has, in this order: skeleton, outline, definition, update
/// and signature, each with its names and its description.
type LanguageRows = [(Names, &'static str); 5];

const PY_ROWS: LanguageRows = [
    (("py_get_skeleton", "Python skeleton"), "A Python file with function bodies as `...`; docstrings stay."),
    (
        ("py_get_code_outline", "Python outline"),
        "Classes, functions and methods of a Python file with line ranges.",
    ),
    (("py_get_definition", "Python definition"), "Source of a Python class, function or method."),
    (
        ("py_update_definition", "Update Python definition"),
        "Replace a Python definition. Decorators stay unless new_content begins with one.",
    ),
    (("py_get_signature", "Python signature"), "A Python definition from `def` or `class` to its colon."),
];
/// `ts` is tree-sitter in these names, not TypeScript.
const C_ROWS: LanguageRows = [
    (("ts_c_get_skeleton", "C skeleton"), "A C file with function bodies as `{ ... }`."),
    (("ts_c_get_code_outline", "C outline"), "What a C file defines, nested, with line ranges."),
    (("ts_c_get_definition", "C definition"), "Source of a C symbol; qualified names work."),
    (("ts_c_update_definition", "Update C definition"), "Replace a C definition."),
    (("ts_c_get_signature", "C signature"), "A C symbol up to its body."),
];
const CPP_ROWS: LanguageRows = [
    (("ts_cpp_get_skeleton", "C++ skeleton"), "A C++ file with function bodies as `{ ... }`."),
    (("ts_cpp_get_code_outline", "C++ outline"), "What a C++ file defines, nested, with line ranges."),
    (("ts_cpp_get_definition", "C++ definition"), "Source of a C++ symbol; qualified names work."),
    (("ts_cpp_update_definition", "Update C++ definition"), "Replace a C++ definition."),
    (("ts_cpp_get_signature", "C++ signature"), "A C++ symbol up to its body."),
];

/// The rows, in the order clients see them.
pub fn rows(code: &Arc<Code>) -> Vec<NativeTool> {
    // The rows bound to a language are other names for those that are not.
    let bound = |language| Table { code, role: ToolRole::Alias, only: Only::One(language) };
    let mut rows = Table { code, role: ToolRole::Usual, only: Only::Any }.neutral();
    rows.extend(bound("python").language(PY_ROWS));
    rows.extend(bound("python").python());
    rows.extend(bound("c").language(C_ROWS));
    rows.extend(bound("cpp").language(CPP_ROWS));
    rows
}

/// Arguments about one path, which is the subject of the call.
trait OnePath: DeserializeOwned + JsonSchema + Send + 'static {
    fn path(&self) -> &RawPath;
}

macro_rules! one_path {
    ($($args:ty),*) => {
        $(impl OnePath for $args {
            fn path(&self) -> &RawPath {
                &self.path
            }
        })*
    };
}
one_path!(OfFile, OfFileFrom, OfFileFully, OfSymbol, NewContent, NewSignature, NewDeclaration, Removal);
one_path!(Addition, Region, UsagesArgs, HierarchyArgs, CodePathArgs, RepoMapArgs);

struct Table<'t> {
    code: &'t Arc<Code>,
    role: ToolRole,
    only: Only,
}

impl Table<'_> {
    fn card(&self, (name, title): Names, effect: Effect, primary: &'static str) -> Card {
        let (idempotent, role) = (effect == Effect::Read, self.role);
        Card { name, title, effect, idempotent, primary, deadline: Duration::from_secs(60), role, ..READS }
    }

    /// A row about one file.
    fn row<A: OnePath, O: Serialize + JsonSchema + Send + 'static>(
        &self,
        (effect, access): (Effect, Access),
        names: Names,
        description: &str,
        run: impl Fn(&Code, &Ctx, A, Only) -> Result<Reply<O>, Fault> + Send + Sync + 'static,
    ) -> NativeTool {
        let (code, only) = (self.code.clone(), self.only);
        let wants = move |args: &A| Wants::path(args.path(), access);
        let card = self.card(names, effect, "path");
        NativeTool::row(card, description, wants, move |ctx, args| run(&code, ctx, args, only))
    }

    fn reads<A: OnePath, O: Serialize + JsonSchema + Send + 'static>(
        &self,
        names: Names,
        description: &str,
        run: impl Fn(&Code, &Ctx, A, Only) -> Result<Reply<O>, Fault> + Send + Sync + 'static,
    ) -> NativeTool {
        self.row((Effect::Read, Access::Read), names, description, run)
    }

    fn writes<A: OnePath>(
        &self,
        names: Names,
        description: &str,
        run: impl Fn(&Code, &Ctx, A, Only) -> Result<Reply<Changed>, Fault> + Send + Sync + 'static,
    ) -> NativeTool {
        self.row((Effect::Change, Access::Write), names, description, run)
    }

    fn neutral(&self) -> Vec<NativeTool> {
        vec![
            self.reads(
                ("get_file_summary", "File summary"),
                "What a file holds in a few lines: code, TOML, JSON, YAML, Markdown.",
                |code, ctx, _: OfFile, _| summary::run(code, ctx),
            ),
            self.reads(
                ("code_outline", "Code outline"),
                "Outline of a file: its symbols (classes, functions) with line ranges.",
                |code, ctx, args: OfFileFully, _| {
                    let detail = if args.full { Detail::Full } else { Detail::Outline };
                    outline::run(code, ctx, Only::Outlined, detail, args.from_line.unwrap_or(0))
                },
            ),
            self.reads(
                ("code_skeleton", "Code skeleton"),
                "A file without function bodies: signatures, types, docs.",
                |code, ctx, args: OfFileFrom, only| {
                    skeleton::run(code, ctx, only, args.from_line.unwrap_or(0))
                },
            ),
            self.reads(
                ("code_definition", "Code definition"),
                "Go to definition: the source of a symbol and its lines.",
                whole,
            ),
            self.reads(
                ("code_signature", "Code signature"),
                "Signature of a symbol: all before its body.",
                head,
            ),
            self.writes(
                ("code_update_definition", "Update definition"),
                "Replace the source of a function, class or other symbol.",
                update::definition,
            ),
            self.reads(
                ("code_usages", "Code usages"),
                "Find references: where a symbol is used, each place with its role.",
                usages,
            ),
            self.reads(
                ("code_hierarchy", "Class hierarchy"),
                "Subclasses and implementations of a class or interface.",
                hierarchy,
            ),
            self.reads(
                ("derive_code_path", "Code path"),
                "Call tree of a function: what it calls, across files.",
                |code, ctx, args, _| derive_code_path(code, ctx, args),
            ),
            self.reads(
                ("get_repo_map", "Repository map"),
                "Overview of a project: its most used symbols, file by file.",
                |code, ctx, args, _| repo_map(code, ctx, args),
            ),
            self.reads(
                ("code_imports", "Code imports"),
                "What a source file imports or includes.",
                imports::run,
            ),
            self.reads(("code_check", "Check syntax"), "Check a source file for syntax errors.", check::run),
            self.writes(
                ("code_remove", "Remove definition"),
                "Delete a symbol with decorators and docs.",
                remove::run,
            ),
            self.writes(("code_add", "Add definition"), "Insert a function, class or method.", add::run),
            self.mover(
                ("code_move", "Move definition"),
                "Move a symbol to another file with its imports; lists uses to fix.",
            ),
            self.renamer(),
        ]
    }

    fn renamer(&self) -> NativeTool {
        let (code, judged) = (self.code.clone(), self.code.clone());
        let description = "Rename a symbol and all references. Shows a plan; repeat with its id.";
        let card = self.card(("code_rename", "Rename symbol"), Effect::Change, "path");
        let wants = move |args: &rename::Args| rename::wants(&judged, args);
        NativeTool::row(card, description, wants, move |ctx, args| rename::run(&code, ctx, &args))
    }

    fn mover(&self, names: Names, description: &str) -> NativeTool {
        let (code, only) = (self.code.clone(), self.only);
        let wants = |args: &Move| Wants {
            subject: Subject::Path(args.src_path.clone()),
            paths: vec![
                (args.src_path.clone(), Access::Write),
                (args.dest_path.clone(), Access::Write),
                (args.within.clone(), Access::Read),
            ],
        };
        let card = self.card(names, Effect::Change, "src_path");
        NativeTool::row(card, description, wants, move |ctx, args| move_def::run(&code, ctx, &args, only))
    }

    fn python(&self) -> Vec<NativeTool> {
        vec![
            self.writes(
                ("py_set_signature", "Set Python signature"),
                "Replace a Python signature; the body stays.",
                update::signature,
            ),
            self.reads(
                ("py_get_class_summary", "Python class summary"),
                "A Python class in short: header, docstring, method signatures with lines.",
                class_summary::run,
            ),
            self.reads(
                ("py_get_var_declaration", "Python variable"),
                "The statement that assigns a module or class variable.",
                |code, ctx, args: OfSymbol, only| {
                    definition::run(code, ctx, &args, only, Part::Whole, update::is_variable)
                },
            ),
            self.writes(
                ("py_set_var_declaration", "Set Python variable"),
                "Replace the statement that assigns a module or class variable.",
                update::declaration,
            ),
            self.reads(
                ("py_get_docstring", "Python docstring"),
                "The docstring of a class or function; of the module for name `module` or an empty one.",
                docs::run,
            ),
            self.reads(
                ("py_find_usages", "Python usages"),
                "Where a name is used in Python files, as `path:line: [role] text`; strings and comments told apart.",
                |code, ctx, args: OfSymbol, only| {
                    usages(code, ctx, UsagesArgs::new(args.path, args.name), only)
                },
            ),
            self.reads(
                ("py_get_hierarchy", "Python hierarchy"),
                "Subclasses of a Python class below a directory, direct ones first.",
                hierarchy,
            ),
            self.reads(
                ("py_get_imports", "Python imports"),
                "Modules and names a Python file imports, dotted, sorted.",
                imports::run,
            ),
            self.reads(
                ("py_check_syntax", "Check Python syntax"),
                "What CPython would refuse: line, column, message.",
                check::run,
            ),
            self.writes(
                ("py_remove_def", "Remove Python definition"),
                "Remove a Python definition with its decorators.",
                remove::run,
            ),
            self.writes(
                ("py_add_def", "Add Python definition"),
                "Insert a Python definition at an anchor, indented as the file is.",
                add::run,
            ),
            self.mover(
                ("py_move_def", "Move Python definition"),
                "Move a Python definition within a file or to another, with the imports it needs.",
            ),
            self.writes(
                ("py_region_wrap", "Wrap in region"),
                "Put lines between `#region: Name` and `#endregion: Name`.",
                region::run,
            ),
        ]
    }

    fn language(&self, [skeleton, outline, definition, update, signature]: LanguageRows) -> Vec<NativeTool> {
        vec![
            self.reads(skeleton.0, skeleton.1, |code, ctx, _: OfFile, only| {
                skeleton::run(code, ctx, only, 0)
            }),
            self.reads(outline.0, outline.1, |code, ctx, _: OfFile, only| {
                outline::run(code, ctx, only, Detail::Outline, 0)
            }),
            self.reads(definition.0, definition.1, whole),
            self.writes(update.0, update.1, update::definition),
            self.reads(signature.0, signature.1, head),
        ]
    }
}

/// The source of a symbol.
fn whole(code: &Code, ctx: &Ctx, args: OfSymbol, only: Only) -> Result<Reply<definition::Output>, Fault> {
    definition::run(code, ctx, &args, only, Part::Whole, |_| true)
}

/// The source of a symbol up to its body.
fn head(code: &Code, ctx: &Ctx, args: OfSymbol, only: Only) -> Result<Reply<definition::Output>, Fault> {
    definition::run(code, ctx, &args, only, Part::Head, |_| true)
}

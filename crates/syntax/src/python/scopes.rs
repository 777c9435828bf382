//! The scopes around a node while a tree is walked, and what the parser's rules ask about them.

use std::{
    cell::{OnceCell, RefCell},
    collections::{HashMap, HashSet},
};

use ruff_python_ast::{
    Parameters, PythonVersion, Stmt, StmtFunctionDef,
    visitor::{self, Visitor},
};
use ruff_python_parser::semantic_errors::{LazyImportContext, SemanticSyntaxContext, SemanticSyntaxError};
use ruff_text_size::TextRange;

use super::{
    bindings::{Binder, Tie},
    parse::VERSION,
};

/// The constructs that open a scope.
#[derive(Clone, Copy)]
pub(super) enum ScopePlace<'a> {
    /// The file.
    Module,
    /// A function's body.
    Function(&'a StmtFunctionDef),
    /// A lambda's body.
    Lambda(Option<&'a Parameters>),
    /// A class's body.
    Class,
    /// A comprehension, or lazily a generator; with `async for` or without.
    Comprehension {
        /// A generator.
        lazy: bool,
        /// With `async for`.
        awaits: bool,
    },
}

struct PythonScope<'a> {
    place: ScopePlace<'a>,
    /// The names that its own statements declare `global`, and the place of each.
    globals: HashMap<&'a str, TextRange>,
    /// The names that its own statements declare `nonlocal`, and the place of each.
    nonlocals: HashMap<&'a str, TextRange>,
    /// Inside a `for` or `while` of its own.
    in_loop: bool,
    /// The names a function binds, found when first asked for.
    bound: OnceCell<HashSet<&'a str>>,
}

/// The scopes around the current node, and the errors found.
pub(super) struct Scopes<'a> {
    text: &'a str,
    stack: Vec<PythonScope<'a>>,
    /// Files without these words have no such statements, and need no search for them.
    declares: bool,
    future_annotations: bool,
    /// The errors that the rules reported.
    pub(super) found: RefCell<Vec<SemanticSyntaxError>>,
}

impl<'a> Scopes<'a> {
    /// Outside of everything.
    pub(super) fn new(text: &'a str) -> Self {
        Self {
            text,
            stack: Vec::new(),
            declares: ["global", "nonlocal"]
                .iter()
                .any(|word| memchr::memmem::find(text.as_bytes(), word.as_bytes()).is_some()),
            future_annotations: false,
            found: RefCell::default(),
        }
    }

    /// Goes into a scope with these statements.
    pub(super) fn enter(&mut self, place: ScopePlace<'a>, body: &'a [Stmt]) {
        let mut found = Declarations::default();
        if self.declares {
            found.visit_body(body);
        }
        let Declarations { globals, nonlocals } = found;
        self.stack.push(PythonScope { place, globals, nonlocals, in_loop: false, bound: OnceCell::new() });
    }

    /// Leaves the innermost scope.
    pub(super) fn leave(&mut self) {
        self.stack.pop();
    }

    /// Says whether statements are now inside a loop, and tells whether they were.
    pub(super) fn set_loop(&mut self, inside: bool) -> bool {
        self.stack.last_mut().is_some_and(|scope| std::mem::replace(&mut scope.in_loop, inside))
    }

    /// Notes a statement that changes what later ones mean.
    pub(super) fn saw(&mut self, stmt: &Stmt) {
        if let Stmt::ImportFrom(import) = stmt
            && import.module.as_deref() == Some("__future__")
        {
            self.future_annotations |= import.names.iter().any(|alias| alias.name.as_str() == "annotations");
        }
    }

    /// The place where the innermost scope declares a name `nonlocal`.
    pub(super) fn nonlocal(&self, name: &str) -> Option<TextRange> {
        self.stack.last()?.nonlocals.get(name).copied()
    }

    /// The place where the innermost scope declares a name `global`.
    pub(super) fn declared_global(&self, name: &str) -> Option<TextRange> {
        self.stack.last()?.globals.get(name).copied()
    }

    fn place(&self) -> ScopePlace<'a> {
        self.stack.last().map_or(ScopePlace::Module, |scope| scope.place)
    }

    /// The answer of the innermost scope that has one.
    fn outward<T>(&self, answer: impl Fn(ScopePlace<'a>) -> Option<T>) -> Option<T> {
        self.stack.iter().rev().find_map(|scope| answer(scope.place))
    }
}

impl<'a> PythonScope<'a> {
    fn binds(&self, name: &str) -> bool {
        let function = match self.place {
            ScopePlace::Function(function) => function,
            // Methods see the class they stand in under this name.
            ScopePlace::Class => return name == "__class__",
            _ => return false,
        };
        let bound = self.bound.get_or_init(|| {
            let mut names = HashSet::new();
            let mut foreign = HashSet::new();
            let mut binder = Binder::new(|name: &'a str, tie| {
                if tie == Tie::Local {
                    names.insert(name)
                } else {
                    foreign.insert(name)
                };
            });
            binder.parameters(&function.parameters);
            binder.visit_body(&function.body);
            if let Some(parameters) = &function.type_params {
                names.extend(parameters.type_params.iter().map(|parameter| parameter.name().as_str()));
            }
            names.retain(|name| !foreign.contains(name));
            names
        });
        bound.contains(name)
    }
}

/// The `global` and `nonlocal` statements of one scope.
#[derive(Default)]
struct Declarations<'a> {
    globals: HashMap<&'a str, TextRange>,
    nonlocals: HashMap<&'a str, TextRange>,
}

impl<'a> Visitor<'a> for Declarations<'a> {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        let (names, range, found) = match stmt {
            Stmt::FunctionDef(_) | Stmt::ClassDef(_) => return,
            Stmt::Global(global) => (&global.names, global.range, &mut self.globals),
            Stmt::Nonlocal(nonlocal) => (&nonlocal.names, nonlocal.range, &mut self.nonlocals),
            _ => return visitor::walk_stmt(self, stmt),
        };
        for name in names {
            found.entry(name.as_str()).or_insert(range);
        }
    }

    // No statement stands in an expression.
    fn visit_expr(&mut self, _expr: &'a ruff_python_ast::Expr) {}
}

impl SemanticSyntaxContext for Scopes<'_> {
    fn future_annotations_or_stub(&self) -> bool {
        self.future_annotations
    }

    // Lazy imports belong to a later version than the one that counts here.
    fn lazy_import_context(&self) -> Option<LazyImportContext> {
        None
    }

    fn python_version(&self) -> PythonVersion {
        VERSION
    }

    fn source(&self) -> &str {
        self.text
    }

    fn global(&self, name: &str) -> Option<TextRange> {
        self.declared_global(name)
    }

    fn has_nonlocal_binding(&self, name: &str) -> bool {
        self.stack.iter().rev().skip(1).any(|scope| scope.binds(name))
    }

    fn in_async_context(&self) -> bool {
        self.outward(|place| match place {
            ScopePlace::Function(function) => Some(function.is_async),
            ScopePlace::Lambda(_) | ScopePlace::Class | ScopePlace::Module => Some(false),
            ScopePlace::Comprehension { .. } => None,
        })
        .unwrap_or(false)
    }

    fn in_await_allowed_context(&self) -> bool {
        self.outward(|place| match place {
            ScopePlace::Function(_) | ScopePlace::Lambda(_) => Some(true),
            ScopePlace::Class | ScopePlace::Module => Some(false),
            ScopePlace::Comprehension { .. } => None,
        })
        .unwrap_or(false)
    }

    fn in_yield_allowed_context(&self) -> bool {
        matches!(self.place(), ScopePlace::Function(_) | ScopePlace::Lambda(_))
    }

    fn in_sync_comprehension(&self) -> bool {
        self.stack.iter().any(|scope| matches!(scope.place, ScopePlace::Comprehension { awaits: false, .. }))
    }

    fn in_class_body_comprehension(&self) -> bool {
        self.outward(|place| match place {
            ScopePlace::Class => Some(true),
            ScopePlace::Function(_) | ScopePlace::Lambda(_) | ScopePlace::Module => Some(false),
            ScopePlace::Comprehension { .. } => None,
        })
        .unwrap_or(false)
    }

    fn in_module_scope(&self) -> bool {
        matches!(self.place(), ScopePlace::Module)
    }

    fn in_function_scope(&self) -> bool {
        matches!(self.place(), ScopePlace::Function(_) | ScopePlace::Lambda(_))
    }

    fn in_generator_context(&self) -> bool {
        self.outward(|place| match place {
            ScopePlace::Comprehension { lazy, .. } => lazy.then_some(true),
            _ => Some(false),
        })
        .unwrap_or(false)
    }

    fn in_notebook(&self) -> bool {
        false
    }

    fn report_semantic_error(&self, error: SemanticSyntaxError) {
        self.found.borrow_mut().push(error);
    }

    fn in_loop_context(&self) -> bool {
        self.stack.last().is_some_and(|scope| scope.in_loop)
    }

    fn is_bound_parameter(&self, name: &str) -> bool {
        let parameters = match self.place() {
            ScopePlace::Function(function) => Some(&*function.parameters),
            ScopePlace::Lambda(parameters) => parameters,
            _ => None,
        };
        parameters.is_some_and(|parameters| parameters.includes(name))
    }
}

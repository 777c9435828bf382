//! The names that a scope binds by its own statements. What functions, classes, lambdas and
//! comprehensions inside it bind for themselves is not looked at.

use ruff_python_ast::{
    Expr, ExprContext, Identifier, Parameters, Pattern, Stmt,
    visitor::{self, Visitor},
};

/// The ways in which a statement ties a name to a scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tie {
    /// Bound here.
    Local,
    /// Declared `global`.
    Global,
    /// Declared `nonlocal`.
    Nonlocal,
}

/// Reports every name that statements or targets bind, each as often as it is bound.
pub(super) struct Binder<F> {
    report: F,
    /// Inside a comprehension only `:=` binds for the scope around it.
    comprehensions: usize,
}

impl<'a, F: FnMut(&'a str, Tie)> Binder<F> {
    /// Reports to the function.
    pub(super) fn new(report: F) -> Self {
        Self { report, comprehensions: 0 }
    }

    /// The parameters of a function or lambda.
    pub(super) fn parameters(&mut self, parameters: &'a Parameters) {
        for parameter in parameters.iter() {
            self.local(parameter.name());
        }
    }

    fn local(&mut self, name: &'a Identifier) {
        (self.report)(name.as_str(), Tie::Local);
    }

    fn defined_elsewhere(&mut self, parameters: Option<&'a Parameters>) {
        // Defaults run in this scope.
        if let Some(parameters) = parameters {
            visitor::walk_parameters(self, parameters);
        }
    }
}

impl<'a, F: FnMut(&'a str, Tie)> Visitor<'a> for Binder<F> {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::FunctionDef(function) => {
                self.local(&function.name);
                function.decorator_list.iter().for_each(|decorator| self.visit_decorator(decorator));
                self.defined_elsewhere(Some(&function.parameters));
            }
            Stmt::ClassDef(class) => {
                self.local(&class.name);
                class.decorator_list.iter().for_each(|decorator| self.visit_decorator(decorator));
                if let Some(arguments) = &class.arguments {
                    self.visit_arguments(arguments);
                }
            }
            Stmt::Import(import) => {
                for alias in &import.names {
                    let whole = alias.asname.as_ref().unwrap_or(&alias.name).as_str();
                    (self.report)(whole.split('.').next().unwrap_or(whole), Tie::Local);
                }
            }
            Stmt::ImportFrom(import) => {
                import
                    .names
                    .iter()
                    .for_each(|alias| self.local(alias.asname.as_ref().unwrap_or(&alias.name)));
            }
            Stmt::Global(global) => {
                global.names.iter().for_each(|name| (self.report)(name.as_str(), Tie::Global));
            }
            Stmt::Nonlocal(nonlocal) => {
                nonlocal.names.iter().for_each(|name| (self.report)(name.as_str(), Tie::Nonlocal));
            }
            _ => visitor::walk_stmt(self, stmt),
        }
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        match expr {
            Expr::Name(name) => {
                let binds = matches!(name.ctx, ExprContext::Store | ExprContext::Del);
                if binds && self.comprehensions == 0 {
                    (self.report)(name.id.as_str(), Tie::Local);
                }
            }
            Expr::Named(named) => {
                if let Expr::Name(name) = &*named.target {
                    (self.report)(name.id.as_str(), Tie::Local);
                }
                self.visit_expr(&named.value);
            }
            Expr::Lambda(lambda) => self.defined_elsewhere(lambda.parameters.as_deref()),
            Expr::ListComp(_) | Expr::SetComp(_) | Expr::DictComp(_) | Expr::Generator(_) => {
                self.comprehensions += 1;
                visitor::walk_expr(self, expr);
                self.comprehensions -= 1;
            }
            _ => visitor::walk_expr(self, expr),
        }
    }

    fn visit_except_handler(&mut self, handler: &'a ruff_python_ast::ExceptHandler) {
        let ruff_python_ast::ExceptHandler::ExceptHandler(inner) = handler;
        if let Some(name) = &inner.name {
            self.local(name);
        }
        visitor::walk_except_handler(self, handler);
    }

    fn visit_pattern(&mut self, pattern: &'a Pattern) {
        let name = match pattern {
            Pattern::MatchAs(bound) => bound.name.as_ref(),
            Pattern::MatchStar(bound) => bound.name.as_ref(),
            Pattern::MatchMapping(mapping) => mapping.rest.as_ref(),
            _ => None,
        };
        if let Some(name) = name {
            self.local(name);
        }
        visitor::walk_pattern(self, pattern);
    }
}

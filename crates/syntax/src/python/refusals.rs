//! The errors of Python's compiler that the parser's own rules do not know.

use ruff_python_ast::{
    ExceptHandler, Expr, ExprContext, Identifier, Keyword, Pattern, Stmt, StmtTry,
    visitor::{self, Visitor},
};
use ruff_text_size::{Ranged, TextRange};

use super::scopes::Scopes;

/// A name that nothing can be given.
const DEBUG: &str = "__debug__";

/// Places with what is wrong there.
pub(super) type Refused = Vec<(TextRange, String)>;

/// Reports the errors of a statement itself, not of what is inside it.
pub(super) fn statement(stmt: &Stmt, scopes: &Scopes<'_>, refused: &mut Refused) {
    match stmt {
        Stmt::Try(attempt) => handlers(attempt, refused),
        Stmt::FunctionDef(function) => late_declaration(&function.name, scopes, refused),
        Stmt::ClassDef(class) => late_declaration(&class.name, scopes, refused),
        Stmt::Nonlocal(nonlocal) => {
            for name in nonlocal.names.iter().filter(|name| scopes.declared_global(name.as_str()).is_some()) {
                refused.push((name.range, format!("name `{name}` is nonlocal and global")));
            }
        }
        _ => {}
    }
}

/// Reports the errors of an expression itself.
pub(super) fn expression(expr: &Expr, refused: &mut Refused) {
    match expr {
        Expr::Attribute(attribute)
            if attribute.ctx == ExprContext::Store && attribute.attr.as_str() == DEBUG =>
        {
            refused.push((attribute.range, "cannot assign to `__debug__`".to_owned()));
        }
        Expr::FString(text) => {
            for part in text.value.elements().filter_map(|element| element.as_interpolation()) {
                if part.expression.is_starred_expr() {
                    let message = "Starred expression cannot be used here".to_owned();
                    refused.push((part.expression.range(), message));
                }
            }
        }
        _ => {}
    }
}

/// Reports the errors in the name of an argument.
pub(super) fn keyword(keyword: &Keyword, refused: &mut Refused) {
    if keyword.arg.as_ref().is_some_and(|name| name.as_str() == DEBUG) {
        refused.push((keyword.range, "cannot assign to `__debug__`".to_owned()));
    }
}

/// Reports the errors of a pattern itself.
pub(super) fn pattern(pattern: &Pattern, refused: &mut Refused) {
    match pattern {
        Pattern::MatchValue(value) if value.value.is_f_string_expr() || value.value.is_t_string_expr() => {
            let message = "patterns may only match literals and attribute lookups".to_owned();
            refused.push((value.range, message));
        }
        Pattern::MatchClass(class) => {
            for keyword in class.arguments.keywords.iter().filter(|keyword| keyword.attr.as_str() == DEBUG) {
                refused.push((keyword.range, "cannot assign to `__debug__`".to_owned()));
            }
        }
        Pattern::MatchOr(or) => {
            let before_last = or.patterns.iter().rev().skip(1);
            let wildcard = |one: &&Pattern| {
                one.as_match_as().is_some_and(|one| one.pattern.is_none() && one.name.is_none())
            };
            for one in before_last.filter(wildcard) {
                refused.push((one.range(), "wildcard makes remaining patterns unreachable".to_owned()));
            }
        }
        _ => {}
    }
}

/// Reports the errors in the name that a handler gives to what it caught.
pub(super) fn handler(handler: &ExceptHandler, scopes: &Scopes<'_>, refused: &mut Refused) {
    let ExceptHandler::ExceptHandler(inner) = handler;
    if let Some(name) = &inner.name {
        late_declaration(name, scopes, refused);
    }
}

/// A name that is bound before it is declared to belong elsewhere.
fn late_declaration(name: &Identifier, scopes: &Scopes<'_>, refused: &mut Refused) {
    for (word, declared) in
        [("global", scopes.declared_global(name.as_str())), ("nonlocal", scopes.nonlocal(name.as_str()))]
    {
        if declared.is_some_and(|declared| name.range.start() < declared.start()) {
            refused.push((name.range, format!("name `{name}` is assigned to before {word} declaration")));
        }
    }
}

fn handlers(attempt: &StmtTry, refused: &mut Refused) {
    for handler in attempt.handlers.iter().rev().skip(1) {
        let ExceptHandler::ExceptHandler(inner) = handler;
        if inner.type_.is_none() {
            refused.push((inner.range, "default `except:` must be last".to_owned()));
        }
    }
    if attempt.is_star {
        for ExceptHandler::ExceptHandler(inner) in &attempt.handlers {
            Leaving { in_loop: false, refused }.visit_body(&inner.body);
        }
    }
}

/// Finds what leaves a block of an `except*`.
struct Leaving<'r> {
    /// In a loop of the block's own, which may be left.
    in_loop: bool,
    refused: &'r mut Refused,
}

impl Leaving<'_> {
    fn repeat(&mut self, body: &[Stmt], orelse: &[Stmt]) {
        let outer = std::mem::replace(&mut self.in_loop, true);
        self.visit_body(body);
        self.in_loop = outer;
        self.visit_body(orelse);
    }
}

impl<'a> Visitor<'a> for Leaving<'_> {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::FunctionDef(_) | Stmt::ClassDef(_) => {}
            Stmt::For(repeat) => self.repeat(&repeat.body, &repeat.orelse),
            Stmt::While(repeat) => self.repeat(&repeat.body, &repeat.orelse),
            Stmt::Break(_) | Stmt::Continue(_) if self.in_loop => {}
            Stmt::Break(_) | Stmt::Continue(_) | Stmt::Return(_) => {
                let message = "`break`, `continue` and `return` cannot appear in an `except*` block";
                self.refused.push((stmt.range(), message.to_owned()));
            }
            _ => visitor::walk_stmt(self, stmt),
        }
    }

    // No statement stands in an expression.
    fn visit_expr(&mut self, _expr: &'a Expr) {}
}

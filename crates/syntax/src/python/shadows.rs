//! The places where a word does not mean what it means in the file around: the bodies of functions,
//! lambdas, comprehensions and classes that bind it for themselves.

use ruff_python_ast::{
    Comprehension, Expr, Parameters, Stmt, TypeParams,
    visitor::{self, Visitor},
};
use ruff_text_size::{Ranged, TextRange, TextSize};

use super::{
    bindings::{Binder, Tie},
    lines::whole_words,
    parse::with_tree,
};
use crate::{Shadow, Span};

/// Stretches in which a word is bound anew, in order and apart from one another. A function's
/// parameter counts with its body; its defaults and annotations belong to the scope around it. A
/// class shadows a name for its own statements only, from the one that binds it on, and not in its
/// methods. A text that is too deep
/// to be parsed has none.
pub fn shadows(text: &str, word: &str) -> Vec<Shadow> {
    if whole_words(text, word).is_empty() {
        return Vec::new();
    }
    with_tree(text, |parsed| {
        let mut painter = Painter { word, strokes: Vec::new(), here: None, inner: None };
        painter.visit_body(&parsed.syntax().body);
        flatten(painter.strokes)
    })
    .unwrap_or_default()
}

/// A binding of the word.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Bound {
    scope: TextRange,
    sure: bool,
}

/// Says of a stretch what binds the word in it, if anything does. Later strokes lie over earlier
/// ones.
struct Stroke {
    range: TextRange,
    bound: Option<Bound>,
}

struct Painter<'w> {
    word: &'w str,
    strokes: Vec<Stroke>,
    /// The binding that holds where the walk is.
    here: Option<Bound>,
    /// The binding that holds for functions inside: they do not see what a class binds.
    inner: Option<Bound>,
}

impl Painter<'_> {
    fn paint(&mut self, range: TextRange, bound: Option<Bound>) {
        if bound != self.here {
            self.strokes.push(Stroke { range, bound });
        }
    }

    /// The way a scope ties the word, if at all.
    fn tie(&self, look: impl FnOnce(&mut dyn FnMut(&str, Tie))) -> Option<Tie> {
        let mut tie = None;
        look(&mut |name, found| {
            // A declaration outweighs what is bound.
            if name == self.word && (tie.is_none() || found != Tie::Local) {
                tie = Some(found);
            }
        });
        tie
    }

    /// Walks into a scope that functions inside can see.
    fn function(&mut self, range: TextRange, tie: Option<Tie>, walk: impl FnOnce(&mut Self)) {
        let bound = match tie {
            Some(Tie::Local) => Some(Bound { scope: range, sure: true }),
            Some(Tie::Global) => None,
            Some(Tie::Nonlocal) | None => self.inner,
        };
        self.paint(range, bound);
        let outer = (self.here, self.inner);
        (self.here, self.inner) = (bound, bound);
        walk(self);
        (self.here, self.inner) = outer;
    }

    /// Walks through the statements of a class. They run one after the other: until one of them
    /// binds the word it means what it means outside.
    fn class<'a>(&mut self, body: &'a [Stmt]) {
        let scope = body_range(body);
        let tie = self.tie(|report| Binder::new(report).visit_body(body));
        let outer = self.here;
        // What is not bound here is looked up where functions would look.
        let before = if tie == Some(Tie::Global) { None } else { self.inner };
        self.paint(scope, before);
        self.here = before;
        let binds = |painter: &Self, stmt: &'a Stmt| {
            painter.tie(|report| Binder::new(report).visit_stmt(stmt)).is_some()
        };
        for (at, stmt) in body.iter().enumerate() {
            if tie == Some(Tie::Local) && self.here == before && binds(self, stmt) {
                let names = bound_names(stmt, self.word);
                let bound = Bound { scope, sure: names.is_some() };
                let rest = body.get(at + 1).map_or(scope.end(), |_| stmt.end());
                match names {
                    // The rest of the statement runs before the name is bound.
                    Some(names) => names.into_iter().for_each(|name| self.paint(name, Some(bound))),
                    None => self.paint(stmt.range(), Some(bound)),
                }
                if bound.sure {
                    self.visit_stmt(stmt);
                }
                self.paint(TextRange::new(rest, scope.end()), Some(bound));
                self.here = Some(bound);
                if bound.sure {
                    continue;
                }
            }
            self.visit_stmt(stmt);
        }
        self.here = outer;
    }

    /// The names of parameters stand outside the body and still belong to it.
    fn parameter_names(&mut self, parameters: &Parameters, scope: TextRange) {
        let word = self.word;
        for parameter in parameters.iter().filter(|parameter| parameter.name().as_str() == word) {
            self.paint(parameter.name().range(), Some(Bound { scope, sure: true }));
        }
    }

    /// Type parameters are known from their bracket to the end of what they belong to.
    fn with_type_params(&mut self, params: Option<&TypeParams>, end: TextSize, walk: impl FnOnce(&mut Self)) {
        let bound = params.filter(|params| {
            params.type_params.iter().any(|parameter| parameter.name().as_str() == self.word)
        });
        match bound {
            Some(params) => {
                self.function(TextRange::new(params.range.start(), end), Some(Tie::Local), walk);
            }
            None => walk(self),
        }
    }

    fn comprehension<'a>(&mut self, whole: TextRange, parts: &[&'a Expr], generators: &'a [Comprehension]) {
        let Some(first) = generators.first() else { return };
        // The first iterable is evaluated in the scope around.
        self.visit_expr(&first.iter);
        let tie = self.tie(|report| {
            let mut binder = Binder::new(report);
            generators.iter().for_each(|generator| binder.visit_expr(&generator.target));
        });
        let (before, after) = (
            TextRange::new(whole.start(), first.iter.start()),
            TextRange::new(first.iter.end(), whole.end()),
        );
        let bound = tie.map(|_| Bound { scope: after, sure: true }).or(self.inner);
        self.paint(before, bound);
        self.function(after, tie, |painter| {
            for (index, generator) in generators.iter().enumerate() {
                if index > 0 {
                    painter.visit_expr(&generator.iter);
                }
                generator.ifs.iter().for_each(|condition| painter.visit_expr(condition));
            }
            parts.iter().for_each(|part| painter.visit_expr(part));
        });
    }
}

/// The places where a statement of a class binds the word, if that is all it does with certainty: what
/// is bound in a loop or under a condition may not be bound afterwards.
fn bound_names(stmt: &Stmt, word: &str) -> Option<Vec<TextRange>> {
    let mut found = Vec::new();
    match stmt {
        Stmt::FunctionDef(function) if function.name.as_str() == word => found.push(function.name.range()),
        Stmt::ClassDef(class) if class.name.as_str() == word => found.push(class.name.range()),
        Stmt::Import(import) => found.extend(import.names.iter().map(Ranged::range)),
        Stmt::ImportFrom(import) => found.extend(import.names.iter().map(Ranged::range)),
        Stmt::Assign(assign) => assign.targets.iter().for_each(|target| targets(target, word, &mut found)),
        Stmt::AnnAssign(assign) if assign.value.is_some() => targets(&assign.target, word, &mut found),
        _ => {}
    }
    (!found.is_empty()).then_some(found)
}

/// The places of a word among the targets of an assignment.
fn targets(target: &Expr, word: &str, found: &mut Vec<TextRange>) {
    match target {
        Expr::Name(name) if name.id.as_str() == word => found.push(name.range),
        Expr::Tuple(tuple) => tuple.elts.iter().for_each(|part| targets(part, word, found)),
        Expr::List(list) => list.elts.iter().for_each(|part| targets(part, word, found)),
        Expr::Starred(starred) => targets(&starred.value, word, found),
        _ => {}
    }
}

/// From the first statement of a body to the end of its last.
fn body_range(body: &[Stmt]) -> TextRange {
    match (body.first(), body.last()) {
        (Some(first), Some(last)) => TextRange::new(first.start(), last.end()),
        _ => TextRange::default(),
    }
}

impl<'a> Visitor<'a> for Painter<'_> {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::FunctionDef(function) => {
                function.decorator_list.iter().for_each(|decorator| self.visit_decorator(decorator));
                let tie = self.tie(|report| {
                    let mut binder = Binder::new(report);
                    binder.parameters(&function.parameters);
                    binder.visit_body(&function.body);
                });
                self.with_type_params(function.type_params.as_deref(), function.end(), |painter| {
                    painter.visit_parameters(&function.parameters);
                    painter.parameter_names(&function.parameters, body_range(&function.body));
                    if let Some(returns) = &function.returns {
                        painter.visit_annotation(returns);
                    }
                    painter.function(body_range(&function.body), tie, |painter| {
                        painter.visit_body(&function.body)
                    });
                });
            }
            Stmt::ClassDef(class) => {
                class.decorator_list.iter().for_each(|decorator| self.visit_decorator(decorator));
                self.with_type_params(class.type_params.as_deref(), class.end(), |painter| {
                    if let Some(arguments) = &class.arguments {
                        painter.visit_arguments(arguments);
                    }
                    painter.class(&class.body);
                });
            }
            _ => visitor::walk_stmt(self, stmt),
        }
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        match expr {
            Expr::Lambda(lambda) => {
                let tie = self.tie(|report| {
                    let mut binder = Binder::new(report);
                    if let Some(parameters) = &lambda.parameters {
                        binder.parameters(parameters);
                    }
                    binder.visit_expr(&lambda.body);
                });
                if let Some(parameters) = &lambda.parameters {
                    self.visit_parameters(parameters);
                    self.parameter_names(parameters, lambda.body.range());
                }
                self.function(lambda.body.range(), tie, |painter| painter.visit_expr(&lambda.body));
            }
            Expr::ListComp(list) => self.comprehension(list.range, &[&list.elt], &list.generators),
            Expr::SetComp(set) => self.comprehension(set.range, &[&set.elt], &set.generators),
            Expr::Generator(lazy) => self.comprehension(lazy.range, &[&lazy.elt], &lazy.generators),
            Expr::DictComp(dict) => {
                let mut parts: Vec<&Expr> = dict.key.as_deref().into_iter().collect();
                parts.push(&dict.value);
                self.comprehension(dict.range, &parts, &dict.generators);
            }
            _ => visitor::walk_expr(self, expr),
        }
    }
}

/// The shadowed stretches that are left when strokes, each inside or beside the ones before it,
/// lie over one another.
fn flatten(mut strokes: Vec<Stroke>) -> Vec<Shadow> {
    strokes.retain(|stroke| !stroke.range.is_empty());
    // Outer strokes come first where two begin together.
    strokes.sort_by_key(|stroke| (stroke.range.start(), std::cmp::Reverse(stroke.range.end())));
    let mut found: Vec<Shadow> = Vec::new();
    let mut open: Vec<Stroke> = Vec::new();
    let mut at = TextSize::new(0);
    let mut emit = |from: TextSize, to: TextSize, bound: Option<Bound>| {
        let Some(Bound { scope, sure }) = bound.filter(|_| from < to) else { return };
        let scope = span(scope);
        match found.last_mut() {
            Some(last) if last.span.end == u32::from(from) && (last.scope, last.sure) == (scope, sure) => {
                last.span.end = to.into();
            }
            _ => found.push(Shadow { span: span(TextRange::new(from, to)), scope, sure }),
        }
    };
    for stroke in strokes {
        while let Some(done) = open.pop_if(|outer| outer.range.end() <= stroke.range.start()) {
            emit(at, done.range.end(), done.bound);
            at = at.max(done.range.end());
        }
        if let Some(outer) = open.last() {
            emit(at, stroke.range.start(), outer.bound);
        }
        at = at.max(stroke.range.start());
        open.push(stroke);
    }
    while let Some(done) = open.pop() {
        emit(at, done.range.end(), done.bound);
        at = at.max(done.range.end());
    }
    found
}

fn span(range: TextRange) -> Span {
    Span { start: range.start().into(), end: range.end().into() }
}

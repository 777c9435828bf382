//! Where a word does not mean what it means in the file around: the bodies of functions, lambdas,
//! comprehensions and classes that bind it for themselves.

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
use crate::Span;

/// Stretches in which a word is bound anew, in order and apart from one another. A function's
/// parameter counts with its body; its defaults and annotations belong to the scope around it. A
/// class shadows a name for its own statements only, not in its methods. A text that is too deep
/// to be parsed has none.
pub fn shadows(text: &str, word: &str) -> Vec<Span> {
    if whole_words(text, word).is_empty() {
        return Vec::new();
    }
    with_tree(text, |parsed| {
        let mut painter = Painter { word, strokes: Vec::new(), here: false, inner: false };
        painter.visit_body(&parsed.syntax().body);
        flatten(painter.strokes)
    })
    .unwrap_or_default()
}

/// Says of a stretch whether the word is bound anew in it. Later strokes lie over earlier ones.
struct Stroke {
    range: TextRange,
    shadowed: bool,
}

struct Painter<'w> {
    word: &'w str,
    strokes: Vec<Stroke>,
    /// Whether the word is bound anew where the walk is.
    here: bool,
    /// Whether it is for functions inside: they do not see what a class binds.
    inner: bool,
}

impl Painter<'_> {
    fn paint(&mut self, range: TextRange, shadowed: bool) {
        if shadowed != self.here {
            self.strokes.push(Stroke { range, shadowed });
        }
    }

    /// How a scope ties the word, if at all.
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
        let shadowed = match tie {
            Some(Tie::Local) => true,
            Some(Tie::Global) => false,
            Some(Tie::Nonlocal) | None => self.inner,
        };
        self.paint(range, shadowed);
        let outer = (self.here, self.inner);
        (self.here, self.inner) = (shadowed, shadowed);
        walk(self);
        (self.here, self.inner) = outer;
    }

    fn class(&mut self, range: TextRange, tie: Option<Tie>, walk: impl FnOnce(&mut Self)) {
        let shadowed = match tie {
            Some(Tie::Local) => true,
            Some(Tie::Global) => false,
            // What is not bound here is looked up where functions would look.
            Some(Tie::Nonlocal) | None => self.inner,
        };
        self.paint(range, shadowed);
        let outer = self.here;
        self.here = shadowed;
        walk(self);
        self.here = outer;
    }

    /// The names of parameters stand outside the body and still belong to it.
    fn parameter_names(&mut self, parameters: &Parameters) {
        let word = self.word;
        for parameter in parameters.iter().filter(|parameter| parameter.name().as_str() == word) {
            self.paint(parameter.name().range(), true);
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
        let shadowed = tie.is_some() || self.inner;
        self.paint(before, shadowed);
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
                    painter.parameter_names(&function.parameters);
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
                let tie = self.tie(|report| Binder::new(report).visit_body(&class.body));
                self.with_type_params(class.type_params.as_deref(), class.end(), |painter| {
                    if let Some(arguments) = &class.arguments {
                        painter.visit_arguments(arguments);
                    }
                    painter.class(body_range(&class.body), tie, |painter| painter.visit_body(&class.body));
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
                    self.parameter_names(parameters);
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
fn flatten(mut strokes: Vec<Stroke>) -> Vec<Span> {
    strokes.retain(|stroke| !stroke.range.is_empty());
    // Outer strokes come first where two begin together.
    strokes.sort_by_key(|stroke| (stroke.range.start(), std::cmp::Reverse(stroke.range.end())));
    let mut found: Vec<Span> = Vec::new();
    let mut open: Vec<Stroke> = Vec::new();
    let mut at = TextSize::new(0);
    let mut emit = |from: TextSize, to: TextSize, shadowed: bool| {
        if shadowed && from < to {
            match found.last_mut() {
                Some(last) if last.end == u32::from(from) => last.end = to.into(),
                _ => found.push(Span { start: from.into(), end: to.into() }),
            }
        }
    };
    for stroke in strokes {
        while let Some(done) = open.pop_if(|outer| outer.range.end() <= stroke.range.start()) {
            emit(at, done.range.end(), done.shadowed);
            at = at.max(done.range.end());
        }
        if let Some(outer) = open.last() {
            emit(at, stroke.range.start(), outer.shadowed);
        }
        at = at.max(stroke.range.start());
        open.push(stroke);
    }
    while let Some(done) = open.pop() {
        emit(at, done.range.end(), done.shadowed);
        at = at.max(done.range.end());
    }
    found
}

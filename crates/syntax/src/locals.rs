//! The places where a word is bound anew in a tree, by a pack's `locals` query. Knows captures, never a
//! grammar's nodes.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, HashMap},
    mem::take,
};

use tree_sitter::{Query, Tree};

use crate::{Shadow, Span, layers::Layers, references::each};

/// The stretches in which `word` is bound anew, in order and apart from one another.
pub(crate) fn shadows(locals: Option<&Query>, tree: &Tree, text: &str, word: &str) -> Vec<Shadow> {
    let mut found = Captured::default();
    each(locals, tree, text, Span::new(0, text.len()), |capture, span| match capture {
        "scope" => found.scopes.push((span, false)),
        "function" => found.scopes.push((span, true)),
        "late" => found.late.push(span),
        "free" => found.free.push(span),
        "type" => found.types.push(span),
        "local" if span.slice(text) == word => found.bound.push((span, Reaches::Scope)),
        "local.outer" if span.slice(text) == word => found.bound.push((span, Reaches::Outer)),
        "local.hoisted" if span.slice(text) == word => found.bound.push((span, Reaches::Function)),
        "local.type" if span.slice(text) == word => found.bound_type.push((span, Reaches::Scope)),
        "local.type.outer" if span.slice(text) == word => found.bound_type.push((span, Reaches::Outer)),
        _ => {}
    });
    if found.bound.is_empty() && found.bound_type.is_empty() {
        return Vec::new();
    }
    found.shadows()
}

/// The captures of the query.
#[derive(Default)]
struct Captured {
    /// Each with whether it is a function.
    scopes: Vec<(Span, bool)>,
    bound: Vec<(Span, Reaches)>,
    /// The names bound for types, where those have names of their own.
    bound_type: Vec<(Span, Reaches)>,
    /// The places where a name is a type's.
    types: Vec<Span>,
    late: Vec<Span>,
    free: Vec<Span>,
}

/// For which scope a name is bound.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Reaches {
    /// The innermost around it.
    Scope,
    /// The one around that.
    Outer,
    /// The innermost that is a function.
    Function,
}

/// The way a scope binds the word.
#[derive(Default)]
struct Binding {
    /// From where on the word is bound.
    from: Option<u32>,
    /// The places of the names themselves.
    names: Vec<Span>,
}

impl Captured {
    fn shadows(mut self) -> Vec<Shadow> {
        // Where a scope is captured twice, it is a function if one of the captures says so.
        self.scopes.sort_by_key(|(scope, function)| (scope.start, Reverse(scope.end), Reverse(*function)));
        self.scopes.dedup_by_key(|(scope, _)| *scope);
        self.late.sort_by_key(|late| (late.start, Reverse(late.end)));
        let (bound, bound_type) = (take(&mut self.bound), take(&mut self.bound_type));
        let mut types = take(&mut self.types);
        types.sort();
        types.dedup();
        let values = self.bound_by(bound);
        if types.is_empty() { values } else { apart(&values, &self.bound_by(bound_type), &types) }
    }

    /// The stretches that these names are bound in.
    fn bound_by(&self, mut bound: Vec<(Span, Reaches)>) -> Vec<Shadow> {
        bound.sort();
        let mut bindings: BTreeMap<Span, Binding> = BTreeMap::new();
        let mut scopes = OpenScope::new(self.scopes.clone());
        let mut late = OpenScope::new(self.late.iter().map(|late| (*late, false)).collect());
        for (local, reaches) in bound {
            let mut around = scopes.around(local).iter().rev();
            let scope = match reaches {
                Reaches::Scope => around.next(),
                Reaches::Outer => around.nth(1),
                Reaches::Function => around.find(|(_, function)| *function),
            };
            let Some((scope, _)) = scope.copied() else { continue };
            let waits = late
                .around(local)
                .last()
                .filter(|(late, _)| reaches == Reaches::Scope && scope.holds(*late) && *late != scope);
            let from = waits.map_or(scope.start, |(late, _)| late.end);
            let binding = bindings.entry(scope).or_default();
            binding.from = Some(binding.from.map_or(from, |so_far| so_far.min(from)));
            binding.names.push(local);
        }
        pieces(&bindings, &free_of(scopes.all, self.free.clone()))
    }
}

/// The stretches of both where types have names of their own: at the places of types only what
/// is bound for types counts, and elsewhere only what is bound for values.
fn apart(values: &[Shadow], types: &[Shadow], places: &[Span]) -> Vec<Shadow> {
    let mut all: Vec<Shadow> = Vec::new();
    for shadow in values {
        let Span { mut start, end } = shadow.span;
        let first = places.partition_point(|place| place.end <= start);
        for place in places[first..].iter().take_while(|place| place.start < end) {
            all.push(Shadow { span: Span { start, end: place.start.max(start) }, ..*shadow });
            start = start.max(place.end);
        }
        all.push(Shadow { span: Span { start, end: end.max(start) }, ..*shadow });
    }
    all.retain(|shadow| shadow.span.start < shadow.span.end);
    let at_type = |place: &Span| Shadow::over(types, *place).map(|shadow| Shadow { span: *place, ..*shadow });
    all.extend(places.iter().filter_map(at_type));
    all.sort_by_key(|shadow| shadow.span);
    all
}

/// The free stretches of each scope.
fn free_of(scopes: Vec<(Span, bool)>, mut free: Vec<Span>) -> HashMap<Span, Vec<Span>> {
    free.sort_by_key(|free| (free.start, Reverse(free.end)));
    let mut scopes = OpenScope::new(scopes);
    let mut of: HashMap<Span, Vec<Span>> = HashMap::new();
    for free in free {
        // A free part may be a scope of its own: the one it is free in lies around it.
        let scope = scopes.around(free).iter().rev().find(|(scope, _)| *scope != free);
        if let Some((scope, _)) = scope {
            of.entry(*scope).or_default().push(free);
        }
    }
    of
}

/// Every stretch with the innermost scope that binds the word there.
fn pieces(bindings: &BTreeMap<Span, Binding>, free: &HashMap<Span, Vec<Span>>) -> Vec<Shadow> {
    let scopes: Vec<Span> = bindings.keys().copied().collect();
    let mut spans: Vec<(Span, Option<usize>)> = Vec::new();
    for (number, (scope, binding)) in bindings.iter().enumerate() {
        spans.extend(binding.names.iter().map(|name| (*name, Some(number))));
        let mut start = binding.from.unwrap_or(scope.start);
        for free in free.get(scope).into_iter().flatten() {
            spans.push((Span { start, end: free.start.max(start) }, Some(number)));
            start = start.max(free.end);
        }
        spans.push((Span { start, end: scope.end }, Some(number)));
    }
    spans.retain(|(span, _)| span.start < span.end);
    let shadow = |(span, number): (Span, Option<usize>)| {
        Some(Shadow { span, scope: *scopes.get(number?)?, sure: true })
    };
    let mut shadows: Vec<Shadow> = Vec::new();
    for next in Layers::new(spans, None).pieces().filter_map(shadow) {
        match shadows.last_mut() {
            Some(last) if last.span.end == next.span.start && last.scope == next.scope => {
                last.span.end = next.span.end;
            }
            _ => shadows.push(next),
        }
    }
    shadows
}

/// Sorted nested stretches, read from the first to the last: which of them are around a place.
struct OpenScope {
    all: Vec<(Span, bool)>,
    next: usize,
    open: Vec<(Span, bool)>,
}

impl OpenScope {
    fn new(all: Vec<(Span, bool)>) -> Self {
        Self { all, next: 0, open: Vec::new() }
    }

    /// The stretches that are open around a place, outermost first. Places are asked for in order.
    fn around(&mut self, place: Span) -> &[(Span, bool)] {
        while let Some(next) = self.all.get(self.next).filter(|(span, _)| span.start <= place.start) {
            while self.open.pop_if(|(span, _)| span.end <= next.0.start).is_some() {}
            self.open.push(*next);
            self.next += 1;
        }
        while self.open.pop_if(|(span, _)| span.end <= place.start).is_some() {}
        let holding = self.open.iter().rposition(|(span, _)| span.holds(place));
        &self.open[..holding.map_or(0, |last| last + 1)]
    }
}

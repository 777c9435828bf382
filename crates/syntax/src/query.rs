//! The symbols of a tree, by a pack's `symbols` query. Knows captures, never a grammar's nodes.

use tree_sitter::{Language, Query, QueryCursor, QueryError, QueryMatch, StreamingIterator, Tree};

use crate::{
    Detail, Gap, Kind, Outline, Span, Symbol,
    dress::{Around, dress},
    faults::{gaps, is_loose},
    layers::Layers,
    tree::span,
};

/// A compiled `symbols` query: what each of its captures means.
#[derive(Debug)]
pub(crate) struct Symbols {
    query: Query,
    meanings: Vec<CaptureMeaning>,
}

/// The purpose of a capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CaptureMeaning {
    Definition(Kind),
    Name,
    Scope,
    Params,
    Body,
    Base,
    Outer,
    Until,
    Head,
    Async,
    Defined,
    Top,
    Inner,
    Decorator,
    Comment,
    Tail,
    Closed,
    Open,
    /// Used by the query's own predicates.
    Other,
}

impl CaptureMeaning {
    fn of(capture: &str) -> Self {
        if let Some(kind) = capture.strip_prefix("definition.").and_then(Kind::of_capture) {
            return Self::Definition(kind);
        }
        match capture {
            "name" => Self::Name,
            "scope" => Self::Scope,
            "params" => Self::Params,
            "body" => Self::Body,
            "base" => Self::Base,
            "outer" => Self::Outer,
            "until" => Self::Until,
            "head" => Self::Head,
            "async" => Self::Async,
            "defined" => Self::Defined,
            "top" => Self::Top,
            "inner" => Self::Inner,
            "decorator" => Self::Decorator,
            "comment" => Self::Comment,
            "tail" => Self::Tail,
            "closed" => Self::Closed,
            "open" => Self::Open,
            _ => Self::Other,
        }
    }
}

/// Symbols with what each derives from.
#[derive(Debug, Default)]
pub(crate) struct FoundSymbols {
    pub(crate) outline: Outline,
    /// The symbol's place in the outline, and one base as written.
    pub(crate) bases: Vec<(u32, Span)>,
}

/// One match before it knows its neighbours.
struct Match {
    pattern: usize,
    /// Only where no closed stretch is around it.
    top: bool,
    /// The node that defines it, without what was found around.
    definition: Span,
    symbol: Symbol,
    bases: Vec<Span>,
}

impl Symbols {
    pub(crate) fn compile(language: &Language, query: &str) -> Result<Self, QueryError> {
        let query = Query::new(language, query)?;
        let meanings = query.capture_names().iter().map(|name| CaptureMeaning::of(name)).collect();
        Ok(Self { query, meanings })
    }

    pub(crate) fn find(&self, tree: &Tree, text: &str, detail: Detail) -> FoundSymbols {
        if is_loose(tree) {
            let gap = Gap { span: span(tree.root_node()), why: "there are too many signs in a row" };
            return FoundSymbols {
                outline: Outline { symbols: Vec::new(), gaps: vec![gap] },
                bases: Vec::new(),
            };
        }
        let (mut matches, mut around, mut places) = (Vec::new(), Around::default(), Places::default());
        let mut cursor = QueryCursor::new();
        let mut all = cursor.matches(&self.query, tree.root_node(), text.as_bytes());
        while let Some(found) = all.next() {
            let parts = self.parts(found, text, &mut around, &mut places);
            match (parts.inner, parts.outer) {
                (Some(inner), Some(outer)) => places.wraps.push((inner, outer)),
                _ => matches.extend(parts.into_match(found.pattern_index)),
            }
        }
        around.sort();
        let mut matches = places.settle(matches);
        for found in &mut matches {
            dress(&mut found.symbol, text, &around);
        }
        matches.sort_by_key(|found| (found.symbol.whole.start, std::cmp::Reverse(found.symbol.whole.end)));
        let mut found = nest(matches);
        if detail == Detail::Outline {
            found = without_details(found);
        }
        found.outline.gaps = gaps(tree);
        found
    }

    fn parts(
        &self,
        found: &QueryMatch<'_, '_>,
        text: &str,
        around: &mut Around,
        places: &mut Places,
    ) -> Parts {
        let mut parts = Parts::default();
        for capture in found.captures() {
            let span = span(capture.node);
            match self.meanings[capture.index as usize] {
                CaptureMeaning::Definition(kind) => parts.definition = Some((kind, span)),
                CaptureMeaning::Name => parts.name = Some(both(parts.name, span)),
                CaptureMeaning::Scope => parts.scope = span,
                CaptureMeaning::Params => parts.params = inside(text, span),
                CaptureMeaning::Body => parts.body = Some(both(parts.body, span)),
                CaptureMeaning::Base => parts.bases.push(span),
                CaptureMeaning::Outer => parts.outer = Some(span),
                CaptureMeaning::Until => parts.until = span.end,
                CaptureMeaning::Head => parts.head = parts.head.max(span.end),
                CaptureMeaning::Async => parts.is_async = true,
                CaptureMeaning::Defined => parts.defined = true,
                CaptureMeaning::Top => parts.top = true,
                CaptureMeaning::Inner => parts.inner = Some(span),
                CaptureMeaning::Closed => places.regions.push((span, Region::Closed)),
                CaptureMeaning::Open => places.regions.push((span, Region::Open)),
                CaptureMeaning::Decorator => around.decorators.push(span),
                CaptureMeaning::Comment => around.comments.push(span),
                CaptureMeaning::Tail => around.tails.push(span),
                CaptureMeaning::Other => {}
            }
        }
        parts
    }
}

/// The captures of one match.
#[derive(Default)]
struct Parts {
    definition: Option<(Kind, Span)>,
    outer: Option<Span>,
    /// Its end, if that is not the end of its node.
    until: u32,
    /// The end of its head, if that is not before its body.
    head: u32,
    name: Option<Span>,
    scope: Span,
    params: Span,
    body: Option<Span>,
    bases: Vec<Span>,
    is_async: bool,
    defined: bool,
    top: bool,
    inner: Option<Span>,
}

impl Parts {
    /// A symbol, if there is a definition with a name: where the grammar only supposes a name
    /// that is not written, there is none.
    fn into_match(self, pattern: usize) -> Option<Match> {
        let (kind, definition) = self.definition?;
        let name = self.name.filter(|name| !name.is_empty())?;
        let mut symbol = Symbol::new(kind, self.outer.unwrap_or(definition), name);
        symbol.whole.end = symbol.whole.end.max(self.until);
        symbol.scope = self.scope;
        symbol.params = self.params;
        symbol.body = self.body.unwrap_or_default();
        symbol.is_async = self.is_async;
        symbol.declaration = kind.is_callable() && self.body.is_none() && !self.defined;
        let end = match self.head {
            0 => self.body.map_or(definition.end, |body| body.start),
            end => end,
        };
        symbol.head = Span { start: definition.start, end: end.max(name.end) };
        Some(Match { pattern, top: self.top, definition, symbol, bases: self.bases })
    }
}

/// The places that are known apart from symbols.
#[derive(Default)]
struct Places {
    /// A node and the statement that holds nothing else.
    wraps: Vec<(Span, Span)>,
    regions: Vec<(Span, Region)>,
}

/// The owner of what a stretch defines: the file, or only the code around it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Region {
    Closed,
    Open,
}

impl Places {
    /// Drops what is only for the top and is not there, leaves one match for each name, and gives
    /// it its statement.
    fn settle(mut self, mut matches: Vec<Match>) -> Vec<Match> {
        let regions = Layers::new(self.regions, Region::Open);
        matches.retain(|found| !found.top || regions.at(found.definition.start) == Region::Open);
        let mut matches = merge(matches);
        self.wraps.sort();
        for found in &mut matches {
            let Ok(at) = self.wraps.binary_search_by_key(&found.definition, |(inner, _)| *inner) else {
                continue;
            };
            let outer = self.wraps[at].1;
            found.symbol.whole = outer;
            found.symbol.head.start = outer.start;
        }
        matches
    }
}

/// One match for each name: the first pattern that knows it, with the bases of all its matches.
fn merge(mut matches: Vec<Match>) -> Vec<Match> {
    matches.sort_by_key(|found| (found.symbol.name, found.pattern));
    matches.dedup_by(|next, kept| {
        let same = next.symbol.name == kept.symbol.name;
        if same {
            kept.bases.append(&mut next.bases);
        }
        same
    });
    for found in &mut matches {
        found.bases.sort();
        found.bases.dedup();
    }
    matches
}

/// Finds each symbol's parent, and makes methods of functions in types.
fn nest(matches: Vec<Match>) -> FoundSymbols {
    let mut found = FoundSymbols::default();
    let mut open: Vec<u32> = Vec::new();
    for Match { mut symbol, bases, .. } in matches {
        let symbols = &mut found.outline.symbols;
        while open.last().is_some_and(|at| symbols[*at as usize].whole.end < symbol.whole.end) {
            open.pop();
        }
        // Two names of one statement (`const a = 1, b = 2`) lie side by side.
        if open.last().is_some_and(|at| symbols[*at as usize].whole == symbol.whole) {
            open.pop();
        }
        symbol.parent = open.last().copied();
        let in_type = symbol.parent.is_some_and(|at| symbols[at as usize].kind.is_type());
        if symbol.kind == Kind::Function && (in_type || !symbol.scope.is_empty()) {
            symbol.kind = Kind::Method;
        }
        let index = symbols.len() as u32;
        symbols.push(symbol);
        open.push(index);
        found.bases.extend(bases.into_iter().map(|base| (index, base)));
    }
    found
}

/// Leaves out variables, constants and fields, but for those that hold something else.
fn without_details(found: FoundSymbols) -> FoundSymbols {
    let symbols = found.outline.symbols;
    let is_detail = |kind| matches!(kind, Kind::Variable | Kind::Field | Kind::Constant);
    let mut kept: Vec<bool> = symbols.iter().map(|symbol| !is_detail(symbol.kind)).collect();
    for (index, symbol) in symbols.iter().enumerate().rev() {
        if let Some(parent) = symbol.parent.filter(|_| kept[index]) {
            kept[parent as usize] = true;
        }
    }
    // Where each symbol stands when the others are gone.
    let places: Vec<u32> = kept
        .iter()
        .scan(0, |next, kept| {
            let place = *next;
            *next += u32::from(*kept);
            Some(place)
        })
        .collect();
    let mut left = FoundSymbols::default();
    for (mut symbol, _) in symbols.into_iter().zip(&kept).filter(|(_, kept)| **kept) {
        symbol.parent = symbol.parent.map(|parent| places[parent as usize]);
        left.outline.symbols.push(symbol);
    }
    let bases = found.bases.into_iter().filter(|(at, _)| kept[*at as usize]);
    left.bases = bases.map(|(at, base)| (places[at as usize], base)).collect();
    left
}

/// From the start of the first to the end of the last.
fn both(known: Option<Span>, next: Span) -> Span {
    let first = known.unwrap_or(next);
    Span { start: first.start.min(next.start), end: first.end.max(next.end) }
}

/// A parameter list without its parentheses. A broken list may lack the second.
fn inside(text: &str, list: Span) -> Span {
    let Some(written) = list.slice(text).strip_prefix(['(', '[']) else { return list };
    let written = written.strip_suffix([')', ']']).unwrap_or(written);
    Span { start: list.start + 1, end: list.start + 1 + written.len() as u32 }
}

//! Mentions of a word and calls in a tree, by a pack's `references` query. Knows captures, never
//! a grammar's nodes.

use std::cmp::Reverse;

use tree_sitter::{Query, QueryCursor, QueryMatch, StreamingIterator, Tree};

use crate::{
    CallSite, Mention, Outline, Role, Span,
    faults::is_loose,
    layers::{Layers, covered, outermost},
    tree::span,
};

/// Every whole word `word` with its role. `names` are the symbols of the file.
pub(crate) fn mentions(
    (references, imports): (Option<&Query>, Option<&Query>),
    tree: &Tree,
    text: &str,
    word: &str,
    names: &Outline,
) -> Vec<Mention> {
    let places: Vec<Span> = words(text, word).collect();
    let (Some(first), Some(last)) = (places.first(), places.last()) else { return Vec::new() };
    let within = Span { start: first.start, end: last.end };
    let roles = ReferenceRoles::find(references, imports, tree, text, within, names);
    places.into_iter().map(|place| roles.mention(place)).collect()
}

/// The facts about words that the code itself shows: where text begins and ends, what is called.
#[derive(Debug)]
struct ReferenceRoles {
    layers: Layers<Layer>,
    calls: Vec<Span>,
    members: Vec<Span>,
    imports: Vec<Span>,
    names: Vec<Span>,
}

/// The sort of a stretch of a file. Strings hold code in some languages, and that strings again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Layer {
    Code,
    String,
    Comment,
}

impl ReferenceRoles {
    fn find(
        references: Option<&Query>,
        imports: Option<&Query>,
        tree: &Tree,
        text: &str,
        within: Span,
        outline: &Outline,
    ) -> Self {
        let (mut layers, mut calls, mut members) = (Vec::new(), Vec::new(), Vec::new());
        each(references, tree, text, within, |capture, span| match capture {
            "string" => layers.push((span, Layer::String)),
            "comment" => layers.push((span, Layer::Comment)),
            "code" => layers.push((span, Layer::Code)),
            "reference.call" => calls.push(span),
            "reference.member" => members.push(span),
            _ => {}
        });
        let mut imported = Vec::new();
        each(imports, tree, text, within, |capture, span| {
            if capture == "import" {
                imported.push(span);
            }
        });
        let mut names: Vec<Span> = outline.symbols.iter().map(|symbol| symbol.name).collect();
        outermost(&mut imported);
        calls.sort();
        members.sort();
        names.sort();
        Self { layers: Layers::new(layers, Layer::Code), calls, members, imports: imported, names }
    }

    fn mention(&self, span: Span) -> Mention {
        let member = self.members.binary_search(&span).is_ok();
        let role = match self.layers.at(span.start) {
            Layer::Comment => Role::Comment,
            Layer::String if !covered(&self.imports, span) => Role::String,
            // A name bound by an import is one even where the statement also defines it.
            _ if covered(&self.imports, span) => Role::Import,
            _ if self.names.binary_search(&span).is_ok() => Role::Definition,
            _ if self.calls.binary_search(&span).is_ok() => Role::Call,
            _ if member => Role::Attribute,
            _ => Role::Reference,
        };
        Mention { span, role, member: member && role.is_code() && role != Role::Definition }
    }
}

/// The places of a word where it is a key and its value in one, in order.
pub(crate) fn shorts(references: Option<&Query>, tree: &Tree, text: &str, word: &str) -> Vec<Span> {
    let mut shorts = Vec::new();
    each(references, tree, text, Span::new(0, text.len()), |capture, span| {
        if capture == "short" && span.slice(text) == word {
            shorts.push(span);
        }
    });
    shorts.sort();
    shorts
}

/// The string literals, outermost only.
pub(crate) fn strings(references: Option<&Query>, tree: &Tree, text: &str) -> Vec<Span> {
    let mut strings = Vec::new();
    each(references, tree, text, Span::new(0, text.len()), |capture, span| {
        if capture == "string" {
            strings.push(span);
        }
    });
    outermost(&mut strings);
    strings
}

/// The calls in a stretch, but for those in `nested` stretches.
pub(crate) fn calls(
    references: Option<&Query>,
    tree: &Tree,
    text: &str,
    within: Span,
    mut nested: Vec<Span>,
) -> Vec<CallSite> {
    outermost(&mut nested);
    let mut calls = Vec::new();
    each_match(references, tree, text, within, |query, found| {
        let mut call: Option<Span> = None;
        let mut receiver = Span::default();
        for capture in found.captures() {
            match query.capture_names()[capture.index as usize] {
                "reference.call" => call = Some(span(capture.node)),
                "receiver" => receiver = span(capture.node),
                _ => {}
            }
        }
        if let Some(name) = call.filter(|name| within.holds(*name) && !covered(&nested, *name)) {
            calls.push(CallSite { name, receiver });
        }
    });
    calls.sort_by_key(|call| (call.name, Reverse(call.receiver.end)));
    calls.dedup_by_key(|call| call.name);
    calls
}

/// The places where a word stands as a whole word. `$` joins words where it is used at all.
pub(crate) fn words<'t>(text: &'t str, word: &'t str) -> impl Iterator<Item = Span> + 't {
    let joins = |c: char| c == '_' || c == '$' || c.is_alphanumeric();
    let dollar = word.starts_with('$');
    memchr::memmem::find_iter(text.as_bytes(), word.as_bytes()).filter_map(move |at| {
        let end = at + word.len();
        let before = text.get(..at)?.chars().next_back().is_some_and(|c| joins(c) && (c != '$' || dollar));
        let after = text.get(end..)?.chars().next().is_some_and(joins);
        (!word.is_empty() && !before && !after).then(|| Span::new(at, end))
    })
}

/// The same as mentions, of a text without a tree.
pub(crate) fn plain_mentions(text: &str, word: &str) -> Vec<Mention> {
    words(text, word).map(|span| Mention { span, role: Role::Reference, member: false }).collect()
}

/// Visits every capture of a query in a stretch of the text.
pub(crate) fn each(
    query: Option<&Query>,
    tree: &Tree,
    text: &str,
    within: Span,
    mut visit: impl FnMut(&str, Span),
) {
    each_match(query, tree, text, within, |query, found| {
        for capture in found.captures() {
            visit(query.capture_names()[capture.index as usize], span(capture.node));
        }
    });
}

/// Visits every match of a query, if there is one, that touches a stretch of the text.
pub(crate) fn each_match(
    query: Option<&Query>,
    tree: &Tree,
    text: &str,
    within: Span,
    mut visit: impl FnMut(&Query, &QueryMatch<'_, '_>),
) {
    let Some(query) = query.filter(|_| !is_loose(tree)) else { return };
    let mut cursor = QueryCursor::new();
    cursor.set_byte_range(within.range());
    let mut matches = cursor.matches(query, tree.root_node(), text.as_bytes());
    while let Some(found) = matches.next() {
        visit(query, found);
    }
}

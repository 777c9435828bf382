//! Which plain names mean a member of a type: beside it in the type, where the language lets its
//! members be named so, and in literals of the type.

use tectum_syntax::{Bodies, Outline, Role, Span, Symbol, names};

use super::{
    around::before_comments,
    hides::Hidden,
    literal::{is_braced, is_key, type_around},
    target::{Seen, Target},
};

impl Target {
    /// A plain name inside the type that holds the target.
    pub(super) fn beside(&self, seen: &Seen<'_>, around: Span) -> Option<bool> {
        let Seen { file, mention, hidden, .. } = *seen;
        let span = mention.span;
        // The other half of a property, an overload: members of one name and kind go together.
        if let Some(symbol) = file.outline.symbols.iter().find(|symbol| symbol.name == span) {
            return (symbol.kind.is_callable() == self.callable).then_some(true);
        }
        if self.initialized_by(seen).is_some() {
            return Some(true);
        }
        let mut functions = functions(file.outline, around);
        if functions.any(|function| function.params.holds(span) && is_parameter(file.text, span)) {
            return None;
        }
        if !self::functions(file.outline, around).any(|function| function.body.holds(span)) {
            return hidden.or(Some(true));
        }
        let implicit = file.language.pack().style.implicit_receiver;
        let fits = (mention.role == Role::Call) == self.callable;
        if implicit && fits { hidden.or(Some(true)) } else { None }
    }

    /// A plain name outside of the type that holds the target.
    pub(super) fn of_type_elsewhere(&self, seen: &Seen<'_>, class: &str) -> Option<bool> {
        let Seen { file, mention, hidden, short, .. } = *seen;
        let of_class = |index: u32| {
            let path = names::path(file.text, file.outline, index);
            path.len() > 1 && path[path.len() - 2] == class
        };
        let mut symbols = (0u32..).zip(&file.outline.symbols);
        if symbols.any(|(index, symbol)| symbol.name == mention.span && of_class(index)) {
            return Some(true);
        }
        if self.initialized_by(seen).is_some_and(of_class) {
            return Some(true);
        }
        if mention.member {
            return Some(self.unique);
        }
        let braced = file.language.pack().style.bodies == Bodies::Braced;
        if !self.callable && braced && (short || is_key(file.text, mention.span)) {
            return self.keyed(seen, class);
        }
        // The name of an argument may stand for a field.
        if mention.role == Role::Attribute && !self.callable {
            return Some(false);
        }
        // A type that derives from it may call it so.
        let implicit = file.language.pack().style.implicit_receiver;
        let defined = file.outline.symbols.iter().any(|symbol| symbol.name == mention.span);
        let called = self.callable && mention.role == Role::Call;
        (implicit && called && hidden != Hidden::Yes && !defined).then_some(false)
    }

    /// A key of a literal or a pattern: of the type if that is written before it.
    fn keyed(&self, seen: &Seen<'_>, class: &str) -> Option<bool> {
        let Seen { file, mention, .. } = *seen;
        let before = &file.text[..mention.span.start as usize];
        let before = before_comments(before, &file.language.pack().style);
        let listed = before.ends_with(['{', ',']) && is_braced(before);
        if !listed || file.outline.symbols.iter().any(|symbol| symbol.name == mention.span) {
            return None;
        }
        let within = |symbol: &&Symbol| symbol.kind.is_type() && symbol.body.holds(mention.span);
        let own = file.outline.symbols.iter().filter(within).last();
        let own = own.is_some_and(|symbol| symbol.name.of(file.text) == class);
        match type_around(file.text, mention.span) {
            Some(name) if name == class => Some(true),
            Some("Self") => own.then_some(true),
            Some(name) if name.starts_with(char::is_uppercase) => None,
            _ => Some(false),
        }
    }

    /// The constructor in whose head a name is that of a field which gets its value there:
    /// `A(int x) : x(x) {}`.
    fn initialized_by(&self, seen: &Seen<'_>) -> Option<u32> {
        let Seen { file, mention, .. } = *seen;
        let (before, after) =
            (&file.text[..mention.span.start as usize], &file.text[mention.span.end as usize..]);
        let listed = before.trim_end().ends_with([':', ',']) && after.trim_start().starts_with(['(', '{']);
        if self.callable || !listed || !file.language.pack().style.arrow {
            return None;
        }
        let in_head = |symbol: &Symbol| {
            let after_params =
                symbol.params.end <= mention.span.start && mention.span.end <= symbol.body.start;
            symbol.kind.is_callable() && symbol.whole.holds(mention.span) && after_params
        };
        (0u32..).zip(&file.outline.symbols).find(|(_, symbol)| in_head(symbol)).map(|(index, _)| index)
    }
}

/// The functions of a type.
fn functions(outline: &Outline, around: Span) -> impl Iterator<Item = &Symbol> {
    let callable = outline.symbols.iter().filter(|symbol| symbol.kind.is_callable());
    callable.filter(move |symbol| around.holds(symbol.whole))
}

/// Whether a name among parameters is that of one, and not part of a type or of a default.
fn is_parameter(text: &str, span: Span) -> bool {
    let before = text[..span.start as usize].trim_end();
    let after = text[span.end as usize..].trim_start();
    let ends = after.is_empty() || after.starts_with([',', ')', '=', ':', '?', '[', '}']);
    ends && !before.ends_with(['=', ':', '.', '+', '-', '/', '|', '?'])
}

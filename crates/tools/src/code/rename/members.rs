//! The plain names that mean a member of a type: beside it in the type, where the language lets its
//! members be named so, and in literals of the type.

use tectum_syntax::{
    Bodies, Kind, Language, Mention, Outline, Reach, Role, Span, Stop, Symbol, Unparsed, names,
};

use super::{
    around::{before_comments, last_word},
    literal::{is_braced, is_key, type_around},
    target::{File, NamePlace, Target},
    verdict::{Hidden, Verdict},
};

impl Target {
    /// A name that is taken from something.
    pub(super) fn taken_from(
        &self,
        seen: &NamePlace<'_>,
        class: &str,
        around: Span,
        before: &str,
    ) -> Verdict {
        let NamePlace { file, own, mention, .. } = *seen;
        if before == class {
            return Verdict::sure_if(own || self.unique_home || self.unique);
        }
        // A path that begins with another type leads to what that has; one letter is any type.
        let path = file.text[..mention.span.start as usize].trim_end().ends_with("::");
        if path && before.len() > 1 && before != "Self" && before.starts_with(char::is_uppercase) {
            return Verdict::Maybe;
        }
        if !file.language.pack().style.receivers.contains(&before) {
            return Verdict::sure_if(self.unique);
        }
        let holds = |symbol: &&Symbol| symbol.kind.is_type() && symbol.whole.holds(mention.span);
        let inner = file.outline.symbols.iter().rfind(holds);
        // A type inside the type has receivers of its own.
        if own && around.holds(mention.span) && inner.is_none_or(|inner| !is_within(inner, around)) {
            return Verdict::Target;
        }
        match inner {
            Some(symbol) if is_kin(file, symbol, class) => Verdict::Target,
            // What an object gives itself is its own, whatever the project calls so.
            Some(symbol) if gives_itself(seen, before, symbol.whole, &self.old) => Verdict::Maybe,
            _ => Verdict::sure_if(self.unique),
        }
    }

    /// A plain name inside the type that holds the target.
    pub(super) fn beside(&self, seen: &NamePlace<'_>, around: Span) -> Verdict {
        let NamePlace { file, mention, hidden, .. } = *seen;
        let span = mention.span;
        // The other half of a property, an overload: members of one name and kind go together.
        if let Some(symbol) = file.outline.symbols.iter().find(|symbol| symbol.name == span) {
            let parent = symbol.parent.map(|at| &file.outline.symbols[at as usize]);
            let deeper = parent.is_some_and(|parent| is_within(parent, around));
            return Verdict::Target.only_if(symbol.kind.is_callable() == self.callable && !deeper);
        }
        if self.initialized_by(seen).is_some() {
            return Verdict::Target;
        }
        let mut functions = functions(file.outline, around);
        if functions.any(|function| function.params.holds(span) && is_parameter(file.text, span)) {
            return Verdict::Other;
        }
        if !self::functions(file.outline, around).any(|function| function.body.holds(span)) {
            return hidden.or(Verdict::Target);
        }
        let implicit = file.language.pack().style.implicit_receiver;
        // A type is called where it is constructed.
        let fits = !self.is_value || (mention.role == Role::Call) == self.callable;
        hidden.or(Verdict::Target).only_if(implicit && fits)
    }

    /// A plain name outside of the type that holds the target.
    pub(super) fn of_type_elsewhere(&self, seen: &NamePlace<'_>, class: &str) -> Verdict {
        let NamePlace { file, own, mention, hidden, short } = *seen;
        let of_class = |index: u32| {
            let path = names::path(file.text, file.outline, index);
            path.len() > 1 && path[path.len() - 2] == class
        };
        let mut symbols = (0u32..).zip(&file.outline.symbols);
        if let Some((index, symbol)) = symbols.find(|(_, symbol)| symbol.name == mention.span) {
            let parent = symbol.parent.map(|at| &file.outline.symbols[at as usize]);
            // What takes the place of it in a type that derives from its own goes along.
            let kin = parent.is_some_and(|parent| is_kin(file, parent, class));
            let same_kind = symbol.kind.is_callable() == self.callable;
            let sure = own || self.unique_home;
            return Verdict::sure_if(sure).only_if(of_class(index) || (kin && same_kind));
        }
        // A definition in a macro is no symbol.
        let before = file.text[..mention.span.start as usize].trim_end();
        if file.language.pack().style.defining.contains(&last_word(before)) {
            return Verdict::Maybe;
        }
        if self.initialized_by(seen).is_some_and(of_class) {
            return Verdict::Target;
        }
        if mention.member {
            return Verdict::sure_if(self.unique);
        }
        let braced = file.language.pack().style.bodies == Bodies::Braced;
        if !self.callable && braced && (short || is_key(file.text, mention.span)) {
            return self.keyed(seen, class);
        }
        // The name of an argument may stand for a field.
        if mention.role == Role::Attribute && !self.callable {
            return Verdict::Maybe;
        }
        // A type that derives from it may call it so.
        let implicit = file.language.pack().style.implicit_receiver;
        let defined = file.outline.symbols.iter().any(|symbol| symbol.name == mention.span);
        let called = self.callable && mention.role == Role::Call;
        Verdict::Maybe.only_if(implicit && called && hidden != Hidden::Yes && !defined)
    }

    /// A key of a literal or a pattern: of the type if that is written before it.
    fn keyed(&self, seen: &NamePlace<'_>, class: &str) -> Verdict {
        let NamePlace { file, mention, .. } = *seen;
        let before = &file.text[..mention.span.start as usize];
        let before = before_comments(before, &file.language.pack().style);
        let listed = before.ends_with(['{', ',']) && is_braced(before);
        if !listed || file.outline.symbols.iter().any(|symbol| symbol.name == mention.span) {
            return Verdict::Other;
        }
        let within = |symbol: &&Symbol| symbol.kind.is_type() && symbol.body.holds(mention.span);
        let own = file.outline.symbols.iter().rfind(within);
        let own = own.is_some_and(|symbol| symbol.name.slice(file.text) == class);
        match type_around(file.text, mention.span) {
            Some(name) if name == class => Verdict::Target,
            Some("Self") => Verdict::Target.only_if(own),
            Some(name) if name.starts_with(char::is_uppercase) => Verdict::Other,
            _ => Verdict::Maybe,
        }
    }

    /// The constructor in whose head a name is that of a field which gets its value there:
    /// `A(int x) : x(x) {}`.
    fn initialized_by(&self, seen: &NamePlace<'_>) -> Option<u32> {
        let NamePlace { file, mention, .. } = *seen;
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

/// True if a symbol lies in a stretch and is not all of it.
fn is_within(symbol: &Symbol, around: Span) -> bool {
    around.holds(symbol.whole) && symbol.whole != around
}

/// True if a literal of a file has a key of this name: objects that no type of the project describes
/// have it too.
pub(super) fn is_key_of_any(
    language: &Language,
    text: &str,
    name: &str,
    stop: Stop<'_>,
) -> Result<bool, Unparsed> {
    let style = &language.pack().style;
    if style.bodies != Bodies::Braced || style.separator != "." || style.reach != Reach::Imported {
        return Ok(false);
    }
    if !language.shorts(text, name, stop)?.is_empty() {
        return Ok(true);
    }
    let mentions = language.mentions(text, name, stop)?;
    let key = |mention: &Mention| {
        let before = before_comments(&text[..mention.span.start as usize], style);
        let listed = before.ends_with(['{', ',']) && is_braced(before);
        mention.role == Role::Reference && !mention.member && listed && is_key(text, mention.span)
    };
    Ok(mentions.iter().any(key))
}

/// Types that may stand between one and what it derives from in a file; more are not followed.
const MOST_BETWEEN: usize = 8;

/// True if a type is the class, is added to it, or derives from it as far as the file tells.
fn is_kin(file: &File<'_>, symbol: &Symbol, class: &str) -> bool {
    let mut known = vec![class];
    for _ in 0..MOST_BETWEEN {
        if known.iter().any(|name| derives(file.text, symbol, name)) {
            return true;
        }
        let between = file.outline.symbols.iter().filter(|other| other.kind != Kind::Impl);
        let between = between.filter(|other| known.iter().any(|name| derives(file.text, other, name)));
        let fresh: Vec<&str> = between.map(|other| other.name.slice(file.text)).collect();
        let before = known.len();
        known.extend(fresh);
        known.sort_unstable();
        known.dedup();
        if known.len() == before {
            break;
        }
    }
    false
}

/// True if a type is called so, or names it in its head as what it derives from.
fn derives(text: &str, symbol: &Symbol, name: &str) -> bool {
    let head = symbol.head.slice(text);
    if !symbol.kind.is_type() {
        return false;
    }
    if symbol.name.slice(text) == name {
        return true;
    }
    if symbol.kind == Kind::Impl {
        return trait_of(head) == Some(name);
    }
    // What stands in brackets behind another type is no base.
    head.match_indices(name).any(|(at, _)| {
        let (before, after) = (&head[..at], &head[at + name.len()..]);
        let joins = |c: char| c == '_' || c.is_alphanumeric();
        let whole = !before.ends_with(joins) && !after.starts_with(joins);
        whole && !before.trim_end().ends_with(['<', '['])
    })
}

/// The trait that a block implements, by the head of the block.
pub(super) fn trait_of(head: &str) -> Option<&str> {
    let words: Vec<(usize, &str)> = head.match_indices(" for ").collect();
    let (at, _) = words.last()?;
    let mut before = head[..*at].trim_end();
    if before.ends_with('>') {
        let mut depth = 0usize;
        let open = before.char_indices().rev().find(|(_, c)| {
            match c {
                '>' => depth += 1,
                '<' => depth = depth.saturating_sub(1),
                _ => {}
            }
            depth == 0
        });
        before = &before[..open?.0];
    }
    Some(last_word(before)).filter(|name| !name.is_empty())
}

/// True if a member is given to the receiver somewhere in its type: `self.name = …`.
fn gives_itself(seen: &NamePlace<'_>, receiver: &str, within: Span, name: &str) -> bool {
    let text = within.slice(seen.file.text);
    text.match_indices(name).any(|(at, _)| {
        let after = text[at + name.len()..].trim_start();
        let taken = text[..at].strip_suffix('.').is_some_and(|before| before.ends_with(receiver));
        taken && after.starts_with('=') && !after.starts_with("==")
    })
}

/// The functions of a type.
fn functions(outline: &Outline, around: Span) -> impl Iterator<Item = &Symbol> {
    let callable = outline.symbols.iter().filter(|symbol| symbol.kind.is_callable());
    callable.filter(move |symbol| around.holds(symbol.whole))
}

/// True if a name among parameters is that of one, and not part of a type or of a default.
fn is_parameter(text: &str, span: Span) -> bool {
    let before = text[..span.start as usize].trim_end();
    let after = text[span.end as usize..].trim_start();
    let ends = after.is_empty() || after.starts_with([',', ')', '=', ':', '?', '[', '}']);
    ends && !before.ends_with(['=', ':', '.', '+', '-', '/', '|', '?'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_trait_of_a_block_is_found() {
        for (head, expect) in [
            ("impl Show for A", Some("Show")),
            ("impl<T: Other> fmt::Show<Vec<T>> for A<T>", Some("Show")),
            ("impl<F: for<'a> Fn(&'a u8)> Show for A<F>", Some("Show")),
            ("impl A", None),
            ("unsafe impl !Send for A", Some("Send")),
        ] {
            assert_eq!(trait_of(head), expect, "{head}");
        }
    }
}

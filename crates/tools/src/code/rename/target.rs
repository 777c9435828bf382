//! What is renamed, and which places of a file mean it.

use std::ops::Range;

use tectum_syntax::{Bodies, Language, Mention, Outline, Role, Span, Stop, Unparsed, names};

use super::{
    around::{chain, is_key, is_parameter, is_quoted},
    hides::Hidden,
    knows::{Knows, Plainly},
    passing::Door,
    taken::{Clash, Scene},
    through::Through,
};

/// A symbol that gets another name.
#[derive(Debug)]
pub(super) struct Target {
    /// Its own name now.
    pub(super) old: String,
    /// Its name afterwards.
    pub(super) new: String,
    /// The file that defines it, as calls spell it.
    pub(super) file: String,
    /// Its place there.
    pub(super) name: Span,
    /// What it belongs to.
    pub(super) home: Home,
    /// Whether it can be called: a field and a method of one name are two things.
    pub(super) callable: bool,
    /// The namespace it stands in, if it does.
    pub(super) namespace: Option<String>,
    /// True when nothing else in the project is defined under its name.
    pub(super) unique: bool,
    /// The files that import it under its name, and so pass it on.
    pub(super) passing: Vec<String>,
    /// The files that know its module under a name.
    pub(super) doors: Vec<Door>,
}

/// What a symbol belongs to.
#[derive(Debug)]
pub(super) enum Home {
    /// Its file.
    File,
    /// A type: its name and its place.
    Type(String, Span),
    /// A function, outside of which nobody knows it.
    Function(Span),
}

/// The places of one file.
#[derive(Debug, Default)]
pub(super) struct Places {
    /// These are renamed.
    pub(super) certain: Vec<Span>,
    /// These may mean it or something else of that name, and stay.
    pub(super) uncertain: Vec<Span>,
    /// How many stand in strings and comments, which stay.
    pub(super) in_text: usize,
    /// Why the new name cannot be had here.
    pub(super) clash: Option<Clash>,
}

/// One file, read.
pub(super) struct File<'f> {
    pub(super) name: &'f str,
    pub(super) text: &'f str,
    pub(super) language: &'f Language,
    pub(super) outline: &'f Outline,
}

impl Target {
    /// Sorts the places where the old name stands in a file.
    pub(super) fn places(&self, file: &File<'_>, stop: Stop<'_>) -> Result<Places, Unparsed> {
        let mentions = file.language.mentions(file.text, &self.old, stop)?;
        let mut places = Places::default();
        if mentions.is_empty() {
            return Ok(places);
        }
        let own = file.name == self.file;
        let imports = file.language.imports(file.text, stop)?;
        let knows = self.knows(file, own, &imports);
        let hides = self.hides(file, own, &knows, stop)?;
        let through = Through::find(self, file, &imports, &mentions, stop)?;
        for mention in &mentions {
            if !mention.role.is_code() {
                places.in_text += 1;
                continue;
            }
            let seen = Seen { file, own, mention, hidden: hides.at(file, mention) };
            match self.judge(&seen, &knows, &through) {
                Some(true) => places.certain.push(mention.span),
                Some(false) => places.uncertain.push(mention.span),
                None => {}
            }
        }
        let certain = |mention: &&Mention| places.certain.binary_search(&mention.span).is_ok();
        let certain: Vec<&Mention> = mentions.iter().filter(certain).collect();
        let scene = Scene { file, own, imports: &imports, knows: &knows, hides: &hides };
        places.clash = self.clash(&scene, &certain, stop)?;
        Ok(places)
    }

    /// True: it means the target. False: it may. None: it means something else.
    fn judge(&self, seen: &Seen<'_>, knows: &Knows, through: &Through) -> Option<bool> {
        let Seen { file, own, mention, hidden } = *seen;
        let span = mention.span;
        if own && span == self.name {
            return Some(true);
        }
        let before = chain(file.text, mention, &file.language.pack().style).last().copied();
        match (&self.home, before) {
            (Home::Function(around), _) if !own || !around.holds(span) => None,
            (Home::Function(_), None) if mention.member => None,
            (Home::Function(_), None) => hidden.or(Some(true)),
            (Home::Function(_), Some(_)) => None,
            // A member of a literal or of a module is no member of the type.
            (Home::Type(..), Some("")) if is_quoted(file.text, span) => None,
            (Home::Type(class, _), Some(before)) if before != class && through.is_module(span) => None,
            (Home::Type(class, around), Some(before)) => {
                let receiver = file.language.pack().style.receivers.contains(&before);
                let inside = own && around.holds(span);
                Some((receiver && inside) || before == class || self.unique)
            }
            (Home::Type(_, around), None) if own && around.holds(span) && !mention.member => {
                self.beside(seen, *around)
            }
            (Home::Type(class, _), None) => self.of_type_elsewhere(seen, class),
            (Home::File, Some(before)) => self.qualified(seen, before, knows, through),
            // An argument's name is a parameter's.
            (Home::File, None) if mention.member || mention.role == Role::Attribute => None,
            (Home::File, None) => hidden.or(self.plain(file, mention, knows)),
        }
    }

    /// A name that is taken from something, where the target belongs to its file.
    fn qualified(&self, seen: &Seen<'_>, before: &str, knows: &Knows, through: &Through) -> Option<bool> {
        let Seen { file, own, mention, .. } = *seen;
        if knows.modules.iter().any(|module| module == before) {
            return Some(true);
        }
        if let Some(meant) = through.of(mention.span) {
            return meant;
        }
        // A path may lead through modules that pass the name on; a type's own functions do not.
        let path = file.language.pack().style.separator == "::";
        let of_module = path && before.starts_with(|c: char| c == '_' || c.is_lowercase());
        (!mention.member || own || of_module).then_some(false)
    }

    /// A plain name inside the type that holds the target.
    fn beside(&self, seen: &Seen<'_>, around: Span) -> Option<bool> {
        let Seen { file, mention, hidden, .. } = *seen;
        let span = mention.span;
        // The other half of a property, an overload: members of one name and kind go together.
        if let Some(symbol) = file.outline.symbols.iter().find(|symbol| symbol.name == span) {
            return (symbol.kind.is_callable() == self.callable).then_some(true);
        }
        if !self.in_function(file.outline, around, span) {
            return Some(true);
        }
        let implicit = file.language.pack().style.implicit_receiver;
        let fits = (mention.role == Role::Call) == self.callable;
        if implicit && fits { hidden.or(Some(true)) } else { None }
    }

    /// A plain name outside of the type that holds the target.
    fn of_type_elsewhere(&self, seen: &Seen<'_>, class: &str) -> Option<bool> {
        let Seen { file, mention, hidden, .. } = *seen;
        let out_of_line = (0u32..).zip(&file.outline.symbols).any(|(index, symbol)| {
            let path = names::path(file.text, file.outline, index);
            symbol.name == mention.span && path.len() > 1 && path[path.len() - 2] == class
        });
        if out_of_line {
            return Some(true);
        }
        if mention.member {
            return Some(self.unique);
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

    /// A plain name that nothing hides.
    fn plain(&self, file: &File<'_>, mention: &Mention, knows: &Knows) -> Option<bool> {
        let span = mention.span;
        if knows.foreign.iter().any(|import| import.holds(span)) {
            return None;
        }
        if let Some(symbol) = file.outline.symbols.iter().find(|symbol| symbol.name == span) {
            let member = symbol.parent.is_some_and(|at| {
                let parent = &file.outline.symbols[at as usize];
                parent.kind.is_type() || parent.kind.is_callable()
            });
            if member || !symbol.scope.is_empty() {
                return None;
            }
        }
        let style = &file.language.pack().style;
        if is_parameter(file.text, span, style) {
            return None;
        }
        let keyed = style.bodies != Bodies::Indented;
        match knows.plainly {
            Plainly::No => None,
            Plainly::OnlyImport => (mention.role == Role::Import).then_some(true),
            Plainly::Maybe => Some(false),
            Plainly::Yes if keyed && mention.role == Role::Reference && is_key(file.text, span, style) => {
                Some(false)
            }
            Plainly::Yes => Some(true),
        }
    }

    /// Whether a place lies in the body of a function of a type.
    fn in_function(&self, outline: &Outline, around: Span, span: Span) -> bool {
        let callable = outline.symbols.iter().filter(|symbol| symbol.kind.is_callable());
        callable.filter(|symbol| around.holds(symbol.whole)).any(|symbol| symbol.body.holds(span))
    }
}

/// A place of the old name, with what is around it.
#[derive(Clone, Copy)]
struct Seen<'s> {
    file: &'s File<'s>,
    own: bool,
    mention: &'s Mention,
    hidden: Hidden,
}

/// The edits that rename these places.
pub(super) fn edits(places: &[Span], new: &str) -> Vec<(Range<usize>, String)> {
    places.iter().map(|place| (place.range(), new.to_owned())).collect()
}

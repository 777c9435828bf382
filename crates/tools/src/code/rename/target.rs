//! What is renamed, and which places of a file mean it.

use std::ops::Range;

use tectum_syntax::{Bodies, Import, Language, Mention, Outline, Role, Span, Stop, Symbol, Unparsed, names};

use super::{
    around::{chain, is_of_module, is_of_path, is_parameter, is_quoted},
    hides::Hidden,
    knows::{Knows, Plainly},
    literal::{Short, is_exported, is_given, is_key},
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
    /// Whether it is a macro.
    pub(super) is_macro: bool,
    /// Whether it is no type and no module, so that nothing is taken from it by a path.
    pub(super) is_value: bool,
    /// The namespace it stands in, if it does.
    pub(super) namespace: Option<String>,
    /// The whole name of that.
    pub(super) space: Vec<String>,
    /// True when nothing else in the project is defined under its name.
    pub(super) unique: bool,
    /// True when no other type of the project is called as the one it belongs to.
    pub(super) unique_home: bool,
    /// The files that import it under its name, and so pass it on.
    pub(super) passing: Vec<String>,
    /// The files that know its module under a name.
    pub(super) doors: Vec<Door>,
    /// The files that are modules of its name.
    pub(super) namesakes: Vec<String>,
    /// What else its new name asks for.
    pub(super) note: Option<String>,
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
    /// Those of them that are a key and its value in one, of which one is renamed.
    pub(super) short: Vec<(Span, Short)>,
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
        let shorts = file.language.shorts(file.text, &self.old, stop)?;
        let through = Through::find(self, file, &imports, &mentions, stop)?;
        let quoted = mentions.iter().any(|mention| mention.role == Role::String);
        let strings = if quoted { file.language.strings(file.text) } else { Vec::new() };
        for mention in &mentions {
            if mention.role == Role::String && self.is_quoted_name(file, &knows, &strings, mention.span) {
                places.uncertain.push(mention.span);
                continue;
            }
            if !mention.role.is_code() {
                places.in_text += 1;
                continue;
            }
            if self.is_module_word(file, &imports, mention) {
                continue;
            }
            let short = shorts.binary_search(&mention.span).is_ok();
            let seen = Seen { file, own, mention, short, hidden: hides.at(file, mention) };
            match self.judge(&seen, &knows, &through) {
                Some(true) => {
                    places.certain.push(mention.span);
                    places.short.extend(self.short(&seen).map(|short| (mention.span, short)));
                }
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

    /// Whether a word names a module, which has a name of its own.
    pub(super) fn is_module_word(&self, file: &File<'_>, imports: &[Import], mention: &Mention) -> bool {
        let style = &file.language.pack().style;
        let of_import = |import: &Import| {
            import.span.holds(mention.span) && is_of_module(file.text, import.span, mention.span, style)
        };
        (mention.role == Role::Import && imports.iter().any(of_import))
            || (self.is_value && is_of_path(file.text, mention.span, style))
    }

    /// True: it means the target. False: it may. None: it means something else.
    fn judge(&self, seen: &Seen<'_>, knows: &Knows, through: &Through) -> Option<bool> {
        let Seen { file, own, mention, hidden, .. } = *seen;
        let span = mention.span;
        if own && span == self.name {
            return Some(true);
        }
        if let Home::Type(class, _) = &self.home
            && let Some(meant) = self.constructs(seen, class)
        {
            return Some(meant);
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
            (Home::Type(class, around), Some(before)) => self.taken_from(seen, class, *around, before),
            (Home::Type(_, around), None) if own && around.holds(span) && !mention.member => {
                self.beside(seen, *around)
            }
            (Home::Type(class, _), None) => self.of_type_elsewhere(seen, class),
            (Home::File, Some(before)) => self.qualified(seen, before, knows, through),
            // An argument's name is a parameter's.
            (Home::File, None) if mention.member || mention.role == Role::Attribute => None,
            (Home::File, None) => hidden.or(self.plain(seen, knows)),
        }
    }

    /// A name that is taken from something, where the target belongs to its file.
    fn qualified(&self, seen: &Seen<'_>, before: &str, knows: &Knows, through: &Through) -> Option<bool> {
        let Seen { file, own, mention, .. } = *seen;
        let mut symbols = file.outline.symbols.iter().filter(|symbol| symbol.name == mention.span);
        let constructor = symbols.any(|symbol| self.is_constructor(file, symbol));
        if constructor || knows.modules.iter().any(|module| module == before) {
            return Some(true);
        }
        if let Some(meant) = through.of(mention.span) {
            return meant;
        }
        // `require("module").name`.
        if mention.member && mention.role == Role::Import && file.language.pack().style.separator == "." {
            let imported = knows.imported.iter().any(|import| import.holds(mention.span));
            return imported.then_some(knows.plainly != Plainly::Maybe);
        }
        if own && before == "exports" && is_given(file.text, mention.span, '=') {
            return Some(true);
        }
        // A path may lead through modules that pass the name on; a type's own functions do not.
        let path = file.language.pack().style.separator == "::";
        let of_module = path && before.starts_with(|c: char| c == '_' || c.is_lowercase());
        (!mention.member || own || of_module).then_some(false)
    }

    /// Whether a place is the name of a constructor or destructor of the target, which is a type
    /// inside another: true if it certainly is.
    fn constructs(&self, seen: &Seen<'_>, class: &str) -> Option<bool> {
        let Seen { file, own, mention, .. } = *seen;
        let index = file.outline.symbols.iter().position(|symbol| symbol.name.holds(mention.span))?;
        let symbol = &file.outline.symbols[index];
        if !self.is_constructor(file, symbol) {
            return None;
        }
        let path = names::path(file.text, file.outline, index as u32);
        let inside = path.len() > 2 && path[path.len() - 3] == class;
        inside.then_some(own || self.unique_home)
    }

    /// Whether a symbol of the target's name constructs the target, which is a type: in it, or
    /// written with its name before it.
    fn is_constructor(&self, file: &File<'_>, symbol: &Symbol) -> bool {
        let style = &file.language.pack().style;
        let named = style.implicit_receiver && style.bodies == Bodies::Braced;
        let parent = symbol.parent.map(|at| &file.outline.symbols[at as usize]);
        let inside = parent.is_some_and(|parent| {
            parent.kind.is_type() && parent.name.of(file.text) == self.old && symbol.scope.is_empty()
        });
        let scope = symbol.scope.of(file.text);
        let outside = scope.rsplit("::").next().and_then(|last| last.split('<').next());
        named && !self.is_value && symbol.kind.is_callable() && (inside || outside == Some(self.old.as_str()))
    }

    /// A plain name that nothing hides.
    fn plain(&self, seen: &Seen<'_>, knows: &Knows) -> Option<bool> {
        let Seen { file, own, mention, short, .. } = *seen;
        let span = mention.span;
        let imported = knows.imported.iter().any(|import| import.holds(span));
        match self.is_in_its_space(file, span) {
            Some(false) if own && !imported => return None,
            // Nothing around it has the name, unless the file imports it from its own module.
            None if own && !self.space.is_empty() && knows.rivals.is_empty() && !imported => {
                return Some(false);
            }
            _ => {}
        }
        if knows.foreign.iter().any(|import| import.holds(span)) {
            return None;
        }
        // Something else under its name in the same scope: which of them is meant may depend.
        if knows.rivals.iter().any(|import| import.holds(span)) {
            return Some(false);
        }
        if let Some(symbol) = file.outline.symbols.iter().find(|symbol| symbol.name == span) {
            let member = symbol.parent.is_some_and(|at| {
                let parent = &file.outline.symbols[at as usize];
                parent.kind.is_type() || parent.kind.is_callable()
            });
            if member || !symbol.scope.is_empty() {
                return self.is_constructor(file, symbol).then_some(true);
            }
        }
        let style = &file.language.pack().style;
        if is_parameter(file.text, span, style) {
            return None;
        }
        let key = style.bodies != Bodies::Indented && mention.role == Role::Reference && !short;
        let key = key && is_key(file.text, span);
        match knows.plainly {
            Plainly::No => None,
            Plainly::OnlyImport => (mention.role == Role::Import).then_some(true),
            Plainly::Maybe => Some(false),
            Plainly::Yes if key => {
                let given = is_exported(file.text, span) && is_given(file.text, span, ':');
                Some(given && file.name == self.file)
            }
            Plainly::Yes => Some(true),
        }
    }
}

/// A place of the old name, with what is around it.
#[derive(Clone, Copy)]
pub(super) struct Seen<'s> {
    pub(super) file: &'s File<'s>,
    pub(super) own: bool,
    pub(super) mention: &'s Mention,
    /// It is a key and its value in one.
    pub(super) short: bool,
    pub(super) hidden: Hidden,
}

/// The edits that rename the places of a file.
pub(super) fn edits(places: &Places, target: &Target) -> Vec<(Range<usize>, String)> {
    let written = |place: &Span| {
        let short = places.short.iter().find(|(short, _)| short == place);
        match short.map(|(_, short)| short) {
            Some(Short::Key) => format!("{}: {}", target.new, target.old),
            Some(Short::Value) => format!("{}: {}", target.old, target.new),
            None => target.new.clone(),
        }
    };
    places.certain.iter().map(|place| (place.range(), written(place))).collect()
}

//! The places of a file that mean the target.

use std::ops::Range;

use tectum_syntax::{Bodies, Mention, Role, Span, Stop, Symbol, Unparsed, names};

use super::{
    around::{chain, is_parameter, is_quoted},
    knows::{Knows, Plainly},
    literal::{Short, is_exported, is_given, is_key},
    spaces::Space,
    taken::{Clash, Scene},
    target::{File, Home, NamePlace, Target},
    through::Through,
    verdict::Verdict,
};

/// The places of one file.
#[derive(Debug, Default)]
pub(super) struct JudgedPlaces {
    /// Places that mean the target; they are renamed.
    pub(super) certain: Vec<Span>,
    /// Shorthand properties among them (`{ name }`), with the half that is renamed.
    pub(super) short: Vec<(Span, Short)>,
    /// Places that may mean the target or something else of that name; they stay.
    pub(super) uncertain: Vec<Span>,
    /// Number of mentions in strings and comments; they stay.
    pub(super) in_text: usize,
    /// The reason why the new name cannot be used here.
    pub(super) clash: Option<Clash>,
}

impl Target {
    /// Sorts the places where the old name stands in a file.
    pub(super) fn places(&self, file: &File<'_>, stop: Stop<'_>) -> Result<JudgedPlaces, Unparsed> {
        let mentions = file.language.mentions(file.text, &self.old, stop)?;
        let mut places = JudgedPlaces::default();
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
            let seen = NamePlace { file, own, mention, short, hidden: hides.at(file, mention) };
            match self.judge(&seen, &knows, &through) {
                Verdict::Target => {
                    places.certain.push(mention.span);
                    places.short.extend(self.short(&seen).map(|short| (mention.span, short)));
                }
                Verdict::Maybe => places.uncertain.push(mention.span),
                Verdict::Other => {}
            }
        }
        let certain = |mention: &&Mention| places.certain.binary_search(&mention.span).is_ok();
        let certain: Vec<&Mention> = mentions.iter().filter(certain).collect();
        let scene = Scene { file, own, imports: &imports, knows: &knows, hides: &hides };
        places.clash = self.clash(&scene, &certain, stop)?;
        Ok(places)
    }

    fn judge(&self, seen: &NamePlace<'_>, knows: &Knows, through: &Through) -> Verdict {
        let NamePlace { file, own, mention, hidden, .. } = *seen;
        let span = mention.span;
        if own && span == self.name {
            return Verdict::Target;
        }
        if let Home::Type(class, _) = &self.home
            && let Some(meant) = self.constructs(seen, class)
        {
            return meant;
        }
        let before = chain(file.text, mention, &file.language.pack().style).last().copied();
        match (&self.home, before) {
            (Home::Function(around), _) if !own || !around.holds(span) => Verdict::Other,
            (Home::Function(_), None) if mention.member => Verdict::Other,
            (Home::Function(_), None) => hidden.or(Verdict::Target),
            (Home::Function(_), Some(_)) => Verdict::Other,
            // A member of a literal or of a module is no member of the type.
            (Home::Type(..), Some("")) if is_quoted(file.text, span) => Verdict::Other,
            (Home::Type(class, _), Some(before)) if before != class && through.is_module(span) => {
                Verdict::Other
            }
            (Home::Type(class, around), Some(before)) => self.taken_from(seen, class, *around, before),
            (Home::Type(_, around), None) if own && around.holds(span) && !mention.member => {
                self.beside(seen, *around)
            }
            (Home::Type(class, _), None) => self.of_type_elsewhere(seen, class),
            (Home::File, Some(before)) => self.qualified(seen, before, knows, through),
            // An argument's name is a parameter's.
            (Home::File, None) if mention.member || mention.role == Role::Attribute => Verdict::Other,
            (Home::File, None) => hidden.or(self.plain(seen, knows)),
        }
    }

    /// A name that is taken from something, where the target belongs to its file.
    fn qualified(&self, seen: &NamePlace<'_>, before: &str, knows: &Knows, through: &Through) -> Verdict {
        let NamePlace { file, own, mention, .. } = *seen;
        let mut symbols = file.outline.symbols.iter().filter(|symbol| symbol.name == mention.span);
        let constructor = symbols.any(|symbol| self.is_constructor(file, symbol));
        if constructor || knows.modules.iter().any(|module| module == before) {
            return Verdict::Target;
        }
        if let Some(meant) = through.verdict(mention.span) {
            return meant;
        }
        // `require("module").name`.
        if mention.member && mention.role == Role::Import && file.language.pack().style.separator == "." {
            let imported = knows.imported.iter().any(|import| import.holds(mention.span));
            return Verdict::sure_if(knows.plainly != Plainly::Maybe).only_if(imported);
        }
        if own && before == "exports" && is_given(file.text, mention.span, '=') {
            return Verdict::Target;
        }
        // A path may lead through modules that pass the name on; a type's own functions do not.
        let path = file.language.pack().style.separator == "::";
        let of_module = path && before.starts_with(|c: char| c == '_' || c.is_lowercase());
        Verdict::Maybe.only_if(!mention.member || own || of_module)
    }

    /// The verdict about a constructor or destructor of the target, which is a type inside another;
    /// `None` for a place that names neither.
    fn constructs(&self, seen: &NamePlace<'_>, class: &str) -> Option<Verdict> {
        let NamePlace { file, own, mention, .. } = *seen;
        let index = file.outline.symbols.iter().position(|symbol| symbol.name.holds(mention.span))?;
        let symbol = &file.outline.symbols[index];
        if !self.is_constructor(file, symbol) {
            return None;
        }
        let path = names::path(file.text, file.outline, index as u32);
        let inside = path.len() > 2 && path[path.len() - 3] == class;
        inside.then(|| Verdict::sure_if(own || self.unique_home))
    }

    /// True if a symbol of the target's name constructs the target, which is a type: in it, or
    /// written with its name before it.
    fn is_constructor(&self, file: &File<'_>, symbol: &Symbol) -> bool {
        let style = &file.language.pack().style;
        let named = style.implicit_receiver && style.bodies == Bodies::Braced;
        let parent = symbol.parent.map(|at| &file.outline.symbols[at as usize]);
        let inside = parent.is_some_and(|parent| {
            parent.kind.is_type() && parent.name.slice(file.text) == self.old && symbol.scope.is_empty()
        });
        let scope = symbol.scope.slice(file.text);
        let outside = scope.rsplit("::").next().and_then(|last| last.split('<').next());
        named && !self.is_value && symbol.kind.is_callable() && (inside || outside == Some(self.old.as_str()))
    }

    /// A plain name that nothing hides.
    fn plain(&self, seen: &NamePlace<'_>, knows: &Knows) -> Verdict {
        let NamePlace { file, own, mention, short, .. } = *seen;
        let span = mention.span;
        let imported = knows.imported.iter().any(|import| import.holds(span));
        match self.space_of(file, span) {
            Space::Another if own && !imported => return Verdict::Other,
            // Nothing around it has the name, unless the file imports it from its own module.
            Space::Nowhere if own && !self.space.is_empty() && knows.rivals.is_empty() && !imported => {
                return Verdict::Maybe;
            }
            _ => {}
        }
        if knows.foreign.iter().any(|import| import.holds(span)) {
            return Verdict::Other;
        }
        // Something else under its name in the same scope: which of them is meant may depend.
        if knows.rivals.iter().any(|import| import.holds(span)) {
            return Verdict::Maybe;
        }
        if let Some(symbol) = file.outline.symbols.iter().find(|symbol| symbol.name == span) {
            let member = symbol.parent.is_some_and(|at| {
                let parent = &file.outline.symbols[at as usize];
                parent.kind.is_type() || parent.kind.is_callable()
            });
            if member || !symbol.scope.is_empty() {
                return Verdict::Target.only_if(self.is_constructor(file, symbol));
            }
        }
        let style = &file.language.pack().style;
        if is_parameter(file.text, span, style) {
            return Verdict::Other;
        }
        let key = style.bodies != Bodies::Indented && mention.role == Role::Reference && !short;
        let key = key && is_key(file.text, span);
        match knows.plainly {
            Plainly::No => Verdict::Other,
            Plainly::OnlyImport => Verdict::Target.only_if(mention.role == Role::Import),
            Plainly::Maybe => Verdict::Maybe,
            Plainly::Yes if key => {
                let given = is_exported(file.text, span) && is_given(file.text, span, ':');
                Verdict::sure_if(given && file.name == self.file)
            }
            Plainly::Yes => Verdict::Target,
        }
    }
}

/// The edits that rename the places of a file.
pub(super) fn edits(places: &JudgedPlaces, target: &Target) -> Vec<(Range<usize>, String)> {
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

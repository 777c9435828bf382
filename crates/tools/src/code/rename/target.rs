//! What is renamed, and which places of a file mean it.

use std::ops::Range;

use tectum_syntax::{Import, Language, Mention, Outline, Reach, Span, Stop, Unparsed, names};

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
    /// True when nothing else in the project is defined under its name.
    pub(super) unique: bool,
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
    /// True when the new name is defined or imported here already.
    pub(super) clash: bool,
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
        let shadows = file.language.shadows(file.text, &self.old, stop)?;
        let own = file.name == self.file;
        // A stretch that binds the very symbol does not hide it.
        let shadowed =
            |span: Span| shadows.iter().any(|shadow| shadow.holds(span) && !(own && shadow.holds(self.name)));
        let imports = file.language.imports(file.text, stop)?;
        let knows = self.knows(file, own, &imports);
        for mention in &mentions {
            if !mention.role.is_code() {
                places.in_text += 1;
                continue;
            }
            match self.judge(file, own, mention, &knows, shadowed(mention.span)) {
                Some(true) => places.certain.push(mention.span),
                Some(false) => places.uncertain.push(mention.span),
                None => {}
            }
        }
        places.clash = !places.certain.is_empty() && self.clashes(file, own, &imports);
        Ok(places)
    }

    /// True: it means the target. False: it may. None: it means something else.
    fn judge(
        &self,
        file: &File<'_>,
        own: bool,
        mention: &Mention,
        knows: &Knows,
        shadowed: bool,
    ) -> Option<bool> {
        let span = mention.span;
        if own && span == self.name {
            return Some(true);
        }
        let qualifier = qualifier(file.text, span);
        match (&self.home, qualifier) {
            (Home::Function(around), _) if !own || !around.holds(span) => None,
            (Home::Function(_), None) => (!shadowed && !mention.member).then_some(true),
            (Home::Function(_), Some(_)) => None,
            (Home::Type(class, around), Some(before)) => {
                let receiver = file.language.pack().style.receivers.contains(&before);
                let inside = own && around.holds(span);
                Some((receiver && inside) || before == class || self.unique)
            }
            // The other half of a property, and what stands beside it in its type.
            (Home::Type(_, around), None) if own && around.holds(span) && !mention.member => {
                let defined = file.outline.symbols.iter().any(|symbol| symbol.name == span);
                let in_body = self.in_function(file.outline, *around, span);
                (defined || !in_body).then_some(true)
            }
            (Home::Type(class, _), None) => {
                let sibling = (0u32..).zip(&file.outline.symbols).any(|(index, symbol)| {
                    let path = names::path(file.text, file.outline, index);
                    symbol.name == span && path.len() > 1 && path[path.len() - 2] == class
                });
                // An out-of-line definition, or a member of another type.
                if sibling { Some(true) } else { mention.member.then_some(self.unique) }
            }
            (Home::File, Some(before)) => {
                let through_module = knows.modules.iter().any(|module| module == before);
                if through_module { Some(true) } else { (!mention.member || own).then_some(false) }
            }
            (Home::File, None) if shadowed || mention.member => None,
            (Home::File, None) => match knows.plainly {
                Plainly::Yes => Some(true),
                Plainly::Maybe => Some(false),
                Plainly::OnlyImport => (mention.role == tectum_syntax::Role::Import).then_some(true),
                Plainly::No => None,
            },
        }
    }

    /// Whether a place lies in the body of a function of a type.
    fn in_function(&self, outline: &Outline, around: Span, span: Span) -> bool {
        let callable = outline.symbols.iter().filter(|symbol| symbol.kind.is_callable());
        callable.filter(|symbol| around.holds(symbol.whole)).any(|symbol| symbol.body.holds(span))
    }

    fn knows(&self, file: &File<'_>, own: bool, imports: &[Import]) -> Knows {
        let stem = stem(&self.file);
        let of_target = |module: &str| {
            let last = module.rsplit(['.', '/', ':']).find(|part| !part.is_empty()).unwrap_or_default();
            last == stem || last.split('.').next() == Some(stem) || module.chars().all(|c| c == '.')
        };
        let mut modules: Vec<String> = Vec::new();
        for import in imports {
            let means_module = match &import.name {
                None => of_target(&import.module),
                Some(name) => name == stem,
            };
            modules.extend(import.local.clone().filter(|_| means_module));
        }
        if !own && file.language.pack().style.separator == "::" {
            modules.push(stem.to_owned());
        }
        let elsewhere = file.outline.children(None).any(|(_, symbol)| {
            !symbol.declaration && symbol.scope.is_empty() && symbol.name.of(file.text) == self.old
        });
        let named = imports.iter().find(|import| {
            let bare = import.name.is_none() && import.local.as_deref() == Some(self.old.as_str());
            import.name.as_deref() == Some(self.old.as_str()) || bare
        });
        let near = folder(file.name) == folder(&self.file);
        let plainly = match (own, named, file.language.pack().style.reach) {
            (true, ..) => Plainly::Yes,
            (false, _, _) if elsewhere => Plainly::No,
            (false, Some(import), _) if of_target(&import.module) || self.unique => {
                if import.local.as_ref() == Some(&self.old) { Plainly::Yes } else { Plainly::OnlyImport }
            }
            (false, Some(_), _) => Plainly::Maybe,
            (false, None, Reach::Everywhere) => Plainly::Yes,
            (false, None, Reach::Folder) if near => Plainly::Yes,
            (false, None, _) => {
                let star = |import: &Import| import.name.as_deref() == Some("*") && of_target(&import.module);
                if imports.iter().any(star) { Plainly::Yes } else { Plainly::No }
            }
        };
        Knows { plainly, modules }
    }

    fn clashes(&self, file: &File<'_>, own: bool, imports: &[Import]) -> bool {
        let called = |symbol: &&tectum_syntax::Symbol| symbol.name.of(file.text) == self.new;
        match &self.home {
            Home::File => {
                let defined = file.outline.children(None).any(|(_, symbol)| called(&symbol));
                defined || imports.iter().any(|import| import.local.as_ref() == Some(&self.new))
            }
            Home::Type(_, around) | Home::Function(around) if own => {
                let inside =
                    |symbol: &&tectum_syntax::Symbol| around.holds(symbol.whole) && symbol.whole != *around;
                file.outline.symbols.iter().filter(inside).any(|symbol| called(&symbol))
            }
            _ => false,
        }
    }
}

/// What a file knows about the target.
struct Knows {
    /// Under its plain name.
    plainly: Plainly,
    /// Names under which the file knows the module of the target.
    modules: Vec<String>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Plainly {
    Yes,
    /// Something of that name comes from a module that may be the target's.
    Maybe,
    /// It is imported under another name.
    OnlyImport,
    No,
}

/// The word before the dot, arrow or colons that stand before a place.
fn qualifier(text: &str, span: Span) -> Option<&str> {
    let before = text.get(..span.start as usize)?.trim_end();
    let before = before
        .strip_suffix('.')
        .or_else(|| before.strip_suffix("::"))
        .or_else(|| before.strip_suffix("->"))?;
    let before = before.trim_end().trim_end_matches('?');
    let start = before
        .rfind(|c: char| c != '_' && !c.is_alphanumeric())
        .map_or(0, |at| at + before[at..].chars().next().map_or(1, char::len_utf8));
    Some(&before[start..])
}

fn stem(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    let stem = name.split('.').next().unwrap_or(name);
    // A file that stands for its folder has the folder's name.
    if matches!(stem, "__init__" | "index" | "mod" | "lib" | "main") {
        return folder(path).rsplit('/').next().filter(|name| !name.is_empty()).unwrap_or(stem);
    }
    stem
}

fn folder(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// The edits that rename these places.
pub(super) fn edits(places: &[Span], new: &str) -> Vec<(Range<usize>, String)> {
    places.iter().map(|place| (place.range(), new.to_owned())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_word_before_a_dot_is_found() {
        for (text, expect) in [
            ("a.x", Some("a")),
            ("self . x", Some("self")),
            ("p->x", Some("p")),
            ("A::b::x", Some("b")),
            ("f().x", Some("")),
            ("x", None),
            ("a x", None),
            ("o?.x", Some("o")),
        ] {
            let at = text.rfind('x').expect("there");
            assert_eq!(qualifier(text, Span::new(at, at + 1)), expect, "{text}");
        }
    }

    #[test]
    fn a_file_that_stands_for_its_folder_has_its_name() {
        for (path, expect) in
            [("a/b.py", "b"), ("a/b/__init__.py", "b"), ("src/lib.rs", "src"), ("x.test.ts", "x")]
        {
            assert_eq!(stem(path), expect);
        }
    }
}

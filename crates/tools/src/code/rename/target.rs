//! What is renamed, and which places of a file mean it.

use std::ops::Range;

use tectum_syntax::{Bodies, Import, Language, Mention, Outline, Reach, Role, Span, Stop, Unparsed, names};

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
        let own = file.name == self.file;
        let imports = file.language.imports(file.text, stop)?;
        let knows = self.knows(file, own, &imports);
        // A stretch that binds the very symbol, or imports it, does not hide it.
        let mut shadows = file.language.shadows(file.text, &self.old, stop)?;
        shadows.retain(|shadow| {
            let defines = own && shadow.holds(self.name);
            let imports = knows.imported.iter().any(|import| shadow.holds(*import));
            !defines && !imports
        });
        for mention in &mentions {
            if !mention.role.is_code() {
                places.in_text += 1;
                continue;
            }
            let shadowed = shadows.iter().any(|shadow| shadow.holds(mention.span));
            match self.judge(file, own, mention, &knows, shadowed) {
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
            (Home::Type(_, around), None) if own && around.holds(span) && !mention.member => {
                self.beside(file, *around, mention, shadowed)
            }
            (Home::Type(class, _), None) => self.of_type_elsewhere(file, class, mention, shadowed),
            (Home::File, Some(before)) => {
                let through_module = knows.modules.iter().any(|module| module == before);
                if through_module { Some(true) } else { (!mention.member || own).then_some(false) }
            }
            (Home::File, None) if shadowed || mention.member => None,
            (Home::File, None) => self.plain(file, mention, knows.plainly),
        }
    }

    /// A plain name inside the type that holds the target.
    fn beside(&self, file: &File<'_>, around: Span, mention: &Mention, shadowed: bool) -> Option<bool> {
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
        (implicit && fits && !shadowed).then_some(true)
    }

    /// A plain name outside of the type that holds the target.
    fn of_type_elsewhere(
        &self,
        file: &File<'_>,
        class: &str,
        mention: &Mention,
        shadowed: bool,
    ) -> Option<bool> {
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
        // A type that derives from it may call it so.
        let implicit = file.language.pack().style.implicit_receiver;
        let defined = file.outline.symbols.iter().any(|symbol| symbol.name == mention.span);
        (implicit && self.callable && mention.role == Role::Call && !shadowed && !defined).then_some(false)
    }

    /// A plain name that nothing hides.
    fn plain(&self, file: &File<'_>, mention: &Mention, plainly: Plainly) -> Option<bool> {
        let span = mention.span;
        if let Some(symbol) = file.outline.symbols.iter().find(|symbol| symbol.name == span) {
            let member = symbol.parent.is_some_and(|at| {
                let parent = &file.outline.symbols[at as usize];
                parent.kind.is_type() || parent.kind.is_callable()
            });
            if member || !symbol.scope.is_empty() {
                return None;
            }
        }
        let braced = file.language.pack().style.bodies == Bodies::Braced;
        match plainly {
            Plainly::No => None,
            Plainly::OnlyImport => (mention.role == Role::Import).then_some(true),
            Plainly::Maybe => Some(false),
            Plainly::Yes if braced && mention.role == Role::Reference && is_key(file.text, span) => {
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

    fn knows(&self, file: &File<'_>, own: bool, imports: &[Import]) -> Knows {
        let stem = stem(&self.file);
        let of_target = |module: &str| leads_to(module, &self.file);
        let mut modules: Vec<String> = Vec::new();
        for import in imports {
            let means_module = match &import.name {
                None => of_target(&import.module),
                Some(name) => name == stem && leads_to(&format!("{}/{name}", import.module), &self.file),
            };
            modules.extend(import.local.clone().filter(|_| means_module));
        }
        if !own && file.language.pack().style.separator == "::" {
            modules.push(stem.to_owned());
        }
        modules.extend(self.namespace.clone().filter(|_| own));
        let elsewhere = file.outline.children(None).any(|(_, symbol)| {
            !symbol.declaration && symbol.scope.is_empty() && symbol.name.of(file.text) == self.old
        });
        let named: Vec<&Import> = imports
            .iter()
            .filter(|import| match import.name.as_deref() {
                Some(name) => name == self.old,
                None => import.local.as_deref() == Some(self.old.as_str()),
            })
            .collect();
        let meant = |import: &&&Import| match import.name {
            Some(_) => of_target(&import.module) || self.unique,
            None => of_target(import.module.trim_end_matches(self.old.as_str())) || self.unique,
        };
        let certain: Vec<&Import> = named.iter().filter(meant).copied().collect();
        let near = folder(file.name) == folder(&self.file);
        let as_it_is = |import: &&Import| import.local.as_ref() == Some(&self.old);
        let plainly = match file.language.pack().style.reach {
            _ if own => Plainly::Yes,
            _ if certain.iter().any(as_it_is) => Plainly::Yes,
            _ if !certain.is_empty() => Plainly::OnlyImport,
            _ if !named.is_empty() => Plainly::Maybe,
            _ if elsewhere => Plainly::No,
            Reach::Everywhere => Plainly::Yes,
            Reach::Folder if near => Plainly::Yes,
            _ => {
                let star = |import: &Import| import.name.as_deref() == Some("*") && of_target(&import.module);
                if imports.iter().any(star) { Plainly::Yes } else { Plainly::No }
            }
        };
        Knows { plainly, modules, imported: certain.iter().map(|import| import.span).collect() }
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
    /// The statements that import it.
    imported: Vec<Span>,
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

/// Whether a name in a literal or a pattern is a key: what it means is another type's business.
fn is_key(text: &str, span: Span) -> bool {
    let after = text[span.end as usize..].trim_start();
    if after.starts_with(':') && !after.starts_with("::") {
        return true;
    }
    let before = text[..span.start as usize].trim_end();
    before.ends_with(['{', ',']) && after.starts_with([',', '}']) && encloser(before) == Some('{')
}

/// The bracket that is open at the end of a text, as far back as a literal is likely to reach.
fn encloser(before: &str) -> Option<char> {
    const FAR: usize = 2_000;
    let mut depth = 0usize;
    for c in before.chars().rev().take(FAR) {
        match c {
            ')' | ']' | '}' => depth += 1,
            '(' | '[' | '{' if depth == 0 => return Some(c),
            '(' | '[' | '{' => depth -= 1,
            _ => {}
        }
    }
    None
}

/// Whether a module as written can be a file: its parts are the end of the file's path, as far
/// as both go.
fn leads_to(module: &str, file: &str) -> bool {
    let plain = |part: &&str| !matches!(*part, "" | "." | ".." | "crate" | "self" | "super");
    let path = file.rsplit_once('.').map_or(file, |(path, _)| path);
    let mut path: Vec<&str> = path.split('/').filter(plain).collect();
    if path.len() > 1 && path.last().is_some_and(|last| stands_for_folder(last)) {
        path.pop();
    }
    let module = module.trim_matches(['"', '\'']);
    let slashed = module.contains('/');
    let parts: Vec<&str> = match slashed {
        true => module.split('/').map(|part| part.split('.').next().unwrap_or(part)).collect(),
        false => module.split(['.', ':']).collect(),
    };
    let parts: Vec<&str> = parts.into_iter().filter(plain).collect();
    parts.iter().rev().zip(path.iter().rev()).all(|(part, of_path)| part == of_path)
}

fn stands_for_folder(stem: &str) -> bool {
    matches!(stem, "__init__" | "index" | "mod" | "lib" | "main")
}

fn stem(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    let stem = name.split('.').next().unwrap_or(name);
    // A file that stands for its folder has the folder's name.
    if stands_for_folder(stem) {
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
    fn a_module_leads_to_a_file_by_the_end_of_its_path() {
        for (module, file, expect) in [
            ("utils", "x/utils.py", true),
            ("x.utils", "x/utils.py", true),
            ("project.x.utils", "x/utils.py", true),
            ("y.utils", "x/utils.py", false),
            (".", "x/utils.py", true),
            (".utils", "x/utils.py", true),
            ("../x/utils.js", "src/x/utils.js", true),
            ("./other", "src/utils.ts", false),
            ("crate::a::b", "src/a/b.rs", true),
            ("x", "x/__init__.py", true),
        ] {
            assert_eq!(leads_to(module, file), expect, "{module} {file}");
        }
    }

    #[test]
    fn keys_are_told_from_names() {
        for (text, expect) in [
            ("{ run }", true),
            ("{ a, run, b }", true),
            ("f(a, run, b)", false),
            ("{ run: 1 }", true),
            ("a::run()", false),
            ("[run, a]", false),
        ] {
            let at = text.find("run").expect("there");
            assert_eq!(is_key(text, Span::new(at, at + 3)), expect, "{text}");
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

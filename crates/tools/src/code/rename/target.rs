//! The target of a rename, and a place of its name with its surroundings.

use tectum_syntax::{Kind, Language, Mention, Outline, Span, Symbol, names};

use super::{super::Opened, verdict::Hidden};

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
    /// The file, type or function that holds it.
    pub(super) home: Home,
    /// True if it can be called: a field and a method of one name are two things.
    pub(super) callable: bool,
    /// True if it is a macro.
    pub(super) is_macro: bool,
    /// True if it is a value: not a type and not a module, so no path leads through it.
    pub(super) is_value: bool,
    /// The namespace it stands in, if it does.
    pub(super) namespace: Option<String>,
    /// The parts of that namespace's full name; empty outside of one.
    pub(super) space: Vec<String>,
    /// True when nothing else in the project is defined under its name.
    pub(super) unique: bool,
    /// True when no other type of the project is called as the one it belongs to.
    pub(super) unique_home: bool,
    /// Files that import it under its name and so re-export it.
    pub(super) passing: Vec<String>,
    /// Files that import its module under a name of their own.
    pub(super) doors: Vec<Door>,
    /// Files whose module has the same name as the target.
    pub(super) namesakes: Vec<String>,
    /// A further step that the new name requires, such as moving the file.
    pub(super) note: Option<String>,
}

/// The owner of a symbol.
#[derive(Debug)]
pub(super) enum Home {
    /// Its file.
    File,
    /// A type: its name and its place.
    Type(String, Span),
    /// A function: it is local to it.
    Function(Span),
}

/// A file that imports the target's module under a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Door {
    /// The file.
    pub(super) file: String,
    /// The local name of the module.
    pub(super) name: String,
}

/// One file, read.
pub(super) struct File<'f> {
    pub(super) name: &'f str,
    pub(super) text: &'f str,
    pub(super) language: &'f Language,
    pub(super) outline: &'f Outline,
}

/// A place of the old name, with what is around it.
#[derive(Clone, Copy)]
pub(super) struct NamePlace<'s> {
    pub(super) file: &'s File<'s>,
    pub(super) own: bool,
    pub(super) mention: &'s Mention,
    /// It is a key and its value in one.
    pub(super) short: bool,
    pub(super) hidden: Hidden,
}

impl Target {
    /// The symbol of an outline that gets a new name; what the project says of it comes later.
    pub(super) fn find(opened: &Opened, outline: &Outline, index: u32, new: &str) -> Self {
        let symbol = &outline.symbols[index as usize];
        let parent = symbol.parent.map(|at| &outline.symbols[at as usize]);
        let scope = symbol.scope.slice(opened.text());
        let home = match parent {
            Some(parent) if parent.kind.is_callable() => Home::Function(parent.whole),
            Some(parent) if parent.kind.is_type() => {
                Home::Type(parent.name.slice(opened.text()).to_owned(), parent.whole)
            }
            _ if !scope.is_empty() => {
                let class = scope.rsplit("::").next().unwrap_or(scope);
                Home::Type(class.split('<').next().unwrap_or(class).trim().to_owned(), symbol.whole)
            }
            _ => Home::File,
        };
        Self {
            old: symbol.name.slice(opened.text()).to_owned(),
            new: new.to_owned(),
            file: opened.name.clone(),
            name: symbol.name,
            home,
            callable: symbol.kind.is_callable(),
            is_macro: symbol.kind == Kind::Macro,
            is_value: !(symbol.kind.is_type() || matches!(symbol.kind, Kind::Typedef | Kind::Namespace)),
            namespace: parent
                .filter(|parent| parent.kind == Kind::Namespace)
                .map(|parent| parent.name.slice(opened.text()).to_owned()),
            space: space_path(
                opened.text(),
                outline,
                symbol.parent.filter(|at| outline.symbols[*at as usize].kind == Kind::Namespace),
            ),
            unique: false,
            unique_home: false,
            passing: Vec::new(),
            doors: Vec::new(),
            namesakes: Vec::new(),
            note: file_note(opened, symbol, new),
        }
    }
}

/// A note where the file of a type must be called as the type is.
fn file_note(opened: &Opened, symbol: &Symbol, new: &str) -> Option<String> {
    let (folder, name) = opened.name.rsplit_once('/').unwrap_or(("", &opened.name));
    let (stem, ending) = name.rsplit_once('.')?;
    let public = symbol.head.slice(opened.text()).split_whitespace().any(|word| word == "public");
    let style = &opened.source.language().pack().style;
    let named = style.public_named && symbol.parent.is_none() && symbol.kind.is_type();
    (named && public && stem == symbol.name.slice(opened.text())).then(|| {
        let slash = if folder.is_empty() { "" } else { "/" };
        format!("{} must become {folder}{slash}{new}.{ending}: a public type has a file of its name; use move_file", opened.name)
    })
}

/// The parts of a namespace's name; none for the file itself.
pub(super) fn space_path(text: &str, outline: &Outline, space: Option<u32>) -> Vec<String> {
    let parts = space.map(|index| names::path(text, outline, index)).unwrap_or_default();
    parts.into_iter().map(str::to_owned).collect()
}

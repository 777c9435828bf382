//! One `tectum.toml`, read into checked values; every mistake is reported, none is guessed away.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    sync::Arc,
};

use toml::de::{DeTable, DeValue};

use super::{
    keys::{self, Key, Merge},
    load::{Layer, Setting},
    place::{Origin, Problem},
    servers::{self, Entry, Place, Source},
    value::{Base, Field, Form, Item, Value, Written},
};

/// Whose file it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// The operator's own, or one named on the command line.
    Operator,
    /// The project's: whoever wrote the repository wrote it.
    Project,
}

/// A file of settings and its text.
#[derive(Debug)]
pub struct File<'f> {
    /// How people would name it.
    pub name: Arc<str>,
    /// Its content.
    pub text: &'f str,
    /// Whose it is.
    pub owner: Owner,
    /// Where it lies.
    pub path: &'f Path,
}

/// What a file said.
#[derive(Debug, Default)]
pub struct Content {
    /// Its settings.
    pub settings: Layer,
    /// Its servers.
    pub servers: Vec<Entry>,
}

impl File<'_> {
    /// Reads all of it. Mistakes are added to `problems` in the order they stand.
    pub fn read(&self, base: Base<'_>, problems: &mut Vec<Problem>) -> Content {
        let (document, errors) = DeTable::parse_recoverable(self.text);
        let mut reading = Reading {
            file: self,
            base,
            content: Content::default(),
            written: HashMap::new(),
            problems: Vec::new(),
        };
        for error in errors {
            let place = self.place(error.span().map_or(0, |span| span.start));
            reading.problems.push(Problem::new(place, error.message().trim().replace('\n', "; ")));
        }
        reading.document(document.get_ref());
        // The parser sorts tables by name; people read from the top.
        reading.problems.sort_by_key(|problem| match problem.origin {
            Origin::File { line, column, .. } => (line, column),
            _ => (0, 0),
        });
        problems.extend(reading.problems);
        reading.content
    }

    fn place(&self, offset: usize) -> Origin {
        Origin::in_file(&self.name, self.text, offset)
    }

    fn source(&self) -> Source {
        let place = match self.owner {
            Owner::Operator => Place::Yours,
            Owner::Project => Place::Project,
        };
        Source::ours(self.path, self.name.clone(), place)
    }

    fn written(&self, value: &toml::Spanned<DeValue<'_>>) -> Written {
        written(value, &|offset| self.place(offset))
    }
}

/// A value of a TOML document, with the places of all it holds.
pub(super) fn written(value: &toml::Spanned<DeValue<'_>>, place: &dyn Fn(usize) -> Origin) -> Written {
    let form = match value.get_ref() {
        DeValue::String(text) => Form::Text(text.clone().into_owned()),
        DeValue::Integer(number) => match i64::from_str_radix(number.as_str(), number.radix()) {
            Ok(number) => Form::Number(number),
            Err(_) => Form::Other("number that is too large"),
        },
        DeValue::Boolean(flag) => Form::Flag(*flag),
        DeValue::Array(list) => Form::List(list.iter().map(|one| written(one, place)).collect()),
        DeValue::Float(number) => match number.as_str().parse() {
            Ok(number) => Form::Fraction(number),
            Err(_) => Form::Other("fraction"),
        },
        DeValue::Datetime(_) => Form::Other("date"),
        DeValue::Table(table) => Form::Table(fields(table, place)),
    };
    Written { origin: place(value.span().start), form }
}

fn fields(table: &DeTable<'_>, place: &dyn Fn(usize) -> Origin) -> Vec<Field> {
    let field =
        |(name, value): (&toml::Spanned<std::borrow::Cow<'_, str>>, &toml::Spanned<DeValue<'_>>)| Field {
            name: name.get_ref().to_string(),
            origin: place(name.span().start),
            value: written(value, place),
        };
    table.iter().map(field).collect()
}

/// A file half read.
struct Reading<'f> {
    file: &'f File<'f>,
    base: Base<'f>,
    content: Content,
    /// What was set so far, and by which of its names.
    written: HashMap<String, &'static Key>,
    problems: Vec<Problem>,
}

impl Reading<'_> {
    fn document(&mut self, table: &DeTable<'_>) {
        let sections = keys::sections();
        for (name, value) in table {
            let place = self.file.place(name.span().start);
            let name = &**name.get_ref();
            match value.get_ref() {
                _ if name == servers::keys::TABLE => {
                    let source = Arc::new(self.file.source());
                    let written = self.file.written(value);
                    let found = servers::table(written, &source, self.base, &mut self.problems);
                    self.content.servers.extend(found);
                }
                DeValue::Table(table) if sections.contains(&name) => self.section(name, table),
                _ if sections.contains(&name) => {
                    let message = format!("`{name}` is a table, got: {}", value.get_ref().type_str());
                    self.problems.push(
                        Problem::new(place, message).hint(format!("write [{name}] on a line of its own")),
                    );
                }
                _ => match keys::of_section("").find(|key| key.name == name) {
                    Some(key) => self.setting(key, value),
                    None => self.problems.push(stray(place, name, &sections)),
                },
            }
        }
    }

    fn section(&mut self, section: &str, table: &DeTable<'_>) {
        for (name, value) in table {
            let place = self.file.place(name.span().start);
            let name = &**name.get_ref();
            match keys::of_section(section).find(|key| key.name == name) {
                None => {
                    let known: Vec<&str> = keys::of_section(section).map(|key| key.name).collect();
                    self.problems.push(Problem::unknown(
                        place,
                        &format!("key in [{section}]:"),
                        name,
                        &known,
                    ));
                }
                Some(key) if key.is_operators() && self.file.owner == Owner::Project => {
                    self.problems.push(not_the_projects(place, key));
                }
                Some(key) => self.setting(key, value),
            }
        }
    }

    fn setting(&mut self, key: &'static Key, value: &toml::Spanned<DeValue<'_>>) {
        let written = self.file.written(value);
        let origin = written.origin.clone();
        let Some(value) = written.accept(key, self.base, &mut self.problems) else { return };
        if self.file.owner == Owner::Project
            && let (true, Value::List(items)) = (keys::REACH.contains(&key.name), &value)
        {
            let outside = items.iter().filter(|item| !inside(&item.text, self.base.directory));
            self.problems.extend(outside.map(|item| beyond_the_project(key, item)));
        }
        if self.file.owner == Owner::Project && keys::loosens(key, &value) {
            self.problems.push(loosening(origin, key));
            return;
        }
        let setting = Setting::new(key, value, origin.clone());
        // Two names for one thing: only lists may be given by both.
        let other = self.written.insert(setting.key.path(), key);
        if let Some(other) = other.filter(|_| setting.key.merge == Merge::Last) {
            let (older, newer) = if key.stands_for.is_some() { (key, other) } else { (other, key) };
            let message = format!("`{}` and `{}` say the same thing", older.path(), newer.path());
            self.problems.push(Problem::new(origin, message).hint(format!("keep `{}`", newer.path())));
            return;
        }
        self.content.settings.push(setting);
    }
}

/// A name at the top that is neither a table nor a key; perhaps its table's line is missing.
fn stray(place: Origin, name: &str, sections: &[&str]) -> Problem {
    if let Some(key) = keys::KEYS.iter().find(|key| key.name == name) {
        return Problem::new(place, format!("unknown key `{name}` outside of any table"))
            .hint(format!("it belongs below [{}]", key.section));
    }
    let top = keys::of_section("").map(|key| key.name);
    let tables = sections.iter().copied().chain([servers::keys::TABLE]);
    Problem::unknown(place, "key", name, &top.chain(tables).collect::<Vec<_>>())
}

fn not_the_projects(place: Origin, key: &Key) -> Problem {
    let why = "is not taken from a project's file, because a repository must not open a listener";
    Problem::new(place, format!("`{}` {why}", key.path())).hint(format!(
        "put it in ~/.config/tectum/tectum.toml, in {} or in a file named with --config",
        key.variable()
    ))
}

fn loosening(place: Origin, key: &Key) -> Problem {
    let why = "would loosen what protects you, and a project's file may only tighten it";
    Problem::new(place, format!("`{}` {why}", key.path())).hint(format!(
        "leave it out, or put it in ~/.config/tectum/tectum.toml, in {} or in a file named with --config",
        key.variable()
    ))
}

/// True for what lies in the project also when links are followed.
#[expect(clippy::disallowed_methods, reason = "paths of the configuration, before any agent is served")]
fn inside(path: &str, project: &Path) -> bool {
    let real = |path: &Path| std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let path = real(Path::new(path));
    path.strip_prefix(real(project))
        .is_ok_and(|below| !below.components().any(|part| part == std::path::Component::ParentDir))
}

fn beyond_the_project(key: &Key, item: &Item) -> Problem {
    let why = "in a project's file reaches out of the project, which only you may allow";
    Problem::new(item.origin.clone(), format!("`{}` {why}: {}", key.path(), item.text)).hint(format!(
        "put it in ~/.config/tectum/tectum.toml, in {} or in a file named with --config",
        key.variable()
    ))
}

/// A path the way people write it: below the served directory, or below home with `~`.
pub fn shown(path: &Path, directory: &Path, home: Option<&Path>) -> Arc<str> {
    if let Ok(inside) = path.strip_prefix(directory) {
        return inside.to_string_lossy().into();
    }
    if let Some(inside) = home.and_then(|home| path.strip_prefix(home).ok()) {
        return PathBuf::from("~").join(inside).to_string_lossy().into();
    }
    path.to_string_lossy().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(owner: Owner, text: &str) -> Vec<String> {
        let base = Base { directory: Path::new("/project"), home: None };
        let mut problems = Vec::new();
        let path = Path::new("/project/tectum.toml");
        File { name: "tectum.toml".into(), text, owner, path }.read(base, &mut problems);
        problems.iter().map(|p| format!("{p} ({})", p.hint.as_deref().unwrap_or_default())).collect()
    }

    fn check(text: &str, expect: &[&str]) {
        assert_eq!(problems(Owner::Project, text), expect, "{text}");
    }

    #[test]
    fn an_empty_file_is_fine() {
        check("", &[]);
        check("\u{feff}# only a comment\n", &[]);
    }

    #[test]
    fn unknown_names_are_placed_and_mended() {
        check(
            "[workspace]\nroot = [\".\"]\n",
            &["tectum.toml:2:1: unknown key in [workspace]: `root` (did you mean `roots`?)"],
        );
        check("[permision]\n", &["tectum.toml:1:2: unknown key `permision` (did you mean `permissions`?)"]);
        check(
            "roots = [\".\"]\n",
            &["tectum.toml:1:1: unknown key `roots` outside of any table (it belongs below [workspace])"],
        );
        check(
            "files = 3\n",
            &["tectum.toml:1:1: `files` is a table, got: integer (write [files] on a line of its own)"],
        );
    }

    #[test]
    fn all_mistakes_are_told_at_once_and_in_order() {
        let found = problems(
            Owner::Project,
            "version = 2\n[workspace]\nroots = []\nsymlinks = 1\n[files]\nmax_file = \"x\"\n[permissions]\ndeny = [\"a\", 3]\n",
        );
        let places: Vec<&str> = found.iter().filter_map(|p| p.split(": ").next()).collect();
        assert_eq!(
            places,
            [
                "tectum.toml:1:11",
                "tectum.toml:3:9",
                "tectum.toml:4:12",
                "tectum.toml:6:12",
                "tectum.toml:8:14"
            ]
        );
    }

    #[test]
    fn broken_toml_is_placed() {
        let found = problems(Owner::Project, "[files]\ndurability = \n");
        assert!(found[0].starts_with("tectum.toml:2:"), "{found:?}");
    }

    #[test]
    fn a_project_cannot_open_a_listener() {
        let text = "[http]\nauth = \"none\"\n";
        assert!(problems(Owner::Operator, text).is_empty());
        let found = problems(Owner::Project, text);
        assert!(
            found[0].starts_with("tectum.toml:2:1: `http.auth` is not taken from a project's file"),
            "{found:?}"
        );
        assert!(found[0].contains("TECTUM_HTTP_AUTH"), "{found:?}");
    }

    #[test]
    fn a_project_can_tighten_and_not_loosen() {
        for (loose, tight) in [
            ("[permissions]\ndefault = \"allow\"", "[permissions]\ndefault = \"deny\""),
            ("[workspace]\nsymlinks = \"inside\"", "[workspace]\nsymlinks = \"never\""),
            ("[workspace]\nbreak_hard_links = true", "[workspace]\nbreak_hard_links = false"),
            ("[workspace]\ntracked_opens = \"directory\"", "[workspace]\ntracked_opens = \"file\""),
            ("[mcp]\nallow_symlinks = true", "[mcp]\nallow_symlinks = false"),
        ] {
            assert!(problems(Owner::Operator, loose).is_empty(), "{loose}");
            assert!(problems(Owner::Project, loose)[0].contains("would loosen"), "{loose}");
            assert!(problems(Owner::Project, tight).is_empty(), "{tight}");
        }
    }

    #[test]
    fn a_project_cannot_reach_out_of_itself() {
        for reach in [
            "roots = [\".\", \"/etc\"]",
            "roots = [\"..\"]",
            "tracked = [\"../notes\"]",
            "roots = [\"new/../../x\"]",
        ] {
            let text = format!("[workspace]\n{reach}\n");
            assert!(
                problems(Owner::Operator, &text).iter().all(|problem| !problem.contains("reaches out")),
                "{reach}"
            );
            let found = problems(Owner::Project, &text);
            assert!(
                found.iter().any(|problem| problem.contains("reaches out of the project")),
                "{reach}: {found:?}"
            );
        }
        check("[workspace]\nroots = [\".\", \"src\"]\n", &[]);
    }

    #[test]
    fn two_names_for_one_thing_are_a_contradiction() {
        check(
            "[mcp]\nallow_symlinks = false\n[workspace]\nsymlinks = \"never\"\n",
            &[
                "tectum.toml:4:12: `mcp.allow_symlinks` and `workspace.symlinks` say the same thing (keep `workspace.symlinks`)",
            ],
        );
        check("[mcp]\nblacklist = [\"a\"]\n[workspace]\ndeny = [\"b\"]\n", &[]);
    }
}

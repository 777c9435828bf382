//! Which houses a process descends from, as their environment tells it: each house writes down the
//! project it serves and every command it may start. A house below another of the same project is a
//! circle, and none starts what a house above it starts already.

use std::{ffi::OsStr, path::Path};

use parking_lot::Mutex;

use crate::Launch;

/// The variable with all houses above a process, the first one first.
pub const WITHIN: &str = "TECTUM_WITHIN";
/// Houses within houses: more than two serve no purpose.
pub const MOST_DEPTH: usize = 4;
/// What a house writes instead of its commands when it does not know them, or has too many to name
/// in a variable: all commands there are.
const EVERYTHING: &str = "*";
/// Commands that are named; a variable may have 128 KiB.
const MOST_COMMANDS: usize = 1024;
/// The project of a house that did not say which it serves.
const UNNAMED: &str = "-";
/// Digits of a digest: enough to tell the projects and commands of one machine apart.
const DIGITS: usize = 16;

/// This process as a house, once it is one.
static OURS: Mutex<Option<House>> = Mutex::new(None);

/// One house.
#[derive(Clone, Debug, PartialEq, Eq)]
struct House {
    project: String,
    commands: Vec<String>,
}

/// Makes this process a house of this project with these commands, for everything it starts from
/// now on.
pub fn serve<'l>(project: &Path, commands: impl IntoIterator<Item = &'l Launch>) {
    let mut commands: Vec<String> = commands.into_iter().map(command).collect();
    if commands.len() > MOST_COMMANDS {
        commands = vec![EVERYTHING.into()];
    }
    let house = House { project: place(project), commands };
    *OURS.lock() = Some(house);
}

/// The houses above a process.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Above(Vec<House>);

impl Above {
    /// What [`WITHIN`] says.
    pub fn read(within: Option<&OsStr>) -> Self {
        let text = within.and_then(OsStr::to_str).unwrap_or_default();
        let house = |text: &str| {
            let (project, commands) = text.split_once(',').unwrap_or((text, ""));
            let commands = commands.split(',').filter(|one| !one.is_empty()).map(str::to_owned).collect();
            House { project: project.to_owned(), commands }
        };
        Self(text.split(';').filter(|house| !house.is_empty()).map(house).collect())
    }

    /// How many there are.
    pub fn depth(&self) -> usize {
        self.0.len()
    }

    /// Whether one of them serves this project.
    pub fn serves(&self, project: &Path) -> bool {
        let project = place(project);
        self.0.iter().any(|house| house.project == project)
    }

    /// Whether one of them starts this command, or so many are above that nobody is started.
    pub fn starts(&self, launch: &Launch) -> bool {
        let own = command(launch);
        let has = |house: &House| house.commands.iter().any(|one| *one == own || one == EVERYTHING);
        self.depth() >= MOST_DEPTH || self.0.iter().any(has)
    }

    /// One more above, of whom nobody knows what it starts.
    pub fn and_a_stranger(mut self) -> Self {
        self.0.push(House { project: UNNAMED.into(), commands: vec![EVERYTHING.into()] });
        self
    }

    /// As [`WITHIN`] has it.
    pub fn written(&self) -> String {
        let house = |house: &House| {
            let words: Vec<&str> =
                std::iter::once(&house.project).chain(&house.commands).map(String::as_str).collect();
            words.join(",")
        };
        self.0.iter().map(house).collect::<Vec<_>>().join(";")
    }
}

/// What [`WITHIN`] is to hold in a child.
pub(super) fn extended(launch: &Launch, within: Option<&OsStr>) -> String {
    let ours = OURS.lock().clone();
    let mut ours = ours.unwrap_or_else(|| House { project: UNNAMED.into(), commands: Vec::new() });
    // A language server is no entry of the configuration.
    let own = command(launch);
    if !ours.commands.iter().any(|one| *one == own || one == EVERYTHING) {
        ours.commands.push(own);
    }
    let mut above = Above::read(within);
    above.0.push(ours);
    above.written()
}

/// A command and its arguments: what a start is known by. Variables may differ from level to
/// level, and would not make it another one.
fn command(launch: &Launch) -> String {
    let words = std::iter::once(&launch.command).chain(&launch.args);
    digest(words.map(String::as_bytes))
}

fn place(project: &Path) -> String {
    digest([project.as_os_str().as_encoded_bytes()])
}

fn digest<'w>(words: impl IntoIterator<Item = &'w [u8]>) -> String {
    let mut hasher = blake3::Hasher::new();
    for word in words {
        hasher.update(&(word.len() as u64).to_le_bytes()).update(word);
    }
    hasher.finalize().to_hex().chars().take(DIGITS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn launch(words: &[&str]) -> Launch {
        let (command, args) = words.split_first().expect("a command");
        let args = args.iter().map(|word| (*word).to_owned()).collect();
        Launch { command: (*command).to_owned(), args, env: Default::default(), cwd: None }
    }

    fn below(launch: &Launch, above: &Above) -> Above {
        Above::read(Some(OsStr::new(&extended(launch, Some(OsStr::new(&above.written()))))))
    }

    #[test]
    fn what_is_started_above_is_known_and_nothing_else() {
        let (own, other) = (launch(&["wrap", "serve"]), launch(&["wrap", "serv", "e"]));
        let above = Above::default();
        assert!(!above.starts(&own) && Above::read(Some(OsStr::new(""))) == above);
        let first = below(&own, &above);
        assert!(first.starts(&own) && !first.starts(&other));
        let second = below(&other, &first);
        assert!(second.starts(&own) && second.starts(&other));
        assert_eq!(second.depth(), 2);
        assert!(first.clone().and_a_stranger().starts(&other));
    }

    #[test]
    fn a_house_is_known_by_its_project_and_all_its_commands() {
        let house = |commands: &[Launch]| House {
            project: place(Path::new("/srv/a")),
            commands: commands.iter().map(command).collect(),
        };
        let (one, two) = (launch(&["one"]), launch(&["two"]));
        let above = Above(vec![house(&[one.clone(), two.clone()])]);
        let read = Above::read(Some(OsStr::new(&above.written())));
        assert_eq!(read, above);
        assert!(read.serves(Path::new("/srv/a")) && !read.serves(Path::new("/srv/b")));
        assert!(read.starts(&one) && read.starts(&two) && !read.starts(&launch(&["three"])));
    }

    #[test]
    fn a_chain_of_ever_new_starts_ends() {
        let mut above = Above::default();
        let depth = (0..100)
            .take_while(|level| {
                let next = launch(&["wrap", &level.to_string()]);
                let goes_on = !above.starts(&next);
                above = below(&next, &above);
                goes_on
            })
            .count();
        assert_eq!(depth, MOST_DEPTH);
    }
}

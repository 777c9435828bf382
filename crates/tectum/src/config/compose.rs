//! The project's own file beside the operator's settings: it narrows them, key by key as the table
//! says, and never permits more. Rules of permission are not merged at all but judged side by side.

use std::path::{Path, PathBuf};

use super::{
    keys::{self, FromProject},
    merged::{Merged, Setting},
    place::Origin,
    value::{Item, Value},
};
use crate::state;

/// The settings that hold when a project's file is added to the operator's. Those of its settings that
/// have no effect are told in `notes`.
pub(super) fn compose(operator: &Merged, project: &Merged, notes: &mut Vec<String>) -> Merged {
    let mut merged = operator.clone();
    for theirs in project.settings() {
        let ours = operator.get(theirs.key);
        let composed = match theirs.key.project {
            FromProject::Refused(_) => None,
            FromProject::Adds | FromProject::Trusted => Some(added(ours, theirs)),
            FromProject::Within => within(operator, theirs, notes),
            FromProject::Stricter(words) => {
                let strictness =
                    |setting: &Setting| words.iter().position(|word| *word == said(&setting.value));
                let stricter = ours.is_none_or(|ours| strictness(theirs) > strictness(ours));
                stricter.then(|| theirs.clone())
            }
            FromProject::Off => (theirs.value == Value::Flag(false)).then(|| theirs.clone()),
            FromProject::Lower => {
                let lower = match (ours.map(|ours| &ours.value), &theirs.value) {
                    (Some(Value::Number(ours)), Value::Number(theirs)) => theirs < ours,
                    _ => true,
                };
                lower.then(|| theirs.clone())
            }
            FromProject::Yields => {
                ours.is_none_or(|ours| ours.origin == Origin::Default).then(|| theirs.clone())
            }
        };
        if let Some(setting) = composed {
            merged.set(setting);
        }
    }
    merged
}

/// True for the loosest value of a key that a project may only tighten.
pub(super) fn loosens(setting: &Setting) -> bool {
    match setting.key.project {
        FromProject::Stricter(words) => words.first().is_some_and(|loosest| *loosest == said(&setting.value)),
        _ => false,
    }
}

fn said(value: &Value) -> &str {
    match value {
        Value::Word(word) => word,
        Value::Flag(true) => "true",
        Value::Flag(false) => "false",
        Value::Number(_) | Value::List(_) | Value::Table(_) => "",
    }
}

fn items(setting: &Setting) -> &[Item] {
    if let Value::List(items) = &setting.value { items } else { &[] }
}

fn added(ours: Option<&Setting>, theirs: &Setting) -> Setting {
    let all = ours.map(items).unwrap_or_default().iter().chain(items(theirs)).cloned();
    Setting { value: Value::List(all.collect()), ..theirs.clone() }
}

/// The entries that both allow, of a list that names what may be used.
fn within(operator: &Merged, theirs: &Setting, notes: &mut Vec<String>) -> Option<Setting> {
    let reach = Reach::of_operator(operator);
    let kept = if *theirs.key == keys::ROOTS {
        reach.shared(items(theirs))
    } else if *theirs.key == keys::TRACKED {
        let held = items(theirs).iter().filter(|item| reach.holds(Path::new(&item.text)));
        operator.list(&keys::TRACKED).iter().chain(held).cloned().collect()
    } else {
        // Two lists of globs have no common list; `build.rs` asks both.
        return operator.get(theirs.key).is_none().then(|| theirs.clone());
    };
    for item in items(theirs).iter().filter(|item| !reach.meets(Path::new(&item.text))) {
        notes.push(format!(
            "{}: `{}` names {}, which is outside your own roots, so it has no effect; to open it, add it \
             to [workspace] of ~/.config/tectum/tectum.toml",
            item.origin,
            theirs.key.path(),
            item.text
        ));
    }
    Some(Setting { value: Value::List(kept), ..theirs.clone() })
}

/// The places that the operator lets tools reach.
struct Reach<'m> {
    roots: Vec<(PathBuf, &'m Item)>,
    tracked: Vec<PathBuf>,
}

impl<'m> Reach<'m> {
    fn of_operator(operator: &'m Merged) -> Self {
        let real = |item: &Item| state::canonical(Path::new(&item.text));
        Self {
            roots: operator.list(&keys::ROOTS).iter().map(|item| (real(item), item)).collect(),
            tracked: operator.list(&keys::TRACKED).iter().map(real).collect(),
        }
    }

    /// True for what lies in a root or is a tracked file.
    fn holds(&self, path: &Path) -> bool {
        let path = state::canonical(path);
        self.tracked.contains(&path) || self.roots.iter().any(|(root, _)| path.starts_with(root))
    }

    /// The same for a directory that holds a root.
    fn meets(&self, path: &Path) -> bool {
        let real = state::canonical(path);
        self.holds(path) || self.roots.iter().any(|(root, _)| root.starts_with(&real))
    }

    /// The directories that lie in one of the operator's roots and in one of these. A root of the
    /// operator's that lies in another one stays a root: no link leads out of it.
    fn shared(&self, theirs: &[Item]) -> Vec<Item> {
        let theirs: Vec<(PathBuf, &Item)> =
            theirs.iter().map(|item| (state::canonical(Path::new(&item.text)), item)).collect();
        let within =
            |path: &PathBuf, roots: &[(PathBuf, &Item)]| roots.iter().any(|(root, _)| path.starts_with(root));
        let stay = self.roots.iter().filter(|(root, _)| within(root, &theirs));
        let narrower = theirs.iter().filter(|(path, _)| within(path, &self.roots));
        let mut shared: Vec<&(PathBuf, &Item)> = Vec::new();
        for one in narrower.chain(stay) {
            if shared.iter().all(|(known, _)| *known != one.0) {
                shared.push(one);
            }
        }
        shared.into_iter().map(|(_, item)| (*item).clone()).collect()
    }
}

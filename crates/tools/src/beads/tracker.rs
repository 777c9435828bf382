//! `bd` and `br`: where one is installed it owns the data. It is run, what it prints is read
//! tolerantly, and its files are never touched.

use std::{
    ffi::OsString,
    path::PathBuf,
    time::{Duration, Instant},
};

use serde_json::Value;
use tectum_child::{Confinement, Installed};
use tectum_core::{Ctx, Fault, FaultKind};
use tectum_state::Moment;

use super::{bead::Bead, workspace::Workspace};
use crate::run::{Leash, Order, run};

/// The time one run may take.
const PATIENCE: Duration = Duration::from_secs(30);
/// The most that is read of what it prints.
const MOST: usize = 64 << 20;
/// The length of its complaint in a reply.
const COMPLAINT: usize = 300;
/// The variables of our environment that it gets: who the user is and where their settings are.
const INHERITED: &[&str] = &[
    "HOME",
    "USER",
    "LOGNAME",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "TZ",
    "TMPDIR",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
];
/// The variables it is given: one form of output, nothing to ask, no colour, no server of its own that
/// stays.
const TOLD: &[(&str, &str)] = &[
    ("BD_JSON_ENVELOPE", "1"),
    ("BD_NO_DAEMON", "1"),
    ("BEADS_NO_DAEMON", "1"),
    ("NO_COLOR", "1"),
    ("GIT_TERMINAL_PROMPT", "0"),
];

/// The programs that are installed.
#[derive(Clone, Debug)]
pub(super) struct Trackers {
    bd: Option<PathBuf>,
    br: Option<PathBuf>,
    path: String,
}

/// One of them.
#[derive(Clone, Debug)]
pub(super) struct Tracker {
    pub(super) name: &'static str,
    file: PathBuf,
    path: String,
}

impl Trackers {
    /// Looks for them outside of the served directories; `None` if there is neither.
    pub(super) fn find(served: &[PathBuf]) -> Option<Self> {
        let installed = Installed::apart_from(served);
        let [bd, br] = ["bd", "br"].map(|name| installed.find(name).ok());
        (bd.is_some() || br.is_some()).then(|| Self { bd, br, path: installed.path() })
    }

    /// The one that owns a workspace; `None` where only our own store is.
    pub(super) fn owner(&self, workspace: &Workspace<'_>) -> Option<Tracker> {
        if workspace.is_own() {
            return None;
        }
        let named = |name, file: &Option<PathBuf>| {
            file.clone().map(|file| Tracker { name, file, path: self.path.clone() })
        };
        let (bd, br) = (named("bd", &self.bd), named("br", &self.br));
        if workspace.prefers_br() { br.or(bd) } else { bd.or(br) }
    }
}

impl Tracker {
    /// Runs it and gives the beads that it printed. What `changes` is waited for to its end.
    pub(super) fn run(
        &self,
        ctx: &Ctx,
        workspace: &Workspace<'_>,
        args: &[String],
        changes: bool,
    ) -> Result<Vec<Bead>, Fault> {
        let inherited = INHERITED.iter().filter_map(|name| Some(((*name).into(), std::env::var_os(name)?)));
        let mut environment: Vec<(OsString, OsString)> = inherited.collect();
        environment.extend(TOLD.iter().map(|(name, value)| ((*name).into(), (*value).into())));
        environment.push(("PATH".into(), self.path.clone().into()));
        // Else it would search the directories above for another one.
        environment.push(("BEADS_DIR".into(), workspace.folder.name().into()));
        let order = Order {
            program: self.file.as_os_str(),
            args: args.iter().map(OsString::from).collect(),
            folder: workspace.root.name(),
            environment,
            confinement: &Confinement::none(),
        };
        let stop = || !changes && ctx.cancel.is_cancelled();
        let until = Instant::now() + PATIENCE;
        let slow = "run it in a shell to see what it waits for";
        let ran = run(&order, &Leash { who: self.name, slow, stop: &stop, until }, MOST)?;
        if ran.cut {
            return Err(Fault::new(
                FaultKind::TooLarge,
                format!("{} printed more than {MOST} bytes", self.name),
            )
            .hint("ask it in a shell for less"));
        }
        let out = String::from_utf8_lossy(&ran.out);
        if !ran.success {
            return Err(self.refused(&complaint(&ran.err).or_else(|| complaint(&out)).unwrap_or_default()));
        }
        beads(&out).map_err(|said| {
            Fault::new(FaultKind::Upstream, format!("{} gave no list of beads: {said}", self.name))
                .hint(format!("run `{} list --json` in a shell to see what it says", self.name))
        })
    }

    fn refused(&self, complaint: &str) -> Fault {
        let said = if complaint.is_empty() { "it did not say why" } else { complaint };
        let lower = said.to_lowercase();
        let fault = Fault::new(FaultKind::Upstream, format!("{} refused: {said}", self.name));
        if lower.contains("no beads database") || lower.contains("not initialized") {
            let name = self.name;
            return fault
                .hint(format!("run `{name} init` in the project's root, or set beads.program to none"));
        }
        if lower.contains("not found") || lower.contains("no issue") {
            return fault.hint("bd_list shows the ids that there are");
        }
        fault.hint("change the arguments as it says; it owns these beads")
    }
}

/// The complaint of a program: the error of its JSON, or its first line that is no warning.
fn complaint(text: &str) -> Option<String> {
    let said = values(text).find_map(|value| {
        let inner = value.get("data").unwrap_or(&value);
        let error = inner.get("error")?;
        error.as_str().or_else(|| error.get("message")?.as_str()).map(str::to_owned)
    });
    let lines = || text.lines().map(str::trim).filter(|line| !line.is_empty());
    let is_warning = |line: &&str| {
        let line = line.trim_start_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
        line.starts_with("warn") || line.starts_with("note")
    };
    let said = said
        .or_else(|| lines().find(|line| !is_warning(line)).or_else(|| lines().next()).map(str::to_owned))?;
    let said = said.strip_prefix("Error: ").unwrap_or(&said);
    Some(said.chars().filter(|c| !c.is_control()).take(COMPLAINT).collect())
}

/// The beads in what a program printed: an array, an envelope around one, one bead, or words that say
/// there is none. Warnings before and after it are passed over.
fn beads(out: &str) -> Result<Vec<Bead>, String> {
    if let Some(found) = values(out).find_map(|value| listed(&value)) {
        return Ok(found);
    }
    let lower = out.to_lowercase();
    let none =
        ["no issues", "no ready", "no beads", "no open issues"].iter().any(|words| lower.contains(words));
    if none || lower.trim().is_empty() {
        return Ok(Vec::new());
    }
    Err(complaint(out).unwrap_or_default())
}

/// Every JSON object or array that begins at the start of a line.
fn values(text: &str) -> impl Iterator<Item = Value> {
    let starts = text.match_indices(['[', '{']).map(|(at, _)| at);
    let starts = starts.filter(|at| text[..*at].chars().next_back().is_none_or(|before| before == '\n'));
    starts.filter_map(|at| serde_json::Deserializer::from_str(&text[at..]).into_iter().next()?.ok())
}

fn listed(value: &Value) -> Option<Vec<Bead>> {
    match value {
        // A word in brackets is a warning, not a list.
        Value::Array(rows) => rows.iter().map(bead).collect(),
        Value::Object(map) => {
            let inner = ["data", "issues", "items", "results", "beads", "issue"]
                .iter()
                .find_map(|name| map.get(*name));
            match inner {
                Some(Value::Null) => Some(Vec::new()),
                Some(inner) => listed(inner),
                None if map.contains_key("id") => Some(vec![bead(value)?]),
                None if map.keys().all(|name| name == "schema_version") => Some(Vec::new()),
                None => None,
            }
        }
        _ => None,
    }
}

fn bead(row: &Value) -> Option<Bead> {
    let text = |name: &str| row.get(name).and_then(Value::as_str).map(str::to_owned);
    Some(Bead {
        id: text("id")?,
        title: text("title").unwrap_or_default(),
        status: text("status").unwrap_or_else(|| "open".into()),
        created: text("created_at").as_deref().and_then(Moment::parse),
        ..Bead::default()
    })
}

#[cfg(test)]
#[path = "tracker_tests.rs"]
mod tests;

//! A client's own file that entries of ours are put into: the change is shown, asked about and made, and taken
//! back exactly.

use std::{
    io::{self, BufRead as _, IsTerminal as _},
    path::{Path, PathBuf},
};

use clap::Args;
use serde_json::json;
use tectum::{
    Config, Fault, FaultKind,
    client_hooks::{HookEntries, PlacedHook},
    state,
};

use super::{
    super::{
        failure::Failure,
        options::Shared,
        screen::{Screen, agrees, harmless},
        snippets::quoted,
    },
    kept::KeptHooks,
};

/// The mode of a file that is made.
const MODE: u32 = 0o644;

/// How a change of a client's file is made.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct Manner {
    /// In your own settings of the client, for all projects
    #[arg(long)]
    pub(crate) user: bool,
    /// Change the file without asking
    #[arg(short, long, conflicts_with = "dry_run")]
    pub(crate) yes: bool,
    /// Show the change and make none
    #[arg(long)]
    pub(crate) dry_run: bool,
}

/// A client's file and what is known about it.
pub(crate) struct HookSite {
    pub(crate) config: Config,
    pub(crate) file: PathBuf,
    manner: Manner,
    before: Option<String>,
    kept: KeptHooks,
}

impl HookSite {
    /// The file of this name below the project or the user's home. What is put there is noted in `record`.
    pub(crate) fn open(
        name: &str,
        record: &str,
        manner: Manner,
        shared: &Shared,
        screen: &Screen,
    ) -> Result<Self, Failure> {
        let config = shared.load(Vec::new(), screen)?;
        let below = if manner.user { config.home.as_deref() } else { Some(config.directory.as_path()) };
        let nowhere = |what: &str| {
            Fault::invalid(format!("{what}: HOME is not set to an absolute path")).hint("set HOME")
        };
        let file = below.ok_or_else(|| nowhere("your own settings of a client cannot be found"))?;
        let file = file.join(name);
        let state =
            config.state.as_deref().ok_or_else(|| nowhere("there is nowhere to note what is written"))?;
        let kept = KeptHooks::read(&state.join(record))?;
        let broken = |why: String| Fault::conflict(format!("{} cannot be changed: {why}", file.display()));
        let before = tectum_state::read(&file).map_err(|error| broken(error.to_string()))?;
        let before = before
            .map(String::from_utf8)
            .transpose()
            .map_err(|_| broken("it is not text in UTF-8".into()))?;
        Ok(Self { config, file, manner, before, kept })
    }

    /// Puts these entries into the file.
    pub(crate) fn install(self, entries: &HookEntries, done: &str, screen: &Screen) -> Result<bool, Failure> {
        let before = self.before.as_deref();
        if before.is_some_and(|text| entries.are_placed(text) == Ok(true)) {
            let done = format!("{} already has the hook", self.file.display());
            screen.done(&json!({ "ok": true, "changed": false, "file": self.file }), &done)?;
            return Ok(false);
        }
        // One of an earlier place of the program goes first.
        let bare = match before {
            Some(text) => entries.remove(text, &self.kept.of(&self.file)).map_err(|why| self.broken(&why))?,
            None => None,
        };
        let (after, placed) = entries.place(bare.as_deref()).map_err(|why| self.broken(&why))?;
        let done = format!("{done} ({})", self.file.display());
        self.change(Some(&after), Some(placed), &done, screen)
    }

    /// Removes these entries from the file.
    pub(crate) fn remove(self, entries: &HookEntries, screen: &Screen) -> Result<(), Failure> {
        let Some(before) = &self.before else {
            let done = format!("{} does not exist", self.file.display());
            return screen.done(&json!({ "ok": true, "changed": false, "file": self.file }), &done);
        };
        let after = entries.remove(before, &self.kept.of(&self.file)).map_err(|why| self.broken(&why))?;
        if after.as_ref() == Some(before) {
            let done = format!("{} has no hook of Tectum", self.file.display());
            return screen.done(&json!({ "ok": true, "changed": false, "file": self.file }), &done);
        }
        let done = format!("{} has no hook of Tectum any more", self.file.display());
        self.change(after.as_deref(), None, &done, screen)?;
        Ok(())
    }

    /// The program and its directory, as words of a client's command.
    pub(crate) fn program(&self) -> Result<String, Failure> {
        Ok(quoted(&std::env::current_exe()?.display().to_string()))
    }

    /// The argument that names the project; none in the user's own settings.
    pub(crate) fn directory(&self) -> String {
        if self.manner.user {
            return String::new();
        }
        let directory = state::canonical(&self.config.directory).display().to_string();
        format!(" -C {}", quoted(&directory))
    }

    fn broken(&self, why: &str) -> Failure {
        Fault::conflict(format!("{} cannot be changed: {why}", self.file.display()))
            .hint("mend the file, then run this again")
            .into()
    }

    /// Shows the change and makes it, if a person agrees. True if it was made.
    fn change(
        mut self,
        after: Option<&str>,
        placed: Option<PlacedHook>,
        done: &str,
        screen: &Screen,
    ) -> Result<bool, Failure> {
        let diff = diff(&self.file, self.before.as_deref().unwrap_or_default(), after.unwrap_or_default());
        let Manner { yes, dry_run, .. } = self.manner;
        if !screen.json {
            screen.print(&harmless(&diff))?;
        }
        let agreed = yes || (!dry_run && agrees_to_it(screen)?);
        if agreed {
            // Noted first: what is noted and not there is passed over.
            let removed = placed.is_none();
            if let Some(placed) = placed {
                self.kept.note(&self.file, Some(placed))?;
            }
            match after {
                Some(after) => tectum_state::replace_with_mode(&self.file, after.as_bytes(), MODE)?,
                None => drop(tectum_state::remove(&self.file)?),
            }
            if removed {
                self.kept.note(&self.file, None)?;
            }
        }
        if screen.json {
            screen.print_json(&json!({ "ok": true, "changed": agreed, "file": self.file, "diff": diff }))?;
        } else if agreed {
            screen.done(&json!({}), done)?;
        } else if !dry_run {
            screen.print("nothing was changed")?;
        }
        Ok(agreed)
    }
}

fn agrees_to_it(screen: &Screen) -> Result<bool, Failure> {
    if screen.json || !io::stdin().is_terminal() {
        let fault =
            Fault::new(FaultKind::Permission, "cannot ask for consent: standard input is not a terminal");
        return Err(fault.hint("run it in a terminal, or add --yes").into());
    }
    screen.tell("Make this change? Type yes or no:");
    let mut line = String::new();
    io::stdin().lock().read_line(&mut line)?;
    Ok(agrees(&line))
}

/// The change as people read it. A client's settings may hold keys, which are hidden.
fn diff(file: &Path, before: &str, after: &str) -> String {
    let name = file.display().to_string();
    let diff = similar::TextDiff::from_lines(before, after);
    let text = diff.unified_diff().header(&name, &name).to_string();
    tectum_redact::text(&text).into_owned()
}

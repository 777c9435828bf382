//! `tectum hook install` and `remove`: the change to a client's own file is shown, asked about and made.

use std::{
    io::{self, BufRead as _, IsTerminal as _},
    path::{Path, PathBuf},
};

use clap::Args;
use serde_json::json;
use tectum::{
    Config, Fault, FaultKind,
    client_hooks::{HookShape, PlacedHook},
    state,
};

use super::{
    super::{
        failure::Failure,
        options::Shared,
        screen::{Screen, agrees, harmless, tell_note},
        snippets::quoted,
    },
    kept::KeptHooks,
    named::shape,
};

/// The mode of a file that is made.
const MODE: u32 = 0o644;

/// Write the hook into a client's settings.
#[derive(Debug, Args)]
#[command(after_help = "\
The change is shown first. Without --user it holds for this project only; with it, every project
without a running Tectum has its tools denied.

Example:
  tectum hook install claude -C ~/src/my-project")]
pub(crate) struct InstallHook {
    #[command(flatten)]
    target: HookTarget,
}

/// Remove exactly what was written.
#[derive(Debug, Args)]
pub(crate) struct RemoveHook {
    #[command(flatten)]
    target: HookTarget,
}

#[derive(Debug, Args)]
struct HookTarget {
    /// claude, codex, cursor or gemini
    #[arg(value_name = "CLIENT", value_parser = shape)]
    client: HookShape,
    /// In your own settings of the client, for all projects
    #[arg(long)]
    user: bool,
    /// Change the file without asking
    #[arg(short, long, conflicts_with = "dry_run")]
    yes: bool,
    /// Show the change and make none
    #[arg(long)]
    dry_run: bool,
}

impl InstallHook {
    pub(crate) fn run(self, shared: &Shared, screen: &Screen) -> Result<(), Failure> {
        let site = HookSite::open(self.target, shared, screen)?;
        let shape = site.target.client;
        let command = site.command()?;
        let before = site.before.as_deref();
        if before.is_some_and(|text| shape.is_placed(text, &command) == Ok(true)) {
            let done = format!("{} already has the hook", site.file.display());
            return screen.done(&json!({ "ok": true, "changed": false, "file": site.file }), &done);
        }
        // One of an earlier place of the program goes first.
        let bare = match before {
            Some(text) => shape.remove(text, &site.kept.of(&site.file)).map_err(|why| site.broken(&why))?,
            None => None,
        };
        let (after, placed) = shape.place(bare.as_deref(), &command).map_err(|why| site.broken(&why))?;
        let file = site.file.display().to_string();
        let title = shape.name();
        if site.change(
            Some(&after),
            Some(placed),
            &format!("{title} asks Tectum before its own tools ({file})"),
            screen,
        )? {
            for note in notes(shape) {
                tell_note(note, screen);
            }
        }
        Ok(())
    }
}

impl RemoveHook {
    pub(crate) fn run(self, shared: &Shared, screen: &Screen) -> Result<(), Failure> {
        let site = HookSite::open(self.target, shared, screen)?;
        let shape = site.target.client;
        let Some(before) = &site.before else {
            let done = format!("{} does not exist", site.file.display());
            return screen.done(&json!({ "ok": true, "changed": false, "file": site.file }), &done);
        };
        let after = shape.remove(before, &site.kept.of(&site.file)).map_err(|why| site.broken(&why))?;
        if after.as_ref() == Some(before) {
            let done = format!("{} has no hook of Tectum", site.file.display());
            return screen.done(&json!({ "ok": true, "changed": false, "file": site.file }), &done);
        }
        let done = format!("{} has no hook of Tectum any more", site.file.display());
        site.change(after.as_deref(), None, &done, screen)?;
        Ok(())
    }
}

/// What else a person has to know or do.
fn notes(shape: HookShape) -> &'static [&'static str] {
    match shape {
        HookShape::Claude => &["it holds from Claude Code's next start; `/hooks` shows it"],
        HookShape::Codex => &[
            "Codex runs it once you trust this folder and the hook: start Codex here and review it in `/hooks`",
            "Codex cannot ask you from a hook, so what a rule would ask about is denied there",
        ],
        HookShape::Cursor => &[
            "Cursor asks you about commands and MCP tools only; other tools are denied where a rule would ask",
        ],
        HookShape::Gemini => &["it holds from Gemini CLI's next start"],
    }
}

/// A client's file and what is known about it.
struct HookSite {
    target: HookTarget,
    config: Config,
    file: PathBuf,
    before: Option<String>,
    kept: KeptHooks,
}

impl HookSite {
    fn open(target: HookTarget, shared: &Shared, screen: &Screen) -> Result<Self, Failure> {
        let config = shared.load(Vec::new(), screen)?;
        let below = if target.user { config.home.as_deref() } else { Some(config.directory.as_path()) };
        let nowhere = |what: &str| {
            Fault::invalid(format!("{what}: HOME is not set to an absolute path")).hint("set HOME")
        };
        let file = below.ok_or_else(|| nowhere("your own settings of a client cannot be found"))?;
        let file = file.join(target.client.file(target.user));
        let state =
            config.state.as_deref().ok_or_else(|| nowhere("there is nowhere to note what is written"))?;
        let kept = KeptHooks::read(state)?;
        let broken = |why: String| Fault::conflict(format!("{} cannot be changed: {why}", file.display()));
        let before = tectum_state::read(&file).map_err(|error| broken(error.to_string()))?;
        let before = before
            .map(String::from_utf8)
            .transpose()
            .map_err(|_| broken("it is not text in UTF-8".into()))?;
        Ok(Self { target, config, file, before, kept })
    }

    /// The command that the client runs. If the program itself cannot run, the shell denies.
    fn command(&self) -> Result<String, Failure> {
        let program = std::env::current_exe()?.display().to_string();
        let mut command = format!("{} hook --client {}", quoted(&program), self.target.client.name());
        if !self.target.user {
            let directory = state::canonical(&self.config.directory).display().to_string();
            command.push_str(&format!(" -C {}", quoted(&directory)));
        }
        let denied =
            "the tectum hook could not run, so this is denied; a person mends it with: tectum hook install";
        Ok(format!("{command} || {{ echo '{denied} {}' >&2; exit 2; }}", self.target.client.name()))
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
        let HookTarget { yes, dry_run, .. } = self.target;
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

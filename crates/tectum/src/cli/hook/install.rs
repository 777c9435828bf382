//! `tectum hook install` and `remove`: the hook before a client's own tools.

use clap::Args;
use tectum::client_hooks::HookShape;

use super::{
    super::{
        failure::Failure,
        options::Shared,
        screen::{Screen, tell_note},
    },
    named::shape,
    site::{HookSite, Manner},
};

/// The record of what was put into files.
const RECORD: &str = "client-hooks.json";

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
    #[command(flatten)]
    manner: Manner,
}

impl InstallHook {
    pub(crate) fn run(self, shared: &Shared, screen: &Screen) -> Result<(), Failure> {
        let (client, site) = self.target.site(shared, screen)?;
        let command = command(client, &site)?;
        let done = format!("{} asks Tectum before its own tools", client.name());
        if site.install(&client.entries(&command), &done, screen)? {
            notes(client).iter().for_each(|note| tell_note(note, screen));
        }
        Ok(())
    }
}

impl RemoveHook {
    pub(crate) fn run(self, shared: &Shared, screen: &Screen) -> Result<(), Failure> {
        let (client, site) = self.target.site(shared, screen)?;
        site.remove(&client.entries(""), screen)
    }
}

impl HookTarget {
    fn site(self, shared: &Shared, screen: &Screen) -> Result<(HookShape, HookSite), Failure> {
        let Self { client, manner } = self;
        Ok((client, HookSite::open(client.file(manner.user), RECORD, manner, shared, screen)?))
    }
}

/// The command that the client runs. If the program itself cannot run, the shell denies.
fn command(client: HookShape, site: &HookSite) -> Result<String, Failure> {
    let (program, name) = (site.program()?, client.name());
    let command = format!("{program} hook --client {name}{}", site.directory());
    let denied =
        "the tectum hook could not run, so this is denied; a person mends it with: tectum hook install";
    Ok(format!("{command} || {{ echo '{denied} {name}' >&2; exit 2; }}"))
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

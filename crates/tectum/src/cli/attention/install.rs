//! `tectum attention install` and `remove`: hooks in a client's own file that ask for news.

use clap::Args;
use serde_json::json;
use tectum::{Fault, client_hooks::NewsClient, state};

use super::super::{
    failure::Failure,
    hook::{HookSite, Manner},
    options::Shared,
    screen::{Screen, tell_note},
};

/// The record of what was put into files.
const RECORD: &str = "client-news.json";

/// Have a client ask for news with hooks of its own.
#[derive(Debug, Args)]
#[command(after_help = "\
The change is shown first, and `remove` takes back exactly what was written.

Example:
  tectum attention install claude -C ~/src/my-project")]
pub(crate) struct InstallNews {
    #[command(flatten)]
    target: NewsTarget,
}

/// Remove exactly what was written.
#[derive(Debug, Args)]
pub(crate) struct RemoveNews {
    #[command(flatten)]
    target: NewsTarget,
}

#[derive(Debug, Args)]
struct NewsTarget {
    /// claude, codex, cursor, vscode, gemini or goose
    #[arg(value_name = "CLIENT", value_parser = client)]
    client: NewsClient,
    #[command(flatten)]
    manner: Manner,
}

/// A client, or which there are.
pub(super) fn client(name: &str) -> Result<NewsClient, String> {
    let names = NewsClient::ALL.map(NewsClient::name).join(", ");
    NewsClient::named(name).ok_or_else(|| format!("clients that can be told of news: {names}"))
}

impl InstallNews {
    pub(crate) fn run(self, shared: &Shared, screen: &Screen) -> Result<(), Failure> {
        let client = self.target.client;
        let Some(site) = self.target.site(shared, screen)? else {
            return goose(true, self.target.manner.dry_run, shared, screen);
        };
        let name = client.name();
        let command =
            format!("{} attention hook --client {name} {}|| echo '{{}}'", site.program()?, site.directory());
        let done = format!("{name} asks Tectum for news");
        if site.install(&client.entries(&command), &done, screen)? {
            tell_note(note(client), screen);
        }
        Ok(())
    }
}

impl RemoveNews {
    pub(crate) fn run(self, shared: &Shared, screen: &Screen) -> Result<(), Failure> {
        match self.target.site(shared, screen)? {
            None => goose(false, self.target.manner.dry_run, shared, screen),
            Some(site) => site.remove(&self.target.client.entries(""), screen),
        }
    }
}

impl NewsTarget {
    fn site(&self, shared: &Shared, screen: &Screen) -> Result<Option<HookSite>, Failure> {
        let Self { client, manner } = *self;
        let Some(file) = client.file(manner.user) else { return Ok(None) };
        HookSite::open(file, RECORD, manner, shared, screen).map(Some)
    }
}

/// What else a person has to know.
fn note(client: NewsClient) -> &'static str {
    match client {
        NewsClient::Claude => {
            "Claude Code calls get_attention of the server `tectum` itself, from its next start on; \
             for urgent news while it rests, add a plugin with a monitor: `tectum attention watch --help`"
        }
        NewsClient::Codex => {
            "Codex runs it once you trust this folder and the hook: start Codex here and review it in `/hooks`"
        }
        NewsClient::Cursor | NewsClient::Gemini => "it holds from the client's next start",
        NewsClient::Vscode => {
            "agent hooks are a preview in VS Code: switch on chat.useHooks; the file belongs to the repository"
        }
        NewsClient::Goose => "",
    }
}

/// goose reads a file with every turn; a running house keeps it once it is there.
fn goose(on: bool, dry_run: bool, shared: &Shared, screen: &Screen) -> Result<(), Failure> {
    let config = shared.load(Vec::new(), screen)?;
    let folder = config.state.as_deref().map(|state| state::of_project(state, &config.directory));
    let folder =
        folder.ok_or_else(|| Fault::invalid("there is nowhere to keep the file").hint("set HOME"))?;
    let file = folder.join(tectum::GOOSE_FILE);
    let line = format!("export GOOSE_MOIM_MESSAGE_FILE={}", file.display());
    let data = json!({ "ok": true, "changed": !dry_run, "file": file, "environment": line });
    if dry_run {
        return screen
            .answer(&data, &format!("would {} {}", if on { "make" } else { "remove" }, file.display()));
    }
    if on {
        tectum_state::make_folder(&folder)?;
        tectum_state::replace(&file, b"", tectum_state::Lasts::PowerCut)?;
        screen.done(&data, &format!("goose reads its news from {}", file.display()))?;
        tell_note(&format!("start goose with: {line}"), screen);
        return Ok(());
    }
    tectum_state::remove(&file)?;
    screen.done(
        &data,
        &format!("{} is gone; take GOOSE_MOIM_MESSAGE_FILE out of your environment", file.display()),
    )
}

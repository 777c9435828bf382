//! `tectum restart` and `tectum input`: numbers and answers that are kept in the user's state.

use std::io::{self, IsTerminal as _, Read as _};

use clap::Args;
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};
use serde_json::json;
use tectum::{
    Fault, FaultKind,
    config::servers::{context, survey::Server},
    peers::{child, spec::Transport},
};
use tokio::{
    runtime::Builder,
    signal::unix::{SignalKind, signal},
};

use super::{
    super::{
        failure::Failure,
        held,
        options::{Named, Shared},
        screen::Screen,
        serve,
    },
    Site, cannot_write,
};

/// The longest answer.
const MOST_ANSWER: u64 = 64 << 10;

/// Store the value of ${input:ID} for settings files that ask for it.
#[derive(Debug, Args)]
#[command(after_help = "\
The value is read from standard input, one line; a terminal does not show it. It is stored in a
private file outside every project. TECTUM_INPUT_<ID> in the environment overrides it.")]
pub(crate) struct Input {
    /// The id, as it is in the file
    #[arg(value_name = "ID")]
    id: String,
    /// Delete the value
    #[arg(long)]
    forget: bool,
}

/// Restarts a server in a running Tectum.
pub(crate) fn restart(named: &Named, shared: &Shared, screen: &Screen) -> Result<(), Failure> {
    let site = Site::load(shared, screen)?;
    let server = site.server(&named.name)?;
    if let Some(fault) = held::fault(server) {
        return Err(fault.into());
    }
    let name = server.entry.name.to_string();
    if let Some(why) = cannot_start(&site, server) {
        let fault = Fault::not_found(format!("`{name}` cannot start: {why}"));
        return Err(fault.hint(format!("`tectum get {name}` shows its entry")).into());
    }
    let state = site.state()?;
    let file = context::generations_file(state);
    let mut generation = 0;
    let kept = context::keep(state, &file, |table| {
        let number: &mut u64 = table.entry(name.clone()).or_default();
        *number = number.wrapping_add(1);
        generation = *number;
    });
    kept.map_err(|error| cannot_write(&file, &error))?;
    let running = site.running().len();
    let sentence = match running {
        0 => format!("no Tectum runs for this folder; `{name}` starts when it is needed"),
        _ => format!("a running Tectum restarts `{name}` in a moment; `tectum list` shows its state"),
    };
    let data = json!({ "ok": true, "server": name, "generation": generation, "running": running });
    screen.done(&data, &sentence)
}

/// The reason why the program of a server cannot be started, if that is known beforehand.
fn cannot_start(site: &Site, server: &Server) -> Option<String> {
    let Transport::Stdio(launch) = &server.verdict.as_ref().ok()?.transport else { return None };
    child::program_of(launch, &site.config.directory).err().map(|error| error.to_string())
}

impl Input {
    pub(crate) fn run(self, shared: &Shared, screen: &Screen) -> Result<(), Failure> {
        let site = Site::load(shared, screen)?;
        let state = site.state()?;
        let file = context::inputs_file(state);
        let answer = if self.forget { None } else { Some(answer(&self.id, screen)?) };
        let mut before = None;
        let kept = context::keep(state, &file, |table| {
            before = match answer {
                Some(answer) => table.insert(self.id.clone(), answer),
                None => table.remove(&self.id),
            };
        });
        kept.map_err(|error| cannot_write(&file, &error))?;
        let done = match (self.forget, before.is_some()) {
            (true, true) => "deleted the value for",
            (true, false) => "there was no value for",
            (false, _) => "stored the value for",
        };
        screen.done(
            &json!({ "ok": true, "input": self.id, "kept": !self.forget }),
            &format!("{done} `{}`", self.id),
        )
    }
}

fn answer(id: &str, screen: &Screen) -> Result<String, Failure> {
    let input = io::stdin();
    let mut line = String::new();
    if input.is_terminal() {
        screen.tell(&format!("{id}: (what you type is not shown)"));
        line = typed_unseen(id)?;
    } else {
        input.lock().take(MOST_ANSWER).read_to_string(&mut line)?;
    }
    let answer = line.lines().next().unwrap_or_default();
    if answer.is_empty() {
        return Err(Fault::invalid(format!("there is no value for `{id}` on standard input"))
            .hint(format!("type it, or pipe it: printf %s \"$KEY\" | tectum input {id}"))
            .into());
    }
    Ok(answer.to_owned())
}

/// One line of a terminal that does not show it. Whoever ends the command instead gets the terminal
/// back as it was.
fn typed_unseen(id: &str) -> Result<String, Failure> {
    let typed = serve::to_the_end(Builder::new_current_thread(), async {
        let mut interrupts = signal(SignalKind::interrupt())?;
        let mut terminations = signal(SignalKind::terminate())?;
        let mut hangups = signal(SignalKind::hangup())?;
        // Only now: who ended the command before would be left with a terminal that shows nothing.
        let _silence = Silence::begin();
        let read = tokio::task::spawn_blocking(|| {
            let mut line = String::new();
            io::stdin().read_line(&mut line).map(|_| line)
        });
        tokio::select! {
            line = read => line.map_err(io::Error::other)?.map(Some),
            _ = interrupts.recv() => Ok(None),
            _ = terminations.recv() => Ok(None),
            _ = hangups.recv() => Ok(None),
        }
    });
    match typed?? {
        Some(line) => Ok(line),
        None => Err(Fault::new(FaultKind::Cancelled, format!("no value for `{id}` was stored")).into()),
    }
}

/// A terminal that shows nothing of what is typed, until this is dropped.
struct Silence(Option<Termios>);

impl Silence {
    fn begin() -> Self {
        let input = io::stdin();
        let Ok(before) = tcgetattr(&input) else { return Self(None) };
        let mut silent = before.clone();
        silent.local_modes.remove(LocalModes::ECHO);
        let done = tcsetattr(&input, OptionalActions::Now, &silent);
        Self(done.ok().map(|()| before))
    }
}

impl Drop for Silence {
    fn drop(&mut self) {
        if let Some(before) = &self.0 {
            // A terminal that is gone needs nothing put back.
            let _ = tcsetattr(io::stdin(), OptionalActions::Now, before);
        }
    }
}

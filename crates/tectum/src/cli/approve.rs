//! `tectum approve-tools`: what servers changed about tools that were approved, as a diff, and
//! a person's consent to it.

use std::{
    io::{self, IsTerminal as _, Write as _},
    path::Path,
};

use clap::Args;
use serde_json::{Value, json};
use tectum::{
    Fault, FaultKind,
    peers::{
        federation::pins::{Change, Pins},
        spec::ServerName,
        visible::visible,
    },
    servers,
};

use super::{
    Shared,
    failure::Failure,
    held,
    screen::{Colour, Screen, agrees, counted},
};

/// See how servers changed their tools, and approve it.
#[derive(Debug, Args)]
pub(crate) struct ApproveTools {
    /// The server; all of them if absent
    #[arg(value_name = "SERVER")]
    server: Option<String>,
    /// The tools, by the server's own names; all that changed if absent
    #[arg(value_name = "TOOL")]
    tools: Vec<String>,
    /// Approve without asking
    #[arg(short, long)]
    yes: bool,
}

impl ApproveTools {
    pub(crate) fn run(self, shared: &Shared, screen: &Screen) -> Result<(), Failure> {
        let config = shared.load(Vec::new(), screen)?;
        let Some(place) = servers::directory(&config) else {
            let fault = Fault::invalid("nothing is kept here, so nothing waits for approval");
            return Err(fault.hint("set HOME, or XDG_STATE_HOME, to where Tectum may keep its state").into());
        };
        let specs = tectum::config::servers::Live::new(shared.sources(Vec::new())).specs().specs;
        let names: Vec<ServerName> = specs.into_iter().map(|spec| spec.name).collect();
        if let Some(server) =
            self.server.as_ref().filter(|server| !names.iter().any(|name| name.as_str() == *server))
        {
            return Err(held::missing(shared, &config, server).into());
        }
        let wanted = |name: &&ServerName| self.server.as_ref().is_none_or(|server| name.as_str() == server);
        let waiting: Vec<(ServerName, Vec<Change>)> = names
            .iter()
            .filter(wanted)
            .map(|name| (name.clone(), self.changes(&Pins::kept(&place, name))))
            .filter(|(_, changes)| !changes.is_empty())
            .collect();
        self.refuse_strangers(&place, &names)?;
        if waiting.is_empty() {
            return match screen.json {
                true => screen.print_json(&json!({ "waiting": [], "approved": false })),
                false => screen.print("no changed tool waits for approval"),
            };
        }
        if !screen.json {
            for (name, changes) in &waiting {
                changes.iter().try_for_each(|change| screen.print(&shown(name, change, screen)))?;
            }
        }
        let approved = self.yes || self.asked(screen)?;
        if approved {
            for (name, changes) in &waiting {
                let mut pins = Pins::kept(&place, name);
                changes.iter().for_each(|change| pins.approve(change));
                pins.keep(&place, name)?;
            }
        }
        let all = waiting.iter().flat_map(|(name, changes)| changes.iter().map(move |change| (name, change)));
        if screen.json {
            let waiting: Vec<Value> = all.map(|(name, change)| data(name, change)).collect();
            return screen.print_json(&json!({ "waiting": waiting, "approved": approved }));
        }
        match approved {
            true => screen.print(&format!(
                "{} approved {}; a running Tectum follows within a second",
                screen.paint(Colour::Green, "ok:"),
                counted(all.count() as u64, "change")
            )),
            false => screen.print("nothing is approved; the tools stay withheld"),
        }
    }

    fn changes(&self, pins: &Pins) -> Vec<Change> {
        let changes = pins.changes().into_iter();
        changes.filter(|change| self.tools.is_empty() || self.tools.contains(&change.tool)).collect()
    }

    /// A tool that does not wait while others do is a slip of the pen.
    fn refuse_strangers(&self, place: &Path, names: &[ServerName]) -> Result<(), Fault> {
        let Some(server) = names.iter().find(|name| self.server.as_deref() == Some(name.as_str())) else {
            return Ok(());
        };
        let waiting: Vec<String> =
            Pins::kept(place, server).changes().into_iter().map(|change| change.tool).collect();
        let Some(stranger) = self.tools.iter().find(|tool| !waiting.contains(tool)) else { return Ok(()) };
        if waiting.is_empty() {
            return Ok(());
        }
        let shown: Vec<String> = waiting.iter().map(|tool| format!("`{}`", visible(tool))).collect();
        let fault =
            Fault::not_found(format!("no changed tool `{stranger}` of `{server}` waits for approval"));
        Err(fault.hint(format!("waiting: {}", shown.join(", "))))
    }

    fn asked(&self, screen: &Screen) -> Result<bool, Failure> {
        if screen.json {
            return Ok(false);
        }
        if !io::stdin().is_terminal() {
            let message = "there is nobody to ask: standard input is no terminal";
            return Err(Fault::new(FaultKind::Permission, message)
                .hint("look at the changes above, then say --yes")
                .into());
        }
        write!(io::stderr(), "Approve these changes? [y/N] ")?;
        let mut line = String::new();
        io::stdin().read_line(&mut line)?;
        Ok(agrees(&line))
    }
}

/// The change as lines taken away and lines added, with nothing hidden in them.
fn shown(server: &ServerName, change: &Change, screen: &Screen) -> String {
    let pretty = |value: &Value| serde_json::to_string_pretty(value).unwrap_or_default();
    let (old, new) = (pretty(&change.approved), pretty(&change.waiting));
    let mut text = screen.paint(Colour::Bold, &format!("{server}: {}", visible(&change.tool)));
    for line in diff(&old, &new) {
        let colour = match line.chars().next() {
            Some('+') => Colour::Green,
            Some('-') => Colour::Red,
            _ => Colour::Dim,
        };
        text.push('\n');
        text.push_str(&screen.paint(colour, &visible(&line)));
    }
    text
}

/// The changed lines of a text, with a little around them.
fn diff(old: &str, new: &str) -> Vec<String> {
    let diff = similar::TextDiff::from_lines(old, new);
    let text = diff.unified_diff().context_radius(2).to_string();
    text.lines().map(str::to_owned).collect()
}

fn data(server: &ServerName, change: &Change) -> Value {
    json!({
        "server": server.as_str(),
        "tool": change.tool,
        "approved": change.approved,
        "waiting": change.waiting,
    })
}

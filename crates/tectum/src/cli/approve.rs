//! `tectum approve-tools`: what servers changed about tools and instructions that were approved, as a
//! diff, and a person's consent to it.

use std::{
    io::{self, IsTerminal as _, Write as _},
    path::PathBuf,
};

use clap::Args;
use serde_json::{Value, json};
use tectum::{
    Fault, FaultKind,
    peers::{
        federation::{Change, Review, Subject},
        spec::{ServerName, ServerSpec},
        visible::visible,
    },
    servers,
};

use super::{
    failure::Failure,
    held,
    options::Shared,
    screen::{Colour, Screen, agrees, counted},
};

/// Review and approve changes to servers' tools.
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
            let fault = Fault::invalid("Tectum keeps no state here, so no change waits for approval");
            return Err(fault
                .hint("set HOME or XDG_STATE_HOME to a directory where Tectum can keep its state")
                .into());
        };
        let specs = tectum::config::servers::Live::new(shared.sources(Vec::new())).specs().specs;
        if let Some(server) =
            self.server.as_ref().filter(|server| !specs.iter().any(|spec| spec.name.as_str() == *server))
        {
            return Err(held::missing(shared, &config, server).into());
        }
        let wanted =
            |spec: &ServerSpec| self.server.as_ref().is_none_or(|server| spec.name.as_str() == server);
        let mut waiting = Vec::new();
        for spec in specs.into_iter().filter(wanted) {
            let review = Review::read(&place, &spec);
            self.refuse_strangers(&spec.name, &review)?;
            let changes = self.chosen(&review);
            if !changes.is_empty() || review.lost.is_some() {
                waiting.push(Waiting { spec, review, changes });
            }
        }
        if waiting.is_empty() {
            let none = json!({ "waiting": [], "lost": [], "approved": false });
            return screen.answer(&none, "no changes wait for approval");
        }
        if !screen.json {
            waiting.iter().try_for_each(|one| screen.print(&one.shown(screen)))?;
        }
        let approved = self.yes || self.asked(screen)?;
        let mut aside: Vec<PathBuf> = Vec::new();
        if approved {
            for Waiting { spec, review, changes } in &waiting {
                aside.extend(review.approve(&place, spec, changes)?);
            }
        }
        if screen.json {
            let changes =
                waiting.iter().flat_map(|one| one.changes.iter().map(|change| data(&one.spec.name, change)));
            let lost = waiting.iter().filter_map(|one| {
                Some(json!({ "server": one.spec.name.as_str(), "why": one.review.lost.as_ref()? }))
            });
            return screen.print_json(&json!({
                "waiting": changes.collect::<Vec<_>>(),
                "lost": lost.collect::<Vec<_>>(),
                "aside": aside,
                "approved": approved,
            }));
        }
        for path in &aside {
            screen.print(&format!("the unreadable file is kept as {}", path.display()))?;
        }
        let count: usize = waiting.iter().map(|one| one.changes.len()).sum();
        if approved {
            let changes = counted(count as u64, "change");
            screen.print(
                &screen.ok(&format!("approved {changes}; a running Tectum picks it up within a second")),
            )
        } else {
            screen.print("nothing approved; the changes stay withheld")
        }
    }

    /// The changes this is about: those of the named tools, or all.
    fn chosen(&self, review: &Review) -> Vec<Change> {
        let named = |change: &&Change| match &change.subject {
            Subject::Tool(tool) => self.tools.is_empty() || self.tools.contains(tool),
            Subject::Instructions => self.tools.is_empty(),
        };
        review.changes.iter().filter(named).cloned().collect()
    }

    /// A tool that does not wait while others do is a slip of the pen.
    fn refuse_strangers(&self, server: &ServerName, review: &Review) -> Result<(), Fault> {
        let waiting: Vec<&String> = review
            .changes
            .iter()
            .filter_map(|change| match &change.subject {
                Subject::Tool(tool) => Some(tool),
                Subject::Instructions => None,
            })
            .collect();
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
            let message = "cannot ask for confirmation: standard input is not a terminal";
            return Err(Fault::new(FaultKind::Permission, message)
                .hint("check the changes above, then run it again with --yes")
                .into());
        }
        write!(io::stderr(), "Approve these changes? [y/N] ")?;
        let mut line = String::new();
        io::stdin().read_line(&mut line)?;
        Ok(agrees(&line))
    }
}

/// The changes that wait at one server, and the part of them that is asked about.
struct Waiting {
    spec: ServerSpec,
    review: Review,
    changes: Vec<Change>,
}

impl Waiting {
    fn shown(&self, screen: &Screen) -> String {
        let name = &self.spec.name;
        let lost = self.review.lost.as_ref().map(|why| {
            let next = if self.review.changes.is_empty() {
                "its tools are not known yet: whatever it offers at its next start is accepted"
            } else {
                "these are all the tools it offered last; approving accepts them as they are"
            };
            format!("{}: {}; {next}", screen.paint(Colour::Bold, name.as_str()), visible(why))
        });
        let changes = self.changes.iter().map(|change| shown(name, change, screen));
        lost.into_iter().chain(changes).collect::<Vec<_>>().join("\n")
    }
}

/// The change as lines taken away and lines added, with nothing hidden in them.
fn shown(server: &ServerName, change: &Change, screen: &Screen) -> String {
    let pretty = |value: &Value| match value {
        Value::Null => String::new(),
        Value::String(text) => format!("{text}\n"),
        value => format!("{value:#}\n"),
    };
    let (old, new) = (pretty(&change.approved), pretty(&change.waiting));
    let what = match &change.subject {
        Subject::Tool(tool) => visible(tool).into_owned(),
        Subject::Instructions => "instructions".to_owned(),
    };
    let new_tool = if change.approved.is_null() { " (new)" } else { "" };
    let mut text = screen.paint(Colour::Bold, &format!("{server}: {what}{new_tool}"));
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
    let (tool, instructions) = match &change.subject {
        Subject::Tool(tool) => (json!(tool), false),
        Subject::Instructions => (Value::Null, true),
    };
    json!({
        "server": server.as_str(),
        "tool": tool,
        "instructions": instructions,
        "approved": change.approved,
        "waiting": change.waiting,
    })
}

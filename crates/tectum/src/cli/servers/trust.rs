//! `tectum trust`: shows exactly what a project's servers would start, and asks.

use std::io::{self, BufRead as _, IsTerminal as _};

use clap::Args;
use serde_json::{Value, json};
use tectum::{
    Fault, FaultKind,
    config::servers::{
        Entry, keys, spoken,
        trust::{Ledger, Trust},
    },
};

use super::{
    super::{
        Shared,
        failure::Failure,
        screen::{Colour, Screen, agrees},
    },
    Site, cannot_write, entry_data,
};

/// See and agree to what a project's servers would start.
#[derive(Debug, Args)]
#[command(after_help = "\
A server that a file inside the project names does not start until somebody agreed to it. The
consent is to exactly what is shown; when the entry changes, it is asked for again. It is kept in
your own state, never in the project.")]
pub(crate) struct TrustCommand {
    /// Which servers; all that wait when none is named
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    /// Agree without being asked, for scripts
    #[arg(short, long, conflicts_with_all = ["list", "revoke"])]
    yes: bool,
    /// Show what is trusted and what waits
    #[arg(long, conflicts_with_all = ["names", "revoke"])]
    list: bool,
    /// Take the consent to a server back
    #[arg(long, value_name = "NAME", conflicts_with = "names")]
    revoke: Option<String>,
}

impl TrustCommand {
    pub(crate) fn run(self, shared: &Shared, screen: &Screen) -> Result<(), Failure> {
        let site = Site::load(shared, screen)?;
        if self.list {
            return list(&site, screen);
        }
        if let Some(name) = &self.revoke {
            return revoke(&site, name, screen);
        }
        let waiting = self.waiting(&site)?;
        if waiting.is_empty() {
            return match screen.json {
                true => screen.print_json(&json!({ "ok": true, "trusted": [] })),
                false => screen.print("nothing waits for your consent"),
            };
        }
        let asks = !self.yes && !screen.json && io::stdin().is_terminal();
        if !asks && !self.yes {
            if !screen.json {
                waiting.iter().try_for_each(|(entry, trust)| screen.print(&shown(entry, trust, screen)))?;
            }
            let names: Vec<&str> = waiting.iter().map(|(entry, _)| entry.name.as_str()).collect();
            let message = format!("nobody is here to agree to {}", names.join(", "));
            let hint = "run `tectum trust` in a terminal, or add --yes when you know what they start";
            return Err(Fault::new(FaultKind::Permission, message).hint(hint).into());
        }
        let mut agreed = Vec::new();
        for (entry, trust) in waiting {
            if !screen.json {
                screen.print(&shown(entry, trust, screen))?;
            }
            if !asks || consent(entry, screen)? {
                agreed.push(entry);
            }
        }
        keep(&site, |ledger| agreed.iter().for_each(|entry| ledger.agree(entry)))?;
        let names: Vec<&str> = agreed.iter().map(|entry| entry.name.as_str()).collect();
        match screen.json {
            true => screen.print_json(&json!({ "ok": true, "trusted": names })),
            false if names.is_empty() => screen.print("nothing is trusted"),
            false => {
                screen.print(&format!("{} trusted {}", screen.paint(Colour::Green, "ok:"), names.join(", ")))
            }
        }
    }

    /// The entries that wait, or those that are named.
    fn waiting<'s>(&self, site: &'s Site) -> Result<Vec<&'s (Entry, Trust)>, Failure> {
        let asked = &site.survey.asked;
        for name in &self.names {
            if asked.iter().all(|(entry, _)| entry.name.as_str() != name) {
                let server = site.server(name)?;
                let message = format!("`{name}` of {} is your own and needs no consent", server.entry.origin);
                return Err(Fault::invalid(message)
                    .hint("only servers that a project names wait for it")
                    .into());
            }
        }
        let wanted = |entry: &Entry| {
            self.names.is_empty() || self.names.iter().any(|name| name == entry.name.as_str())
        };
        Ok(asked.iter().filter(|(entry, trust)| wanted(entry) && !trust.suffices()).collect())
    }
}

fn list(site: &Site, screen: &Screen) -> Result<(), Failure> {
    let asked = &site.survey.asked;
    let word = |trust: &Trust| match trust {
        Trust::Own | Trust::Given => "trusted",
        Trust::Changed(_) => "changed",
        Trust::Asked => "untrusted",
    };
    if screen.json {
        let data = |(entry, trust): &(Entry, Trust)| {
            let mut data = entry_data(entry);
            data["trust"] = json!(word(trust));
            data["changes"] = if let Trust::Changed(changes) = trust { json!(changes) } else { json!([]) };
            data
        };
        return screen.print_json(&json!({ "servers": asked.iter().map(data).collect::<Vec<Value>>() }));
    }
    if asked.is_empty() {
        return screen.print("no file inside the project names a server");
    }
    let names = asked.iter().map(|(entry, _)| entry.name.as_str().len()).max().unwrap_or(0);
    let line = |(entry, trust): &(Entry, Trust)| {
        format!(
            "{:<names$}  {:<9}  {}\n",
            entry.name.as_str(),
            word(trust),
            spoken::text(&entry.origin.to_string())
        )
    };
    screen.print(&asked.iter().map(line).collect::<String>())
}

fn revoke(site: &Site, name: &str, screen: &Screen) -> Result<(), Failure> {
    let mut revoked = false;
    // The entry may be gone by now; its record is found by the name in its file.
    let written: Vec<&str> = site
        .survey
        .asked
        .iter()
        .filter(|(entry, _)| entry.name.as_str() == name)
        .map(|(entry, _)| entry.written.as_str())
        .chain([name])
        .collect();
    keep(site, |ledger| {
        for written in written {
            for file in ledger.files_of(written, &site.config.directory) {
                revoked |= ledger.revoke(&file, written);
            }
        }
    })?;
    if !revoked {
        let fault = Fault::not_found(format!("no server `{name}` of this project is trusted"));
        return Err(fault.hint("`tectum trust --list` shows what is").into());
    }
    match screen.json {
        true => screen.print_json(&json!({ "ok": true, "revoked": name })),
        false => {
            screen.print(&format!("{} `{name}` is not trusted any more", screen.paint(Colour::Green, "ok:")))
        }
    }
}

/// Changes what was agreed to, as it is now, under the lock.
fn keep(site: &Site, change: impl FnOnce(&mut Ledger)) -> Result<(), Failure> {
    let state = site.state()?;
    let path = Ledger::path(state);
    Ledger::change(state, change).map_err(|error| cannot_write(&path, &error))
}

/// All of an entry, and nothing of it shortened.
fn shown(entry: &Entry, trust: &Trust, screen: &Screen) -> String {
    let mut text = format!(
        "{}  from {}\n",
        screen.paint(Colour::Bold, entry.name.as_str()),
        spoken::text(&entry.source.path.display().to_string())
    );
    let mut line = |what: &str, words: String| text.push_str(&format!("  {what:<13}  {words}\n"));
    match entry.values.word(&keys::URL) {
        Some(url) => line("connects to", format!("{} ({})", spoken::quoted(url), entry.kind())),
        None => {
            for (i, word) in entry.argv().into_iter().enumerate() {
                line(if i == 0 { "starts" } else { "with" }, spoken::quoted(word));
            }
        }
    }
    if let Some(cwd) = entry.values.word(&keys::CWD) {
        line("in", spoken::quoted(cwd));
    }
    for (what, key) in [("environment", &keys::ENV), ("headers", &keys::HEADERS)] {
        entry.names(key).into_iter().for_each(|name| line(what, spoken::text(name)));
    }
    if let Trust::Changed(changes) = trust {
        changes.iter().for_each(|change| line("changed", change.clone()));
    }
    if let Some(problem) = &entry.problem {
        line("problem", spoken::text(&problem.to_string()));
    }
    text
}

fn consent(entry: &Entry, screen: &Screen) -> Result<bool, Failure> {
    screen.tell(&format!("Start `{}` from now on, exactly so? Type yes or no:", entry.name));
    let mut line = String::new();
    io::stdin().lock().read_line(&mut line)?;
    Ok(agrees(&line))
}

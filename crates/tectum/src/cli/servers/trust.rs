//! `tectum trust`: shows exactly what a project's servers would start and what its rules would allow,
//! and asks.

use std::{
    io::{self, BufRead as _, IsTerminal as _},
    path::Path,
};

use clap::Args;
use serde_json::{Value, json};
use tectum::{
    Config, Fault, FaultKind,
    config::{
        ProjectEnv,
        keys::ALLOW,
        servers::{
            Entry, keys, spoken,
            trust::{ENV, Ledger, RULES, Trust, record_of_env, record_of_rules},
        },
        value::Item,
    },
};

use super::{
    super::{
        failure::Failure,
        options::Shared,
        screen::{Colour, Screen, agrees},
    },
    Site, cannot_write, entry_data,
};

/// Review and approve what a project's servers would start and its rules would allow.
#[derive(Debug, Args)]
#[command(after_help = "\
A server configured in a file inside the project does not start until you approve it. Allow rules in
the project's tectum.toml permit nothing beyond your own settings until you approve them; here they
are called permissions.allow. What its mcp_env.toml sets for commands holds once you approve it. You
approve exactly what is shown; when that changes, you are asked
again. Approvals are stored in your own state directory, never in the project.")]
pub(crate) struct TrustCommand {
    /// Which servers, permissions.allow or mcp_env.toml; without any, all that wait for approval
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    /// Approve without asking, for scripts
    #[arg(short, long, conflicts_with_all = ["list", "revoke"])]
    yes: bool,
    /// Show what is trusted and what waits for approval
    #[arg(long, conflicts_with_all = ["names", "revoke"])]
    list: bool,
    /// Revoke the approval of a server, or of permissions.allow
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
            let none = json!({ "ok": true, "trusted": [] });
            return screen.answer(&none, "nothing waits for your approval");
        }
        let asks = !self.yes && !screen.json && io::stdin().is_terminal();
        if !asks && !self.yes {
            if !screen.json {
                waiting.iter().try_for_each(|asked| screen.print(&asked.shown(screen)))?;
            }
            let names: Vec<&str> = waiting.iter().map(Asked::name).collect();
            let message =
                format!("cannot ask for approval of {}: standard input is not a terminal", names.join(", "));
            let hint = "run `tectum trust` in a terminal, or add --yes when you know what they do";
            return Err(Fault::new(FaultKind::Permission, message).hint(hint).into());
        }
        let mut agreed = Vec::new();
        for asked in waiting {
            if !screen.json {
                screen.print(&asked.shown(screen))?;
            }
            if !asks || asked.consent(screen)? {
                agreed.push(asked);
            }
        }
        keep(&site, |ledger| agreed.iter().for_each(|asked| asked.agree(ledger)))?;
        let names: Vec<&str> = agreed.iter().map(Asked::name).collect();
        let text = match names.as_slice() {
            [] => "nothing is trusted".to_owned(),
            names => screen.ok(&format!("trusted {}", names.join(", "))),
        };
        screen.answer(&json!({ "ok": true, "trusted": names }), &text)
    }

    /// The entries that wait, or those of them that are named.
    fn waiting<'s>(&self, site: &'s Site) -> Result<Vec<Asked<'s>>, Failure> {
        let asked = &site.survey.asked;
        for name in self.names.iter().filter(|name| ![RULES, ENV].contains(&name.as_str())) {
            if asked.iter().all(|(entry, _)| entry.name.as_str() != name) {
                let server = site.server(name)?;
                let message =
                    format!("`{name}` from {} is your own and needs no approval", server.entry.origin);
                return Err(Fault::invalid(message)
                    .hint("only servers from a project's own files need approval")
                    .into());
            }
        }
        let wanted = |name: &str| self.names.is_empty() || self.names.iter().any(|wanted| wanted == name);
        let servers = asked.iter().filter(|(entry, trust)| wanted(entry.name.as_str()) && !trust.suffices());
        let rules = tectum::rules_that_wait(&site.config).filter(|_| wanted(RULES));
        let rules = rules.map(|rules| Asked::Rules(&site.config, rules));
        let env = site.config.shell.env.as_ref().filter(|env| wanted(ENV) && !env.trust.suffices());
        let env = env.map(Asked::Environment);
        Ok(servers.map(|(entry, trust)| Asked::Server(entry, trust)).chain(rules).chain(env).collect())
    }
}

/// Something of the project that a person is asked about.
enum Asked<'s> {
    Server(&'s Entry, &'s Trust),
    Rules(&'s Config, &'s [Item]),
    Environment(&'s ProjectEnv),
}

impl Asked<'_> {
    fn name(&self) -> &str {
        match self {
            Self::Server(entry, _) => entry.name.as_str(),
            Self::Rules(..) => RULES,
            Self::Environment(_) => ENV,
        }
    }

    fn shown(&self, screen: &Screen) -> String {
        match self {
            Self::Server(entry, trust) => shown(entry, trust, screen),
            Self::Rules(config, rules) => shown_rules(config, rules, screen),
            Self::Environment(env) => shown_env(env, screen),
        }
    }

    fn consent(&self, screen: &Screen) -> Result<bool, Failure> {
        screen.tell(&match self {
            Self::Server(entry, _) => {
                format!("Let `{}` start exactly like this from now on? Type yes or no:", entry.name)
            }
            Self::Rules(..) => "Let these calls run without asking from now on? Type yes or no:".to_owned(),
            Self::Environment(_) => "Let commands run with this from now on? Type yes or no:".to_owned(),
        });
        let mut line = String::new();
        io::stdin().lock().read_line(&mut line)?;
        Ok(agrees(&line))
    }

    fn agree(&self, ledger: &mut Ledger) {
        match self {
            Self::Server(entry, _) => ledger.agree(entry),
            Self::Rules(config, rules) => {
                let texts: Vec<&str> = rules.iter().map(|rule| rule.text.as_str()).collect();
                ledger.keep(record_of_rules(&config.project_file(), &texts));
            }
            Self::Environment(env) => ledger.keep(record_of_env(&env.path, &env.text)),
        }
    }
}

fn list(site: &Site, screen: &Screen) -> Result<(), Failure> {
    let asked = &site.survey.asked;
    let rules = site.config.of_project().list(&ALLOW);
    let consent = &site.config.permissions.consent;
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
        let mut data = json!({ "servers": asked.iter().map(data).collect::<Vec<Value>>() });
        if !rules.is_empty() {
            let texts: Vec<&str> = rules.iter().map(|rule| rule.text.as_str()).collect();
            data["rules"] = json!({ "name": RULES, "allow": texts, "trust": word(consent) });
        }
        if let Some(env) = &site.config.shell.env {
            data["environment"] = json!({ "name": ENV, "trust": word(&env.trust) });
        }
        return screen.print_json(&data);
    }
    let env =
        site.config.shell.env.as_ref().map(|env| (ENV, word(&env.trust), env.path.display().to_string()));
    if asked.is_empty() && rules.is_empty() && env.is_none() {
        return screen.print("the project's files have no servers, no allow rules and no environment");
    }
    let servers =
        asked.iter().map(|(entry, trust)| (entry.name.as_str(), word(trust), entry.origin.to_string()));
    let rules = rules.first().map(|rule| (RULES, word(consent), rule.origin.to_string()));
    let lines: Vec<_> = servers.chain(rules).chain(env).collect();
    let names = lines.iter().map(|(name, ..)| name.len()).max().unwrap_or(0);
    let line = |(name, trust, origin): &(&str, &str, String)| {
        format!("{name:<names$}  {trust:<9}  {}\n", spoken::text(origin))
    };
    screen.print(&lines.iter().map(line).collect::<String>())
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
        let fault = Fault::not_found(format!("`{name}` is not trusted in this project"));
        return Err(fault.hint("`tectum trust --list` shows what is").into());
    }
    let text = screen.ok(&format!("`{name}` is no longer trusted"));
    screen.answer(&json!({ "ok": true, "revoked": name }), &text)
}

/// Changes what was agreed to, as it is now, under the lock.
fn keep(site: &Site, change: impl FnOnce(&mut Ledger)) -> Result<(), Failure> {
    let state = site.state()?;
    let path = Ledger::path(state);
    Ledger::change(state, change).map_err(|error| cannot_write(&path, &error))
}

/// All of an entry, and nothing of it shortened.
fn shown(entry: &Entry, trust: &Trust, screen: &Screen) -> String {
    let mut text = head(entry.name.as_str(), &entry.source.path, screen);
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
    text.push_str(&changed(trust));
    if let Some(problem) = &entry.problem {
        text.push_str(&format!("  {:<13}  {}\n", "problem", spoken::text(&problem.to_string())));
    }
    text
}

/// All lines of the environment.
fn shown_env(env: &ProjectEnv, screen: &Screen) -> String {
    let mut text = head(ENV, &env.path, screen);
    for line in env.text.lines() {
        text.push_str(&format!("  {}\n", spoken::text(line)));
    }
    text.push_str("  for every command that is run; a directory before all others in PATH decides which\n");
    text.push_str("  program a name means\n");
    text + &changed(&env.trust)
}

/// All rules, as they stand in the file.
fn shown_rules(config: &Config, rules: &[Item], screen: &Screen) -> String {
    let mut text = head(RULES, &config.project_file(), screen);
    for rule in rules {
        text.push_str(&format!("  allows         {}\n", spoken::quoted(&rule.text)));
    }
    text.push_str("  without asking, as if these rules were in your own file; language servers and other\n");
    text.push_str("  programs that such calls start may run code of the project\n");
    text + &changed(&config.permissions.consent)
}

fn head(name: &str, file: &Path, screen: &Screen) -> String {
    let file = spoken::text(&file.display().to_string());
    format!("{}  from {file}\n", screen.paint(Colour::Bold, name))
}

/// The differences from what was agreed to.
fn changed(trust: &Trust) -> String {
    let Trust::Changed(changes) = trust else { return String::new() };
    changes.iter().map(|change| format!("  changed        {change}\n")).collect()
}

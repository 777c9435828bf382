//! `tectum list` and `tectum get`: every server that any file names, and how it is.

use serde_json::{Map, Value, json};
use tectum::{
    config::servers::{Held, Why, keys, spoken, survey::Server},
    status::Status,
};

use super::{
    super::{
        failure::Failure,
        options::{Named, Shared},
        screen::{Colour, Screen, counted, tell_note},
    },
    Site, entry_data, status, word,
};

/// The last lines of a server's log that are shown.
const LOG_LINES: usize = 5;

/// Lists all servers; with -v in detail.
pub(crate) fn list(shared: &Shared, screen: &Screen) -> Result<(), Failure> {
    let site = Site::load(shared, screen)?;
    let live = site.running();
    if screen.json {
        let servers: Vec<Value> =
            site.survey.servers.iter().map(|server| data(&site, server, &live)).collect();
        return screen.print_json(&json!({
            "servers": servers,
            "broken": site.survey.broken.iter().map(held_data).collect::<Vec<_>>(),
            "notes": site.survey.notes,
            "skipped": site.survey.skipped,
        }));
    }
    if site.survey.servers.is_empty() && site.survey.broken.is_empty() {
        screen.print(
            "no servers yet: `tectum add` adds one, `tectum import` finds the servers of other programs",
        )?;
    } else {
        screen.print(&table(&site, &live, shared.verbose > 0, screen))?;
    }
    site.survey.notes.iter().for_each(|note| tell_note(note, screen));
    if shared.verbose > 0 {
        site.survey.skipped.iter().for_each(|note| tell_note(note, screen));
    }
    Ok(())
}

/// Shows one server.
pub(crate) fn get(named: &Named, shared: &Shared, screen: &Screen) -> Result<(), Failure> {
    let site = Site::load(shared, screen)?;
    let server = site.server(&named.name)?;
    let live = site.running();
    let name = screen.paint(Colour::Bold, server.entry.name.as_str());
    let told = [whereabouts(server), detail(&site, server, &live)].concat();
    let text = format!("{name}  {}\n{}", state(server, &live, screen), lines(&told));
    screen.answer(&data(&site, server, &live), &text)
}

fn table(site: &Site, live: &[Status], verbose: bool, screen: &Screen) -> String {
    let servers = &site.survey.servers;
    let widest =
        |head: &str, of: &dyn Fn(&Server) -> usize| servers.iter().map(of).max().unwrap_or(0).max(head.len());
    let names = widest("NAME", &|server| server.entry.name.as_str().len());
    let origins = widest("FROM", &|server| from(server).chars().count());
    let head =
        format!("{:<names$}  {:<9}  {:<origins$}  {:<11}  COMMAND", "NAME", "TRANSPORT", "FROM", "STATE");
    let mut text = format!("{}\n", screen.paint(Colour::Bold, &head));
    for server in servers {
        let entry = &server.entry;
        let origin = from(server);
        text.push_str(&format!(
            "{:<names$}  {:<9}  {origin:<origins$}  {}  {}\n",
            entry.name.as_str(),
            entry.kind(),
            state(server, live, screen),
            target(server),
        ));
        if verbose {
            text.push_str(&lines(&detail(site, server, live)));
        } else if let Some(waits) = status::waits(site.traces().as_deref(), server) {
            text.push_str(&format!("  {}\n", screen.paint(Colour::Dim, &spoken::text(&waits))));
        } else if let Err(held) = &server.verdict
            && held.why != Why::Disabled
        {
            let hint = held.hint.as_deref().map(|hint| format!("; {hint}")).unwrap_or_default();
            let why = spoken::text(&format!("{}{hint}", held.message));
            text.push_str(&format!("  {}\n", screen.paint(Colour::Dim, &why)));
        } else if let Health::Failed(why) = Health::judge(server, live) {
            text.push_str(&format!("  {}\n", screen.paint(Colour::Dim, &spoken::text(&why))));
        }
    }
    for held in &site.survey.broken {
        let problem = screen.paint(Colour::Red, "problem");
        text.push_str(&format!("{problem}: {}\n", spoken::text(&told(held))));
        if let Some(hint) = &held.hint {
            text.push_str(&format!("  hint: {}\n", spoken::text(hint)));
        }
    }
    text
}

fn state(server: &Server, live: &[Status], screen: &Screen) -> String {
    let health = Health::judge(server, live);
    let colour = match health {
        Health::Running => Colour::Green,
        Health::Starting | Health::NeedsTrust => Colour::Yellow,
        Health::NotStarted | Health::Disabled => Colour::Dim,
        Health::Failed(_) | Health::Problem => Colour::Red,
    };
    screen.paint(colour, &format!("{:<11}", health.word()))
}

/// The state of a server: what keeps it from starting, or else how it is in the Tectums that run here.
#[derive(Debug)]
enum Health {
    Running,
    Starting,
    NotStarted,
    /// It did not start, or died; why.
    Failed(String),
    Disabled,
    NeedsTrust,
    Problem,
}

impl Health {
    fn judge(server: &Server, live: &[Status]) -> Self {
        if let Err(held) = &server.verdict {
            return match held.why {
                Why::Disabled => Self::Disabled,
                Why::Untrusted => Self::NeedsTrust,
                Why::Problem => Self::Problem,
            };
        }
        let each = status::of_server(live, server.entry.name.as_str());
        let is = |word: &str| each.iter().any(|now| now["state"] == word);
        let error = each.iter().find_map(|now| now["error"].as_str());
        match error {
            _ if is("ready") => Self::Running,
            Some(why) => Self::Failed(why.to_owned()),
            None if is("starting") => Self::Starting,
            None => Self::NotStarted,
        }
    }

    fn word(&self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Starting => "starting",
            Self::NotStarted => "not started",
            Self::Failed(_) => "failed",
            Self::Disabled => "disabled",
            Self::NeedsTrust => "needs trust",
            Self::Problem => "problem",
        }
    }
}

/// Its place.
fn from(server: &Server) -> String {
    spoken::text(&server.entry.origin.to_string())
}

/// The command or the address, as written.
fn target(server: &Server) -> String {
    match server.entry.values.word(&keys::URL) {
        Some(url) => spoken::address(url),
        None => spoken::command(&server.entry.argv()),
    }
}

/// A line about a server: what it is about, and what is said.
type Line = (&'static str, String);

fn lines(told: &[Line]) -> String {
    told.iter().map(|(what, words)| format!("  {what:<13}  {words}\n")).collect()
}

/// The lines that a row of the table has as well.
fn whereabouts(server: &Server) -> Vec<Line> {
    let entry = &server.entry;
    let target = match entry.values.word(&keys::URL) {
        Some(url) => ("url", format!("\"{}\"", spoken::address(url))),
        None => ("command", spoken::command(&entry.argv())),
    };
    vec![("from", from(server)), ("transport", entry.kind().to_owned()), target]
}

fn detail(site: &Site, server: &Server, live: &[Status]) -> Vec<Line> {
    let entry = &server.entry;
    let mut lines = Vec::new();
    for (what, key) in [("environment", &keys::ENV), ("headers", &keys::HEADERS)] {
        let names: Vec<String> = entry.names(key).into_iter().map(spoken::text).collect();
        if !names.is_empty() {
            lines.push((what, names.join(", ")));
        }
    }
    for key in keys::KEYS.iter().filter(|key| !TOLD.contains(&key.name)) {
        if let Some((value, origin)) = entry.values.get(key) {
            lines.push((
                key.name,
                format!("{} ({origin})", spoken::text(&tectum::config::show::plainly(key, value))),
            ));
        }
    }
    if let Err(held) = &server.verdict {
        lines.push(("why", spoken::text(&held.message)));
        lines.extend(held.hint.iter().map(|hint| ("hint", spoken::text(hint))));
    }
    if let Some(waits) = status::waits(site.traces().as_deref(), server) {
        lines.push(("withheld", spoken::text(&waits)));
    }
    let each = status::of_server(live, entry.name.as_str());
    let known = site.traces().is_some_and(|traces| status::is_known(&traces, entry.name.as_str()));
    if server.verdict.is_ok() && !known {
        lines.push((
            "offers",
            match Health::judge(server, live) {
                Health::Failed(_) => "not known: it did not start".into(),
                _ => "not known yet: it has not been started; `tectum tools --meet` starts it".into(),
            },
        ));
    }
    for now in &each {
        let count = |field: &str| now[field].as_u64().unwrap_or(0);
        let state = spoken::text(now["state"].as_str().unwrap_or("unknown"));
        let mut told =
            format!("{state}, {}, {}", counted(count("tools"), "tool"), counted(count("starts"), "start"));
        if each.len() > 1 {
            told.push_str(&format!(", process {}", now["pid"]));
        }
        if let Some(error) = now["error"].as_str() {
            told.push_str(&format!(", {}", spoken::text(error)));
        }
        lines.push(("now", told));
        let remarks = now["remarks"].as_array().into_iter().flatten().filter_map(Value::as_str);
        for remark in remarks.map(|remark| ("note", spoken::text(remark))) {
            // Several of them say the same.
            if !lines.contains(&remark) {
                lines.push(remark);
            }
        }
    }
    let log = site
        .traces()
        .map(|traces| status::last_lines(&traces, entry.name.as_str(), LOG_LINES))
        .unwrap_or_default();
    lines.extend(log.iter().map(|line| ("log", spoken::text(line))));
    lines
}

/// Keys that have lines of their own above.
const TOLD: &[&str] = &["command", "args", "env", "url", "type", "headers"];

fn data(site: &Site, server: &Server, live: &[Status]) -> Value {
    let entry = &server.entry;
    let mut data = entry_data(entry);
    let settings = keys::KEYS.iter().filter(|key| !TOLD.contains(&key.name)).filter_map(|key| {
        let (value, origin) = entry.values.get(key)?;
        let shown = tectum::config::show::plain_json(value);
        Some((key.name.to_owned(), json!({ "value": shown, "origin": origin.to_string() })))
    });
    data["settings"] = settings.collect::<Map<_, _>>().into();
    data["state"] = json!(word(server));
    data["health"] = json!(Health::judge(server, live).word());
    data["why"] = server.verdict.as_ref().err().map_or(Value::Null, held_data);
    let each = status::of_server(live, entry.name.as_str());
    // The one that did most; all of them beside it.
    data["now"] = each.iter().max_by_key(|now| now["starts"].as_u64()).cloned().unwrap_or_default();
    data["running"] = json!(each);
    data["met"] = json!(site.traces().is_some_and(|traces| status::is_known(&traces, entry.name.as_str())));
    data["withheld"] = json!(status::waits(site.traces().as_deref(), server));
    data["log"] = json!(
        site.traces()
            .map(|traces| status::last_lines(&traces, entry.name.as_str(), LOG_LINES))
            .unwrap_or_default()
    );
    data
}

fn held_data(held: &Held) -> Value {
    json!({ "name": held.name, "origin": held.origin.to_string(), "message": held.message, "hint": held.hint })
}

/// The message with its place, unless it begins with one.
fn told(held: &Held) -> String {
    let origin = held.origin.to_string();
    if held.message.starts_with(&origin) {
        held.message.clone()
    } else {
        format!("{origin}: {}", held.message)
    }
}

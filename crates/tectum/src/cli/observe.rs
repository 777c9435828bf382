//! `tectum observe`: who gets a copy of every call, how that goes, and a trial.

use clap::{Args, Subcommand};
use serde_json::{Map, Value, json};
use tectum::{
    Fault,
    observers::{muted, set_muted},
    peers::{
        observe::{observers_of, try_observer},
        visible::{on_one_line, visible},
    },
    servers,
    status::{Status, running},
};

use super::{
    failure::Failure,
    held,
    options::Shared,
    screen::{Colour, Screen},
    serve,
};

/// The counts of an observer's copies.
const COUNTS: [&str; 5] = ["sent", "late", "refused", "lost", "dropped"];

/// List, test and mute observers (servers that get a copy of every call).
#[derive(Debug, Subcommand)]
pub(crate) enum Observe {
    /// List the observers and what became of their copies
    List,
    /// Send one copy and show the answer
    Test(Observer),
    /// Send an observer no copies until further notice
    Mute(Observer),
    /// Send an observer copies again
    Unmute(Observer),
}

/// One observer.
#[derive(Debug, Args)]
pub(crate) struct Observer {
    /// The server's name
    #[arg(value_name = "NAME")]
    name: String,
}

impl Observe {
    pub(crate) fn run(self, shared: &Shared, screen: &Screen) -> Result<(), Failure> {
        match self {
            Self::List => list(shared, screen),
            Self::Test(named) => serve::to_the_end(
                tokio::runtime::Builder::new_current_thread(),
                test(&named.name, shared, screen),
            )?,
            Self::Mute(named) => mute(&named.name, true, shared, screen),
            Self::Unmute(named) => mute(&named.name, false, shared, screen),
        }
    }
}

fn list(shared: &Shared, screen: &Screen) -> Result<(), Failure> {
    let config = shared.load(Vec::new(), screen)?;
    let place = servers::directory(&config);
    let live = place.as_deref().map(running).unwrap_or_default();
    let observers = together(&live);
    if screen.json {
        let process = |one: &Status| json!({ "pid": one.pid, "observers": one.observers });
        return screen.print_json(&json!({
            // What runs decides; only where nothing does, the settings.
            "enabled": if live.is_empty() { config.observers.on } else { observers.is_some() },
            "running": !live.is_empty(),
            "observers": observers.unwrap_or_default(),
            "processes": live.iter().map(process).collect::<Vec<_>>(),
            "muted": place.as_deref().map(muted).unwrap_or_default(),
        }));
    }
    let Some(observers) = observers else {
        return screen.print(match (config.observers.on, live.is_empty()) {
            (false, _) => {
                "observers are off: set `[observers] discover = true` in tectum.toml, or EFFERENT_COPY_ENABLE=1"
            }
            (true, true) => "no Tectum is running here: `tectum observe test NAME` tests an observer",
            (true, false) => "the running Tectum was started without observers; restart it",
        });
    };
    if observers.is_empty() {
        return screen.print(
            "no server here is an observer: an observer has a tool `observe` with `tool_name` and `args`",
        );
    }
    screen.print(&table(&observers, screen))
}

/// The observers of all running houses: copies add up, and one that watches anywhere is watching.
/// `None` where no house that runs looks for any.
fn together(live: &[Status]) -> Option<Map<String, Value>> {
    let mut all: Option<Map<String, Value>> = None;
    for status in live.iter().filter_map(|one| one.observers.as_object()) {
        let all = all.get_or_insert_default();
        for (name, one) in status {
            let Some(held) = all.get_mut(name) else {
                all.insert(name.clone(), one.clone());
                continue;
            };
            for field in COUNTS {
                held[field] = json!(held[field].as_u64().unwrap_or(0) + one[field].as_u64().unwrap_or(0));
            }
            if held["state"] != "watching" {
                held["state"] = one["state"].clone();
            }
            if held["error"].is_null() {
                held["error"] = one["error"].clone();
            }
        }
    }
    all
}

fn table(observers: &Map<String, Value>, screen: &Screen) -> String {
    let names = observers.keys().map(String::len).max().unwrap_or(0).max(4);
    let head = format!(
        "{:<names$}  {:<8}  {:>8}  {:>6}  {:>7}  {:>6}  {:>7}",
        "NAME", "STATE", "SENT", "LATE", "REFUSED", "LOST", "DROPPED"
    );
    let mut text = format!("{}\n", screen.paint(Colour::Bold, &head));
    for (name, one) in observers {
        let state = one["state"].as_str().unwrap_or("unknown");
        let colour = match state {
            "watching" => Colour::Green,
            "muted" => Colour::Dim,
            _ => Colour::Yellow,
        };
        let count = |field: &str| one[field].as_u64().unwrap_or(0);
        text.push_str(&format!(
            "{name:<names$}  {}  {:>8}  {:>6}  {:>7}  {:>6}  {:>7}\n",
            screen.paint(colour, &format!("{state:<8}")),
            count("sent"),
            count("late"),
            count("refused"),
            count("lost"),
            count("dropped"),
        ));
        if let Some(error) = one["error"].as_str() {
            text.push_str(&screen.paint(Colour::Dim, &format!("  last: {}\n", on_one_line(error))));
        }
    }
    text
}

async fn test(name: &str, shared: &Shared, screen: &Screen) -> Result<(), Failure> {
    let config = shared.load(Vec::new(), screen)?;
    let redactor = config.observers.redactor().map_err(Fault::invalid)?;
    let household = shared.household(screen).await?;
    let tried = try_observer(&household.federation, name, redactor).await;
    let known = observers_of(&household.federation);
    household.stop().await;
    // What is held is not there for a reason.
    let held = held::why(shared, &config, name).filter(|_| tried.is_err());
    let trial = tried.map_err(|fault| held.unwrap_or(fault)).map_err(|fault| {
        if known.is_empty() || fault.hint.is_some() {
            fault
        } else {
            fault.hint(format!("known observers: {}", known.join(", ")))
        }
    })?;
    let (took, patience) = (trial.took.as_millis(), trial.patience.as_millis());
    if screen.json {
        let answer: Value = serde_json::from_str(&trial.answer).unwrap_or_default();
        return screen.print_json(
            &json!({ "observer": name, "answer": answer, "took_ms": took, "patience_ms": patience }),
        );
    }
    screen.print(&format!("{name} answered in {took} ms:\n{}", visible(&trial.answer)))?;
    if took > patience {
        screen.warn(&format!(
            "an observer has {patience} ms for each copy, so this answer would count as late"
        ));
    }
    Ok(())
}

fn mute(name: &str, yes: bool, shared: &Shared, screen: &Screen) -> Result<(), Failure> {
    let config = shared.load(Vec::new(), screen)?;
    let (Some(state), Some(place)) = (config.state.as_deref(), servers::directory(&config)) else {
        let fault = Fault::invalid("Tectum keeps no state here, so no observer can be muted");
        return Err(fault
            .hint("set HOME or XDG_STATE_HOME to a directory where Tectum can keep its state")
            .into());
    };
    let specs = tectum::config::servers::Live::new(shared.sources(Vec::new())).specs().specs;
    // One that is named no longer can still be let off.
    if yes && !specs.iter().any(|spec| spec.name.as_str() == name) {
        return Err(held::missing(shared, &config, name).into());
    }
    let changed = set_muted(state, &place, name, yes)?;
    let done = match (yes, changed) {
        (true, true) => {
            format!("`{name}` gets no more copies; a running Tectum picks it up within a second")
        }
        (true, false) => format!("`{name}` was muted already"),
        (false, true) => format!("`{name}` gets copies again; a running Tectum picks it up within a second"),
        (false, false) => format!("`{name}` was not muted"),
    };
    screen.answer(&json!({ "observer": name, "muted": yes, "changed": changed }), &screen.ok(&done))
}

//! `tectum status`: every Tectum of this user that runs, whatever it serves.

use std::{path::PathBuf, thread};

use serde_json::{Value, json};
use tectum::houses::{self, HouseAnswer};

use super::{
    failure::Failure,
    options::Shared,
    screen::{Colour, Screen, harmless},
};

/// Shows the Tectums that run.
pub(crate) fn run(shared: &Shared, screen: &Screen) -> Result<(), Failure> {
    let houses = asked("/api/house", &sockets(shared));
    let (told, silent): (Vec<_>, Vec<_>) = houses.into_iter().partition(|(_, answer)| answer.is_some());
    let told: Vec<Value> = told.into_iter().filter_map(|(_, answer)| answer).collect();
    let silent: Vec<PathBuf> = silent.into_iter().map(|(socket, _)| socket).collect();
    if screen.json {
        return screen.print_json(&json!({ "houses": told, "silent": silent }));
    }
    for socket in &silent {
        screen.warn(&format!("the Tectum at {} does not answer", harmless(&socket.to_string_lossy())));
    }
    if told.is_empty() {
        return screen.print("no Tectum is running: `tectum up` starts one, and so do clients");
    }
    screen.print(&harmless(&table(&told, screen)))
}

/// The sockets of all houses of this user.
pub(super) fn sockets(shared: &Shared) -> Vec<PathBuf> {
    houses::running(&folders(shared))
}

/// The folders where their sockets are.
pub(super) fn folders(shared: &Shared) -> Vec<PathBuf> {
    let sources = shared.sources(Vec::new());
    houses::folders(sources.runtime.as_deref(), sources.state.as_deref())
}

/// What each house says to a question; nothing where it does not answer.
pub(super) fn asked(path: &str, sockets: &[PathBuf]) -> Vec<(PathBuf, Option<Value>)> {
    let answer = |socket: &PathBuf| {
        let answered = houses::ask(socket, "GET", path, &[], None).ok();
        answered.filter(|answer| answer.status == 200).map(|HouseAnswer { body, .. }| body)
    };
    // One that is stopped does not keep the others waiting.
    thread::scope(|scope| {
        let asking: Vec<_> = sockets.iter().map(|socket| scope.spawn(move || answer(socket))).collect();
        let answers = asking.into_iter().map(|one| one.join().ok().flatten());
        sockets.iter().cloned().zip(answers).collect()
    })
}

fn table(houses: &[Value], screen: &Screen) -> String {
    const HEAD: [&str; 7] = ["PID", "VIA", "UP", "SERVERS", "QUESTIONS", "CLIENT", "PROJECT"];
    let rows: Vec<[String; 7]> = houses.iter().map(row).collect();
    let mut widths = HEAD.map(str::len);
    for row in &rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let line = |cells: &[String; 7]| {
        let padded = cells.iter().zip(widths).map(|(cell, width)| format!("{cell:<width$}"));
        padded.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    let mut text = format!("{}\n", screen.paint(Colour::Bold, &line(&HEAD.map(str::to_owned))));
    rows.iter().for_each(|row| text.push_str(&format!("{}\n", line(row))));
    text
}

fn row(house: &Value) -> [String; 7] {
    let servers = house["servers"].as_object();
    let running = servers.map_or(0, |all| all.values().filter(|state| **state == "ready").count());
    let clients: Vec<String> = house["clients"].as_array().into_iter().flatten().map(client).collect();
    [
        house["pid"].to_string(),
        text(&house["transport"]),
        span(house["uptime"].as_u64().unwrap_or_default()),
        format!("{running} of {}", servers.map_or(0, serde_json::Map::len)),
        house["questions"].to_string(),
        if clients.is_empty() { "-".to_owned() } else { clients.join(", ") },
        text(&house["project"]),
    ]
}

fn client(client: &Value) -> String {
    format!("{} {}", text(&client["name"]), text(&client["version"])).trim().to_owned()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// A time in the two largest units that it has.
fn span(seconds: u64) -> String {
    let (days, hours, minutes) = (seconds / 86_400, seconds / 3600 % 24, seconds / 60 % 60);
    match (days, hours, minutes) {
        (0, 0, 0) => format!("{seconds}s"),
        (0, 0, _) => format!("{minutes}m {}s", seconds % 60),
        (0, _, _) => format!("{hours}h {minutes}m"),
        _ => format!("{days}d {hours}h"),
    }
}

#[cfg(test)]
mod tests {
    use super::span;

    #[test]
    fn times_in_two_units() {
        for (seconds, expect) in
            [(0, "0s"), (59, "59s"), (61, "1m 1s"), (3_600, "1h 0m"), (90_061, "1d 1h"), (864_000, "10d 0h")]
        {
            assert_eq!(span(seconds), expect);
        }
    }
}

//! A Tectum that another Tectum started, by whatever scripts. One for the same folder is a circle,
//! and is refused before it starts anything; one for another folder starts nothing that is started
//! above it already.

use std::{
    ffi::OsString,
    io::{self, BufRead as _, IsTerminal as _, Read as _, Write as _},
    path::PathBuf,
};

use serde_json::{Value, json};
use tectum::{
    Config, Fault, FaultKind,
    peers::child::lineage::{Above, MOST_DEPTH, WITHIN},
    state::canonical,
};

/// JSON-RPC's code for a request that is not carried out.
const REFUSED: i64 = -32600;
/// Bytes of requests that are answered with a refusal: a handshake or two.
const MOST_REFUSED: u64 = 1024 * 1024;

/// The folders that Tectums above this process serve: how to find out, which takes a walk up the
/// processes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ServedAbove(pub(crate) fn() -> &'static [PathBuf]);

impl Default for ServedAbove {
    fn default() -> Self {
        Self(|| &[])
    }
}

impl ServedAbove {
    /// These folders.
    pub(crate) fn folders(self) -> &'static [PathBuf] {
        (self.0)()
    }
}

/// The reason why this folder is not served here, if it is not.
pub(crate) fn circle(config: &Config, served_above: ServedAbove) -> Option<Fault> {
    let directory = canonical(&config.directory);
    let above = Above::read(std::env::var_os(WITHIN).as_deref());
    let houses = served_above.folders();
    let shown = directory.display();
    if above.serves(&directory) || houses.iter().any(|folder| canonical(folder) == directory) {
        let message = format!(
            "a Tectum that serves {shown} started this one for the same directory: circle. Tectum was configured \
             as a server of itself, so this one does not serve"
        );
        return Some(Fault::new(FaultKind::Conflict, message).hint(
            "remove the server whose command starts `tectum`; to serve another directory, use \
             `tectum serve -C DIR`",
        ));
    }
    (above.depth().max(houses.len()) >= MOST_DEPTH).then(|| {
        let message = format!(
            "this is the end of a chain of {MOST_DEPTH} Tectums that started each other, for {shown}"
        );
        Fault::new(FaultKind::Conflict, message).hint("remove one of the servers that start `tectum`")
    })
}

/// Makes an environment say what is above, where a script on the way cleared it: what such a
/// Tectum's ancestors start is not known, so it starts nothing.
pub(crate) fn complete(environment: &mut Vec<(OsString, OsString)>, served_above: &[PathBuf]) {
    let written = environment.iter().find(|(name, _)| name == WITHIN).map(|(_, value)| value.as_os_str());
    let above = Above::read(written);
    if served_above.len() > above.depth() {
        let completed = above.and_a_stranger().written();
        environment.retain(|(name, _)| name != WITHIN);
        environment.push((WITHIN.into(), completed.into()));
    }
}

/// Answers whoever started us with the refusal, in the only language it listens to.
pub(crate) fn refuse(circle: Fault) -> Fault {
    if io::stdin().is_terminal() {
        return circle;
    }
    for line in io::stdin().lock().take(MOST_REFUSED).lines() {
        let Ok(line) = line else { break };
        let Ok(message) = serde_json::from_str::<Value>(&line) else { continue };
        if let (Some(id), true) = (message.get("id"), message.get("method").is_some()) {
            let error = json!({ "code": REFUSED, "message": circle.message });
            let answer = json!({ "jsonrpc": "2.0", "id": id, "error": error });
            if writeln!(io::stdout(), "{answer}").is_err() {
                break;
            }
        }
    }
    circle
}

//! Trying an observer by hand: one copy that stands for no call, and what it says to it.

use std::{sync::Arc, time::Duration};

use tectum_core::{CallId, Fault, FaultKind};
use tectum_redact::Redactor;

use super::{
    observation::Observation,
    sink::{self, PATIENCE},
    takes_copies,
};
use crate::federation::Federation;

/// The result of a trial.
#[derive(Clone, Debug)]
pub struct Trial {
    /// The observer's answer, as it wrote it.
    pub answer: String,
    /// The time it took.
    pub took: Duration,
    /// The time for which a copy of a call would have been waited for.
    pub patience: Duration,
}

/// The servers that are known to take copies, by name.
pub fn observers_of(federation: &Federation) -> Vec<String> {
    let servers = federation.roster.peers();
    let takes = servers.iter().filter(|(_, peer)| takes_copies(peer));
    takes.map(|(name, _)| name.to_string()).collect()
}

/// Sends one copy, which stands for no call, to a server of this name.
pub async fn try_observer(federation: &Federation, name: &str, redactor: Redactor) -> Result<Trial, Fault> {
    let servers = federation.roster.peers();
    let found = servers.iter().find(|(known, _)| known.as_str() == name);
    let (_, peer) = found.ok_or_else(|| {
        Fault::not_found(format!("there is no server `{name}`")).hint("`tectum list` shows the servers")
    })?;
    federation.roster.meet_server(peer).await?;
    if !takes_copies(peer) {
        let message =
            format!("{name} is no observer: it has no tool `observe` that takes `tool_name` and `args`");
        return Err(Fault::invalid(message).hint(
            "the tool's input schema needs the properties `tool_name` (a string) and `args` (an object)",
        ));
    }
    let (call, tool, redactor) = (CallId::fresh(), "tectum_observe_test".into(), Arc::new(redactor));
    let copy = Observation::new(call, tool, r#"{"trial":true}"#, None, redactor);
    let tried = sink::trial(federation, peer, &copy).await;
    let (answer, took) = tried
        .map_err(|why| Fault::new(FaultKind::Upstream, format!("{name} did not take the copy: {why}")))?;
    Ok(Trial { answer, took, patience: PATIENCE })
}

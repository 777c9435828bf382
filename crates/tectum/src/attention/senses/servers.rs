//! Servers that die, come back, or offer fewer tools than before.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use tectum_attention::{Direction, Event, Input, Severity};

use super::sense::{Calls, House, Sense, fact};

/// The organ.
const SERVERS: &str = "internal:servers";
/// So much later for each server: thousands would be work for a whole core.
const FOR_EACH: Duration = Duration::from_millis(2);
/// The states of a server that does not work.
const GONE: [&str; 2] = ["down", "broken"];
/// The state of one that does.
const READY: &str = "ready";

/// How they were.
#[derive(Default)]
pub(super) struct Servers {
    before: BTreeMap<String, LastSeen>,
    next: Option<Instant>,
}

struct LastSeen {
    state: &'static str,
    tools: usize,
    /// Set from its death on until it is back.
    died: bool,
}

impl Sense for Servers {
    fn organ(&self) -> &'static str {
        SERVERS
    }

    fn look(&mut self, house: &House, _: &Calls, inputs: &mut Vec<Input>) {
        if self.next.is_some_and(|next| Instant::now() < next) {
            return;
        }
        let now = house.federation.status();
        self.next = Some(Instant::now() + FOR_EACH * u32::try_from(now.len()).unwrap_or(u32::MAX));
        let mut after = BTreeMap::new();
        for (name, status) in now {
            let before = self.before.remove(&name);
            let (state, tools) = (status.state, status.tools);
            let died = before.as_ref().is_some_and(|before| before.died);
            let mut tell = |event: Event| inputs.push(Input::Event(event));
            let mut is_dead = died;
            if let Some(before) = &before {
                let was = before.state;
                if GONE.contains(&state) && !died && was == READY {
                    is_dead = true;
                    let why = status
                        .error
                        .map(|why| format!(": {}", tectum_redact::text(&why)))
                        .unwrap_or_default();
                    tell(Event {
                        old: Some(was.into()),
                        new: format!("{state}{why}"),
                        severity: Severity::Failure,
                        direction: Direction::Breaking,
                        ..fact(SERVERS, house, &name, "state")
                    });
                } else if state == READY && died {
                    is_dead = false;
                    tell(Event {
                        old: Some("down".into()),
                        new: READY.into(),
                        direction: Direction::Recovering,
                        ..fact(SERVERS, house, &name, "state")
                    });
                }
                if state == READY && tools < before.tools {
                    tell(Event {
                        old: Some(format!("{} tools", before.tools)),
                        new: format!("{tools} tools"),
                        direction: Direction::Breaking,
                        ..fact(SERVERS, house, &name, "tools")
                    });
                }
            }
            // A server that is not there offers what it offered last.
            let tools = if state == READY { tools } else { before.map_or(tools, |before| before.tools) };
            after.insert(name, LastSeen { state, tools, died: is_dead });
        }
        self.before = after;
    }
}

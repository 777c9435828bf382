//! What becomes of a server that dies, and of those who wait for it.

use std::{sync::Arc, time::Instant};

use tectum_core::{Fault, FaultKind};

use super::{Class, Keeper, STEADY, State, spread};
use crate::link::{Link, Loss};

impl Keeper {
    /// Why it is not started now.
    pub(super) fn left_alone(&self, now: Instant) -> Fault {
        let name = &self.peer.spec.name;
        let wait = self.deaths.pause(now).as_secs().max(1);
        let why = self.peer.status().error.unwrap_or_default();
        Fault::new(
            FaultKind::Upstream,
            format!("{name} died too often and is left alone for {wait} s: {why}"),
        )
        .hint(format!("`tectum list -v` shows what it said; `tectum restart {name}` tries at once"))
    }

    /// Counts a death. One of a server that was never met keeps nobody from trying it again, unless
    /// it was cut off for what it sent.
    fn count_death(&mut self, loss: Option<&Loss>) {
        let (now, flooded) = (Instant::now(), matches!(loss, Some(Loss::Flooding(_))));
        match self.peer.offer().known || flooded {
            true => self.deaths.count(now, spread()),
            false => self.deaths.count_unmet(now, spread()),
        }
    }

    /// A connection could not be made.
    pub(super) fn failed(&mut self, class: &Class, loss: &Loss) {
        self.count_death(Some(loss));
        self.unwanted.remove(class);
        self.peer.forget_era();
        let said = self.peer.stderr.lines().pop();
        let why = match said {
            Some(said) => format!("{loss}; it said last: {said}"),
            None => loss.to_string(),
        };
        let state = if self.deaths.is_open(Instant::now()) { State::Broken } else { State::Down };
        match self.links.is_empty() {
            true => self.say(state, Some(why.clone())),
            // Others are served as before.
            false => self.say(State::Ready, Some(why.clone())),
        }
        // Whoever waits for it is told; who does not says so.
        tracing::info!(server = %self.peer.spec.name, why, "could not be started");
        for reply in self.opening.remove(class).unwrap_or_default() {
            let mut fault = self.peer.fault(loss);
            let name = &self.peer.spec.name;
            fault.message = format!("{name} could not be started: {why}");
            if fault.hint.is_none() {
                fault.hint = Some(format!("a person can see how it is reached with `tectum get {name}`"));
            }
            let _ = reply.send(Err(fault));
        }
    }

    /// A connection ended.
    pub(super) fn closed(&mut self, class: &Class, link: &Arc<Link>) {
        match self.links.get(class) {
            Some((held, since)) if Arc::ptr_eq(held, link) => {
                if since.elapsed() > STEADY {
                    self.deaths.forget();
                }
                self.count_death(link.lost().as_ref());
                self.links.remove(class);
                self.publish();
                self.grow_stale(class);
            }
            // It was let go on purpose.
            _ => return,
        }
        if self.links.is_empty() {
            (self.listening, self.listen_again, self.retry) = (None, None, None);
            self.standing.clear();
            self.refused = None;
            let how = link.lost().map(|loss| loss.to_string());
            let state = if self.deaths.is_open(Instant::now()) { State::Broken } else { State::Down };
            tracing::info!(server = %self.peer.spec.name, how, "is gone");
            self.say(state, how);
        }
    }
}

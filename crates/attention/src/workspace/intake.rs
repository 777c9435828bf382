//! What comes into a workspace before the organs compete.

use super::{
    Workspace,
    organ::{Intake, Organ},
};
use crate::{
    input::{Input, Seconds, Task},
    settings::OrganConfig,
};

/// How long other parts of a site that was just told are doubted.
const CAUSE_LASTS: Seconds = 3600.0;

impl Workspace {
    /// Everything that waits gets a tick older.
    pub(super) fn age(&mut self) {
        let now = self.now;
        let mut empty = Vec::new();
        for name in &self.live {
            let Some(organ) = self.organs.get_mut(name) else { continue };
            let (decay, base) = (organ.config.salience_decay.clamp(0.0, 1.0), organ.config.base_salience);
            let before = organ.kept.len();
            organ.kept.retain_mut(|kept| kept.wait(now, decay, base));
            self.counters.faded += (before - organ.kept.len()) as u64;
            if organ.kept.is_empty() {
                empty.push(name.clone());
            }
        }
        for name in empty {
            self.live.remove(&name);
        }
        self.causes.retain(|_, told| now - *told < CAUSE_LASTS);
    }

    /// One input. An organ that nobody registered is registered by its name.
    pub(super) fn take(&mut self, input: Input) {
        let name = match &input {
            Input::State(reading) => &reading.organ,
            Input::Event(event) => &event.organ,
            Input::Unreadable { organ, .. } | Input::Gone { organ, .. } => organ,
        }
        .clone();
        let internal = matches!(input, Input::Event(_));
        let organ = self.organs.entry(name.clone()).or_insert_with(|| {
            Organ::new(if internal {
                OrganConfig::internal(&name)
            } else {
                OrganConfig::resource(&name, &name)
            })
        });
        let intake = match input {
            Input::State(mut reading) => {
                reading.at = reading.at.min(self.now);
                reading.trust = reading.trust.clamp(0.0, 1.0);
                self.counters.readings += 1;
                let (causes, doubt) = (&self.causes, self.settings.doubt);
                let doubted = |cause: &str| causes.contains_key(cause).then_some(reading.at + doubt);
                organ.read(&reading, self.tick, &self.settings, doubted)
            }
            Input::Event(event) => {
                self.counters.events += 1;
                organ.happen(event, self.tick, &self.settings)
            }
            Input::Unreadable { .. } => {
                self.counters.unreadable += 1;
                organ.readable = false;
                Intake::default()
            }
            Input::Gone { .. } => {
                self.remove(&name);
                return;
            }
        };
        self.count(&name, intake);
    }

    fn count(&mut self, name: &str, intake: Intake) {
        self.counters.changes += u64::from(intake.changed);
        self.counters.kept += intake.kept;
        self.counters.returned += intake.returned;
        self.counters.merged += intake.merged;
        self.counters.paths_dropped += intake.dropped;
        let Some(organ) = self.organs.get_mut(name) else { return };
        if organ.muted {
            self.counters.muted += organ.kept.len() as u64;
            organ.kept.clear();
        }
        if organ.kept.is_empty() {
            self.live.remove(name);
        } else {
            self.live.insert(name.to_owned());
        }
        // What was offered and is over before it was told is no news any more.
        if intake.changed {
            let (organ, before) = (&*organ, self.news.len());
            self.news.retain(|news| {
                news.told.is_some()
                    || news.organ != organ.config.organ_id
                    || organ.still(&news.factors.signal)
            });
            self.counters.returned += (before - self.news.len()) as u64;
        }
    }

    /// Finds what waiting facts have to do with what the agent touched.
    pub(super) fn relate(&mut self, task: &Task) {
        let other = self.task != *task;
        if other {
            self.task = task.clone();
        }
        for name in &self.live {
            let Some(organ) = self.organs.get_mut(name) else { continue };
            for kept in organ.kept.iter_mut().filter(|kept| other || kept.tick == self.tick) {
                kept.relate(task);
            }
        }
    }
}

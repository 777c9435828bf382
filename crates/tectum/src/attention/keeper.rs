//! The thread of attention: hears of calls, lets the senses look, lets the organs compete, saves what is
//! remembered. While nobody calls it sleeps without a timer.

use std::{
    collections::{HashMap, VecDeque},
    sync::Arc,
    time::{Duration, Instant},
};

use tectum_attend::Attention;
use tectum_attention::{Input, Task, Touch};
use tectum_core::{Effect, TapWatcher};

use crate::state;

use super::{
    flight::{EndedCall, Heard, TapQueue},
    goose::GooseFile,
    kept::KeptAttention,
    poller::Inbox,
    senses::{Calls, House, Sense, all},
};

/// The interval between two looks while agents are at work.
const LOOK: Duration = Duration::from_secs(1);
/// Calls that end shortly after each other are looked at together.
const TOGETHER: Duration = Duration::from_millis(10);
/// Things that the agent touched.
const MOST_TOUCHED: usize = 64;

/// Everything the thread has.
pub(super) struct Keeper {
    attention: Attention,
    kept: KeptAttention,
    flight: Arc<TapQueue>,
    around: House,
    senses: Vec<Box<dyn Sense>>,
    watcher: TapWatcher,
    calls: Calls,
    touched: VecDeque<Touch>,
    goose: GooseFile,
    /// What was read of resources.
    inbox: Inbox,
}

impl Keeper {
    pub(super) fn new(
        attention: Attention,
        kept: KeptAttention,
        flight: Arc<TapQueue>,
        around: House,
        watcher: TapWatcher,
        inbox: Inbox,
    ) -> Self {
        let senses = all();
        attention.with(|workspace| {
            for sense in &senses {
                workspace.register(tectum_attention::OrganConfig::internal(sense.organ()));
            }
        });
        let (calls, touched) = (Calls::default(), VecDeque::new());
        let folder = around.state.as_deref().map(|state| state::of_project(state, &around.directory));
        let goose = GooseFile::new(folder);
        Self { attention, kept, flight, around, senses, watcher, calls, touched, goose, inbox }
    }

    pub(super) fn run(mut self) {
        let mut looked = Instant::now();
        while let Some(heard) = self.flight.wait(self.patience(looked)) {
            let any = !heard.is_empty();
            if any {
                std::thread::sleep(TOGETHER);
            }
            let mut inputs = std::mem::take(&mut *self.inbox.lock());
            for heard in heard {
                self.hear(heard, &mut inputs);
            }
            self.calls.asked = self.asked();
            let ended = any && !self.calls.any();
            if ended || looked.elapsed() >= LOOK {
                looked = Instant::now();
                self.look(&mut inputs);
            }
            let task = Task { touched: self.touched.iter().cloned().collect() };
            self.attention.tick(inputs, self.calls.any(), &task);
            self.goose.keep(&self.attention);
            self.kept.save(&self.attention, false);
        }
        self.around.house.tap().close(&self.watcher);
        let dropped = self.flight.dropped();
        if dropped > 0 {
            tracing::warn!(dropped, "attention did not hear of all calls: they came too fast");
        }
        // What readers were told meanwhile.
        self.attention.tick(Vec::new(), true, &Task::default());
        self.kept.save(&self.attention, true);
    }

    /// The time until the next look; `None` while nobody is at work.
    fn patience(&self, looked: Instant) -> Option<Duration> {
        let at_work = self.attention.is_at_work() || Arc::strong_count(&self.inbox) > 1;
        (at_work || !self.calls.in_flight.is_empty()).then(|| LOOK.saturating_sub(looked.elapsed()))
    }

    /// How many calls of each session wait for a person.
    fn asked(&self) -> HashMap<String, usize> {
        let mut asked = HashMap::new();
        for question in self.around.desk.questions() {
            *asked.entry(question.session.clone()).or_default() += 1;
        }
        asked
    }

    fn hear(&mut self, heard: Heard, inputs: &mut Vec<Input>) {
        self.attention.used();
        match heard {
            Heard::Began { call, session } => drop(self.calls.in_flight.insert(call, session)),
            Heard::Ended(ended) => {
                self.calls.in_flight.remove(&ended.call);
                self.touch(&ended);
                for sense in &mut self.senses {
                    sense.ended(&ended, &self.around, inputs);
                }
            }
        }
    }

    fn look(&mut self, inputs: &mut Vec<Input>) {
        for sense in &mut self.senses {
            sense.look(&self.around, &self.calls, inputs);
        }
    }

    /// What the agent works on is what its calls are about.
    fn touch(&mut self, ended: &EndedCall) {
        if ended.fault.is_some() {
            return;
        }
        let at = self.attention.now();
        let snapshot = self.around.house.registry().snapshot();
        let reads = snapshot.tool(&ended.tool).is_none_or(|tool| tool.effect == Effect::Read);
        for path in &ended.paths {
            let Some(what) = self.around.house.gate().allowlist().subject(path) else { continue };
            let how = if reads { "read" } else { "changed" };
            self.touched.retain(|touch| touch.what != what);
            self.touched.push_front(Touch { what, how: how.to_owned(), at });
        }
        self.touched.truncate(MOST_TOUCHED);
    }
}

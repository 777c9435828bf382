//! One call that failed three times, with the same arguments and nothing of it having worked in between.

use std::collections::VecDeque;

use tectum_attend::Audience;
use tectum_attention::{Event, Input};

use super::sense::{House, Sense, fact};
use crate::attention::flight::EndedCall;

/// The organ.
const REPEATS: &str = "internal:repeats";
/// Failures that make it news.
const TIMES: u32 = 3;
/// Failing calls that are remembered.
const MOST_CALLS: usize = 256;

/// The calls that failed last.
#[derive(Default)]
pub(super) struct Repeats {
    failing: VecDeque<Failing>,
}

struct Failing {
    session: String,
    tool: String,
    identity: u64,
    times: u32,
}

impl Sense for Repeats {
    fn organ(&self) -> &'static str {
        REPEATS
    }

    fn ended(&mut self, call: &EndedCall, house: &House, inputs: &mut Vec<Input>) {
        let same = |failing: &Failing| {
            failing.session == call.session
                && failing.identity == call.identity
                && *failing.tool == *call.tool
        };
        let known = self.failing.iter().position(same).and_then(|at| self.failing.remove(at));
        let Some(why) = call.fault.as_deref().map(tectum_redact::text) else { return };
        let (session, tool) = (call.session.clone(), call.tool.to_string());
        let before = known.map_or(0, |known| known.times);
        self.failing.push_front(Failing { session, tool, identity: call.identity, times: before + 1 });
        self.failing.truncate(MOST_CALLS);
        if before + 1 != TIMES {
            return;
        }
        let subject = format!("{} {:08x}", call.tool, call.identity >> 32);
        house.attention.concerns(REPEATS, &subject, Audience::Sessions(vec![call.session.clone()]));
        inputs.push(Input::Event(Event {
            new: format!("failed {TIMES} times with the same arguments: {why}"),
            ..fact(REPEATS, house, subject, "result")
        }));
    }
}

//! Hooks of coding agents: before an agent uses a tool of its own, it asks here, and the rules of this
//! house answer. Whatever is not understood is denied.

mod decision;
mod news;
mod placed;
mod shape;
mod splice;
mod touched;
mod verdict;

use tectum_core::Tectum;

pub use self::{
    decision::{HookDecision, HookVerdict},
    news::{NEWS, NewsClient},
    placed::{HookEntries, PlacedHook},
    shape::{HookCall, HookReply, HookShape, denial, without_contents},
};

/// The path of the hook API where clients ask.
pub const PRE_TOOL_USE: &str = "/hooks/pre-tool-use";

/// The largest request that is read: a file that an agent writes stands in it whole.
pub const MOST_REQUEST: usize = 16 << 20;

/// The answer of this house to a client's request, in the client's own shape.
pub fn answer(house: &Tectum, named: Option<HookShape>, request: &[u8]) -> HookReply {
    match HookCall::read(named, request) {
        Ok(call) => {
            let verdict = verdict::judge(house, &call);
            call.reply(&verdict)
        }
        Err(unread) => unread,
    }
}

//! A conversation as it stands, and the prompt it becomes. Anchors are no part of it: they are put
//! at the end of each prompt, so no compaction and no change of tier can lose them.

use serde::{Deserialize, Serialize};

use crate::{
    Message, Role, Source, ToolCall,
    message::{self},
};

/// The window that is assumed where nobody named one, in tokens.
pub const USUAL_BUDGET: usize = 128_000;

/// One conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoopContext {
    /// The history; the first message is the tier's prompt.
    pub messages: Vec<Message>,
    /// The tier that works.
    pub tier: String,
    /// The model's window, in tokens.
    pub budget: usize,
    /// Rounds since the conversation began, over all its runs.
    #[serde(default)]
    pub iteration: u64,
}

impl LoopContext {
    /// A conversation that begins in this tier.
    pub fn new(tier: impl Into<String>, budget: usize) -> Self {
        Self { messages: Vec::new(), tier: tier.into(), budget, iteration: 0 }
    }

    /// Makes this the prompt of the tier, in the first place.
    pub fn set_system(&mut self, prompt: &str) {
        let system = Message::system(prompt);
        match self.messages.first_mut() {
            Some(first) if first.role == Role::System && first.metadata.source == Source::System => {
                *first = system;
            }
            _ => self.messages.insert(0, system),
        }
    }

    /// Takes an answer into the history. One that says nothing is not kept: some servers refuse it.
    pub(crate) fn say(&mut self, text: String) -> String {
        if !text.is_empty() {
            self.messages.push(Message::assistant(text.clone(), Vec::new()).at(self.iteration));
        }
        text
    }

    /// About how many tokens the history takes.
    pub fn tokens(&self) -> usize {
        self.messages.iter().map(Message::tokens).sum()
    }

    /// Makes a history whole that came from elsewhere: each call is followed by its result, and no
    /// result stands alone. Models' servers refuse anything else. Says how much it changed.
    pub fn mend(&mut self) -> usize {
        let mut changed = 0;
        let mut mended: Vec<Message> = Vec::with_capacity(self.messages.len());
        let mut open: Vec<ToolCall> = Vec::new();
        for message in std::mem::take(&mut self.messages) {
            if message.role == Role::Tool {
                let answers = |call: &ToolCall| message.tool_call_id.as_deref() == Some(&call.id);
                match open.iter().position(answers) {
                    Some(at) => {
                        open.remove(at);
                        mended.push(message);
                    }
                    None => changed += 1,
                }
                continue;
            }
            changed += open.len();
            mended.extend(open.drain(..).map(|call| lost(&call)));
            open.clone_from(&message.tool_calls);
            mended.push(message);
        }
        changed += open.len();
        mended.extend(open.iter().map(lost));
        self.messages = mended;
        changed
    }

    /// True when each call is followed by its results before anybody else speaks, and nothing else
    /// is called a result.
    pub fn is_whole(&self) -> bool {
        let mut open: Vec<&str> = Vec::new();
        self.messages.iter().all(|message| match message.role {
            Role::Tool => {
                let answers = |id: &&str| message.tool_call_id.as_deref() == Some(*id);
                open.iter().position(answers).map(|at| open.swap_remove(at)).is_some()
            }
            _ => {
                let closed = open.is_empty();
                open = message.tool_calls.iter().map(|call| call.id.as_str()).collect();
                closed
            }
        }) && open.is_empty()
    }
}

/// The text in place of a result that nobody kept.
fn lost(call: &ToolCall) -> Message {
    Message::tool(call, "ERROR: what came of this call was not kept\nHint: look before calling again", true)
}

/// The end of a prompt: what is kept in sight, and what the loop has to say.
pub(crate) fn tail(anchors: Option<String>, warning: Option<String>) -> Option<Message> {
    let text = [anchors, warning].into_iter().flatten().collect::<Vec<_>>().join("\n\n");
    (!text.is_empty()).then(|| Message::notice(Source::Anchors, text))
}

/// About how many tokens a tail takes.
pub(crate) fn tail_tokens(anchors: Option<&str>) -> usize {
    anchors.map_or(0, |text| message::tokens(text.len()) + message::tokens(0))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn call(id: &str) -> ToolCall {
        ToolCall::new(id, "t", "{}")
    }

    fn result(id: &str) -> Message {
        Message::tool(&call(id), "r", false)
    }

    fn context(messages: Vec<Message>) -> LoopContext {
        LoopContext { messages, ..LoopContext::new("t", 1000) }
    }

    #[test]
    fn the_prompt_of_the_tier_comes_first_and_once() {
        let mut ctx = context(vec![Message::user("hello")]);
        ctx.set_system("one");
        ctx.set_system("two");
        let said: Vec<&str> = ctx.messages.iter().map(|message| message.content.as_str()).collect();
        assert_eq!(said, ["two", "hello"]);
    }

    #[test]
    fn a_broken_history_is_made_whole() {
        let calls = || Message::assistant("", vec![call("1"), call("2")]);
        for (messages, changes) in [
            (vec![calls(), result("2"), result("1")], 0),
            (vec![calls(), result("1")], 1),
            (vec![calls(), Message::user("x")], 2),
            (vec![calls(), Message::user("x"), result("1")], 3),
            (vec![result("9"), Message::user("x")], 1),
        ] {
            let mut ctx = context(messages);
            assert_eq!((ctx.is_whole(), ctx.mend()), (changes == 0, changes));
            assert!(ctx.is_whole(), "{:?}", ctx.messages);
        }
    }

    proptest! {
        #[test]
        fn any_history_is_made_whole(kinds in prop::collection::vec((0u8..4, 0u8..3, 0u8..3), 0..12)) {
            let messages = kinds.iter().map(|(kind, a, b)| match kind {
                0 => Message::user("u"),
                1 => result(&a.to_string()),
                2 => Message::assistant("", vec![call(&a.to_string()), call(&b.to_string())]),
                _ => Message::assistant("said", vec![]),
            });
            let mut ctx = context(messages.collect());
            let whole = ctx.is_whole();
            let changed = ctx.mend();
            prop_assert_eq!(whole, changed == 0);
            prop_assert!(ctx.is_whole());
        }
    }
}

//! A model that says what it was told to say, and remembers what it was asked: for tests of
//! whatever stands around a loop.

use std::{collections::VecDeque, sync::Arc};

use parking_lot::Mutex;
use tectum_core::Fault;

use crate::{Answer, Message, Model, Prompt};

/// A model that follows a script. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct Scripted(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    answers: VecDeque<Result<Answer, Fault>>,
    asked: Vec<Asked>,
}

/// A question to the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    /// The name of the model.
    pub model: Option<String>,
    /// The messages.
    pub messages: Vec<Message>,
    /// The names of the tools it was offered.
    pub tools: Vec<String>,
    /// True if it might call them.
    pub may_call: bool,
}

impl Scripted {
    /// A model that gives these answers, one after the other.
    pub fn new(answers: impl IntoIterator<Item = Answer>) -> Self {
        Self::failing(answers.into_iter().map(Ok))
    }

    /// The same where some answers are failures.
    pub fn failing(answers: impl IntoIterator<Item = Result<Answer, Fault>>) -> Self {
        let state = State { answers: answers.into_iter().collect(), asked: Vec::new() };
        Self(Arc::new(Mutex::new(state)))
    }

    /// The questions so far.
    pub fn asked(&self) -> Vec<Asked> {
        self.0.lock().asked.clone()
    }
}

impl Model for Scripted {
    async fn answer(&self, prompt: Prompt<'_>, said: &mut (dyn FnMut(&str) + Send)) -> Result<Answer, Fault> {
        let answer = {
            let mut state = self.0.lock();
            state.asked.push(Asked {
                model: prompt.model.map(str::to_owned),
                messages: prompt.messages.into_iter().cloned().collect(),
                tools: prompt.tools.iter().map(|tool| tool.name.to_string()).collect(),
                may_call: prompt.may_call,
            });
            state.answers.pop_front()
        };
        let answer = answer.ok_or_else(|| {
            Fault::not_found("the script has no answer to this")
                .hint("give it as many answers as are asked for")
        })??;
        for piece in answer.text.split_inclusive(' ') {
            said(piece);
        }
        Ok(answer)
    }
}

//! The questions of a server in the middle of a request, for the pairs of eras in which the client
//! answers by trying again, or the server is asked again with its answers.

use std::{sync::Arc, time::Duration};

use serde_json::value::RawValue;
use tectum_core::{Fault, FaultKind};
use tokio::time::Instant;

use super::{Carried, MOST_QUESTIONS, Step};
use crate::{
    federation::{ParkedQuestion, parked::Parked, translate},
    link::{self, Event, Exchange, Link, TOO_MANY},
    peer::{Failure, questions},
    wire::{Members, Object, code, error_object, raw},
};

/// The time to wait for further questions after a first one, so that a client that answers by trying
/// again gets them together.
const GATHER: Duration = Duration::from_millis(25);
/// Rounds of questions one call may take.
const MOST_ROUNDS: usize = 32;

impl Carried<'_> {
    /// A question as its client is shown it. One that nobody should be shown is refused.
    pub(super) fn shown(
        &self,
        exchange: &Exchange,
        mut asked: link::Question,
    ) -> Result<Option<link::Question>, Failure> {
        match questions::shown(&self.peer.spec.name, &asked.method, &asked.params) {
            Ok(params) => {
                asked.params = params;
                Ok(Some(asked))
            }
            Err(why) => {
                tracing::warn!(server = %self.peer.spec.name, why, "a question is refused");
                let error = questions::refusal(&asked.method, &why);
                exchange.link().reply(&asked.id, Err(&error)).map_err(|loss| self.lost(&loss))?;
                Ok(None)
            }
        }
    }

    /// The failure of a request whose server cannot be told that its question is refused.
    pub(super) fn refused(&self, why: &str) -> Failure {
        let name = &self.peer.spec.name;
        tracing::warn!(server = %name, why, "a question is refused");
        Fault::new(FaultKind::Upstream, format!("{name}: {why}")).into()
    }

    /// The server's own error, in the words of the client's era.
    pub(super) fn theirs(&self, error: Box<RawValue>) -> Failure {
        let error = questions::in_error(&self.peer.spec.name, error);
        Failure::Theirs(translate::error(self.order.method, error, self.caller.era))
    }

    /// The parked call that a repeated try belongs to.
    pub(super) fn resumed(&self) -> Result<Option<Exchange>, Failure> {
        let Some(state) = self.caller.state.as_deref().filter(|state| self.shelf.is_ours(state)) else {
            return Ok(None);
        };
        let parked = self.shelf.take(state, &self.digest());
        let Parked { exchange, questions } =
            parked.map_err(|why| Failure::Theirs(raw(error_object(code::INVALID_PARAMS, &why))))?;
        exchange.waits(false);
        let given = self.caller.input.as_ref().and_then(|input| Members::of(input.get()));
        for question in &questions {
            let answer = given.as_ref().and_then(|given| given.get(&question.key));
            let outcome = match answer {
                Some(answer) => Ok(answer.get()),
                None => Err(r#"{"code":-32603,"message":"the client gave no answer"}"#),
            };
            exchange.link().reply(&question.asked.id, outcome).map_err(|loss| self.lost(&loss))?;
        }
        Ok(Some(exchange))
    }

    /// The answer that a client brought along with its first try, knowing the question.
    pub(super) fn brought(&self, question: &ParkedQuestion) -> Option<String> {
        let given = self.caller.input.as_ref().filter(|_| self.caller.state.is_none())?;
        Some(Members::of(given.get())?.get(&question.key)?.get().to_owned())
    }

    /// A modern client answers by trying again: until then the server's call waits.
    pub(super) async fn park(
        &mut self,
        mut exchange: Exchange,
        first: ParkedQuestion,
    ) -> Result<Step, Failure> {
        let mut questions = vec![first];
        let until = Instant::now() + GATHER;
        while let Ok(event) = tokio::time::timeout_at(until, exchange.next()).await {
            match event {
                Event::Question(asked) => {
                    let asked = self.shown(&exchange, asked)?;
                    questions.extend(asked.map(|asked| ParkedQuestion::new(questions.len() + 1, asked)));
                }
                Event::Note { method, params } => self.note(&method, &params).await,
                Event::Answer(Ok(result)) => {
                    return Ok(Step::Done(translate::to_modern(self.order.method, result)));
                }
                Event::Answer(Err(error)) => return Err(self.theirs(error)),
                Event::Lost(loss) => return Err(self.lost(&loss)),
            }
        }
        questions.retain(|question| !question.asked.over.is_cancelled());
        if questions.is_empty() {
            return Ok(Step::GoOn(exchange));
        }
        if questions.len() > MOST_QUESTIONS {
            self.asked_too_much = true;
            for question in &questions {
                exchange.link().reply(&question.asked.id, Err(TOO_MANY)).map_err(|loss| self.lost(&loss))?;
            }
            return Ok(Step::GoOn(exchange));
        }
        let mut requests = Object::new();
        for question in &mut questions {
            // The client has it from now on.
            let params = std::mem::take(&mut question.asked.params);
            let request =
                Object::new().text("method", &question.asked.method).raw("params", params.get()).end();
            requests.raw(&question.key, &request);
        }
        let requests = requests.end();
        exchange.waits(true);
        let parked = Parked { exchange, questions };
        let state = self.shelf.park(parked, self.digest())?;
        Ok(Step::Done(translate::asking(&requests, &state)))
    }

    /// A legacy client is asked one by one, then the modern server is asked again.
    pub(super) async fn ask_and_retry(
        &mut self,
        link: Arc<Link>,
        input: translate::InputRequired,
    ) -> Result<Exchange, Failure> {
        self.round += 1;
        if self.round > MOST_ROUNDS {
            let why = format!("{} asked {MOST_ROUNDS} times and still asks", self.peer.spec.name);
            return Err(Fault::new(FaultKind::Upstream, why).into());
        }
        let Some(client) = self.caller.client.clone() else {
            let why = "the server asks a question, and there is no person to answer it";
            return Err(Fault::new(FaultKind::Upstream, why).into());
        };
        let mut answers = Object::new();
        for (key, method, params) in &input.requests {
            if !self.caller.can(method) {
                let why = format!("{method}: the client cannot do this");
                return Err(Failure::Theirs(raw(error_object(code::MISSING_CAPABILITY, &why))));
            }
            let params = raw(params.clone());
            let params = questions::shown(&self.peer.spec.name, method, &params);
            let params = params.map_err(|why| self.refused(&why))?;
            let answer = client.ask(self.caller.outbox.clone(), method, params.get()).await;
            answers.raw(key, answer.map_err(Failure::Theirs)?.get());
        }
        self.send(&link, Some(&answers.end()), input.state.as_deref()).map_err(|loss| self.lost(&loss))
    }

    /// The digest of what a repeated try must repeat: the method and its parameters.
    pub(super) fn digest(&self) -> blake3::Hash {
        let mut hasher = blake3::Hasher::new();
        hasher.update(self.peer.spec.name.as_str().as_bytes()).update(self.order.method.as_bytes());
        for (key, value) in &self.order.params {
            hasher.update(key.as_bytes()).update(&[0]).update(value.get().as_bytes()).update(&[0]);
        }
        hasher.finalize()
    }
}

//! The worker that runs the engine: asks whoever must be asked, shows the ticket and its files to a model,
//! and lets QA look at what failed.

use std::{fmt, sync::Arc};

use serde::{Deserialize, Serialize};
use serde_json::json;
use tectum_core::{Fault, FaultKind, SessionId, Tectum, security::RawPath};
use tectum_engine::{Engine, Event, Finished, Model, Reason, Settings};
use tectum_turns::Stop;
use tokio_util::sync::CancellationToken;

use crate::{
    Board, Consent, ConsentKind, ConsentQuestion, Done, Ticket, Told, Worker,
    tiers::{BLOCKED, QA},
};

/// The most characters that are kept of a worker's last words, and given to those who wait for it.
const MOST_RESULT: usize = 4000;
/// The most characters of QA's opinion, which is to be a sentence.
const MOST_ANALYSIS: usize = 400;
/// The most characters of a worker's output that QA reads.
const MOST_FOR_QA: usize = 4000;
/// The most characters of a call's arguments in a stream.
const MOST_ARGUMENTS: usize = 200;

/// How a track is worked on.
#[derive(Clone, Copy, Debug)]
pub struct Orders {
    /// A person is asked before each ticket, and not only before those that say so.
    pub step: bool,
    /// A person is asked before each worker.
    pub ask_spawn: bool,
}

/// A model and a house, as workers.
pub struct Crew<M> {
    /// The house.
    pub house: Tectum,
    /// The model.
    pub model: Arc<M>,
    /// The settings of each conversation.
    pub settings: Settings,
    /// The board.
    pub board: Arc<Board>,
    /// Whoever says yes.
    pub consent: Arc<dyn Consent>,
    /// How the track is worked on.
    pub orders: Orders,
    /// Cancelled when the work is to stop.
    pub cancel: CancellationToken,
}

impl<M: Model + 'static> Worker for Crew<M> {
    async fn work(&self, mut ticket: Ticket) -> Done {
        match self.cancel.run_until_cancelled(self.ask(&mut ticket)).await {
            None => return Done::Left,
            Some(Err(_)) if self.cancel.is_cancelled() => return Done::Left,
            Some(Err(Fault { message, hint, .. })) => {
                let hint = hint.map(|hint| format!(" ({hint})")).unwrap_or_default();
                return Done::Blocked { reason: format!("{message}{hint}"), analysis: None };
            }
            Some(Ok(())) => {}
        }
        if let Err(fault) = self.board.change(|graph| graph.begin(&ticket.id)).await {
            return Done::Failed(fault);
        }
        match self.talk(&ticket).await {
            Err(fault) if fault.kind == FaultKind::TooLarge => self.failed(&ticket, fault.message).await,
            Err(fault) => Done::Failed(fault),
            Ok(done) => match judged(&done) {
                _ if done.reason == Reason::Cancelled => Done::Left,
                Ok(()) => Done::Completed(cut(&done.text, MOST_RESULT)),
                Err(reason) => self.failed(&ticket, reason).await,
            },
        }
    }
}

impl<M: Model + 'static> Crew<M> {
    /// Asks before the ticket and before the worker, as far as somebody wants to be asked. The person may
    /// say the work in other words.
    async fn ask(&self, ticket: &mut Ticket) -> Result<(), Fault> {
        let track = self.board.track();
        if self.orders.step || ticket.step_mode {
            let text = format!("begin the ticket `{}` of the track `{}`", ticket.id, track.id);
            let data = json!({ "track": track.id, "ticket": ticket });
            self.ask_one(ConsentKind::Step, ticket, text, data).await?;
        }
        if self.orders.ask_spawn {
            let tier = self.settings.tiers.get(&ticket.assigned_to)?;
            let text = format!("let a model ({}) work on the ticket `{}`", ticket.assigned_to, ticket.id);
            let data = json!({ "track": track.id, "ticket": ticket, "tier": ticket.assigned_to,
                "prompt": tier.prompt, "tools": tier.tools, "model": tier.model });
            self.ask_one(ConsentKind::Spawn, ticket, text, data).await?;
        }
        Ok(())
    }

    async fn ask_one(
        &self,
        kind: ConsentKind,
        ticket: &mut Ticket,
        text: String,
        data: serde_json::Value,
    ) -> Result<(), Fault> {
        #[derive(Serialize, Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Work {
            description: String,
        }
        let waiting = self.board.waiting(kind);
        let proposal = json!(Work { description: ticket.description.clone() });
        let question = ConsentQuestion { kind, subject: ticket.id.clone(), text, proposal, data };
        let agreed = self.consent.ask(question).await?;
        drop(waiting);
        let work: Work = serde_json::from_value(agreed).map_err(|error| {
            Fault::invalid(format!("what was agreed to is no ticket: {error}"))
                .hint("only its `description` can be changed")
        })?;
        ticket.description = work.description;
        Ok(())
    }

    /// The conversation of a ticket.
    async fn talk(&self, ticket: &Ticket) -> Result<Finished, Fault> {
        let mut engine = self.engine(&ticket.assigned_to, &ticket.id)?;
        let task = self.task(ticket, &mut engine);
        let _at_work = self.board.at_work(&ticket.assigned_to);
        self.board.ai_status(SENDING);
        engine.run(&mut engine.context(), &task, self.cancel.clone()).await
    }

    /// A new conversation in this tier, whose events are told and shown.
    pub(crate) fn engine(&self, tier: &str, ticket: &str) -> Result<Engine<Arc<M>>, Fault> {
        let mut settings = self.settings.clone();
        tier.clone_into(&mut settings.tiers.default);
        let (board, tier, ticket) = (self.board.clone(), tier.to_owned(), ticket.to_owned());
        let stream = if ticket.is_empty() { tier.clone() } else { format!("{tier}/{ticket}") };
        settings.session = SessionId::new(format!("{}/{stream}", settings.session.0));
        let engine = Engine::new(self.house.clone(), self.model.clone(), settings)?;
        Ok(engine.telling(move |event| {
            match &event {
                Event::Said(text) => board.say(&stream, text),
                Event::Calls(call) => {
                    board.say(
                        &stream,
                        &format!("\n> {} {}\n", call.name, cut(&call.arguments, MOST_ARGUMENTS)),
                    );
                    board.ai_status(&running(&call.name));
                }
                Event::Called { call, failed, text, .. } => {
                    if *failed {
                        let why = text.lines().next().unwrap_or_default();
                        board.say(&stream, &format!("! {} {why}\n", call.name));
                    }
                    board.ai_status(SENDING);
                }
                _ => {}
            }
            board.tell(Told::Event { tier: &tier, ticket: &ticket, event: &event });
        }))
    }

    /// What the worker is told: the ticket, its place in the track, what was done before it, its files.
    fn task(&self, ticket: &Ticket, engine: &mut Engine<Arc<M>>) -> String {
        let track = self.board.track();
        let mut task =
            format!("Your ticket `{}`: {}\n\nIt is part of `{}`", ticket.id, ticket.description, track.id);
        match track.description.as_str() {
            "" => task.push('.'),
            goal => task.push_str(&format!(": {goal}")),
        }
        if let Some(file) = &ticket.target_file {
            task.push_str(&format!("\n\nThe file to change: `{file}`"));
        }
        for before in ticket.depends_on.iter().filter_map(|id| track.ticket(id)) {
            let result = before.result.as_deref().unwrap_or_default();
            task.push_str(&format!("\n\nDone before, as `{}`: {}\n{result}", before.id, before.description));
        }
        let target = ticket.target_file.iter().filter(|file| !ticket.context_requirements.contains(file));
        for file in target.chain(&ticket.context_requirements) {
            let shown = engine.show(&RawPath::new(file.as_str()));
            task.push_str("\n\n");
            task.push_str(shown.text.trim_end());
        }
        task
    }

    /// A ticket that failed, with QA's opinion if there is one.
    async fn failed(&self, ticket: &Ticket, reason: String) -> Done {
        let analysis = match self.analyse(ticket, &reason).await {
            Ok(analysis) => analysis,
            Err(fault) => {
                tracing::warn!(ticket = ticket.id, why = fault.message, "there is no analysis");
                None
            }
        };
        // Stopped while QA was at it: the ticket itself has failed all the same.
        Done::Blocked { reason, analysis }
    }

    async fn analyse(&self, ticket: &Ticket, reason: &str) -> Result<Option<String>, Fault> {
        let said = self
            .board
            .watch()
            .borrow()
            .mma_streams
            .get(&format!("{}/{}", ticket.assigned_to, ticket.id))
            .cloned();
        let said = said.unwrap_or_default();
        let from = said.char_indices().rev().nth(MOST_FOR_QA).map_or(0, |(at, _)| at);
        let task = format!(
            "The ticket `{}`: {}\n\nIt failed: {reason}\n\nThe end of what its worker did and said:\n{}",
            ticket.id,
            ticket.description,
            &said[from..]
        );
        let mut engine = self.engine(QA, &ticket.id)?;
        let _at_work = self.board.at_work(QA);
        self.board.ai_status(SENDING);
        let done = engine.run(&mut engine.context(), &task, self.cancel.clone()).await?;
        let words = done.text.split_whitespace().collect::<Vec<_>>().join(" ");
        Ok((!words.is_empty()).then(|| cut(&words, MOST_ANALYSIS)))
    }
}

impl<M> fmt::Debug for Crew<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Crew").field("orders", &self.orders).finish_non_exhaustive()
    }
}

/// The word for a model that is being asked.
pub(crate) const SENDING: &str = "sending...";

/// The words for a call that runs.
fn running(tool: &str) -> String {
    match tool {
        "run_powershell" => "running powershell...".into(),
        "fetch_url" => "fetching url...".into(),
        tool => format!("running {tool}..."),
    }
}

/// Whether a conversation did its work, or why not.
fn judged(done: &Finished) -> Result<(), String> {
    let last = done.text.trim_end().lines().next_back().unwrap_or_default();
    let why = match done.reason {
        Reason::Answered => match last.trim().trim_start_matches(['*', '`']).strip_prefix(BLOCKED) {
            Some("") => "the worker gave no reason",
            Some(reason) => return Err(reason.trim().trim_end_matches(['*', '`']).to_owned()),
            None if last.is_empty() => "the model gave no answer",
            None => return Ok(()),
        },
        Reason::Stopped(Stop::Directive) => return Ok(()),
        Reason::Stopped(Stop::Rounds) => "the limit on rounds of calls was reached (max_rounds in [run])",
        Reason::Stopped(Stop::Errors) => "every call failed for several rounds (max_errors in [run])",
        Reason::Stopped(Stop::Repeats) => "the same call was made again and again (max_repeats in [run])",
        Reason::Cut => "the answer reached the model's limit",
        Reason::Filtered => "the model's server filtered the answer",
        Reason::Cancelled => "cancelled",
    };
    Err(why.to_owned())
}

/// At most so many characters.
fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
#[path = "crew_tests.rs"]
mod tests;

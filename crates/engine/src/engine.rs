//! The loop: assemble a prompt, ask the model, run its calls as one round of the house, put what
//! came of them back, and look after the window; until there is an answer or a reason to stop.
//!
//! The history is whole at every await: an answer with calls enters it together with all their
//! results, so whoever cancels or drops a run leaves a conversation that can go on.

mod ask;

use std::{collections::HashMap, fmt, sync::Arc};

use tectum_core::{Call, CallId, Directive, Fault, Outcome, SessionId, Tectum, security::RawPath};
use tectum_turns::{Limits, Refresh, Shown, Sight, Stop, Turn};
use tokio_util::sync::CancellationToken;

use crate::{
    Answer, Event, Finish, LoopContext, Message, Model, Policy, Source, Tiers, Usage,
    context::USUAL_BUDGET,
    order::Order,
    process::{Processed, Processor},
    prune::capped,
    render,
};

/// The settings of a loop.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The tiers of the model.
    pub tiers: Tiers,
    /// The limits at which the window is compacted.
    pub policy: Policy,
    /// The limits of one run.
    pub limits: Limits,
    /// The model's window, in tokens.
    pub budget: usize,
    /// The conversation's name in the journal.
    pub session: SessionId,
    /// True if the model is told how files changed that it knows.
    pub refresh: bool,
    /// What the model should know at the end of a round, where somebody has news.
    pub news: Option<RoundNews>,
}

type NewsSource = dyn Fn(&SessionId) -> Option<String> + Send + Sync;

/// Somebody with news for a conversation: at most a line for each round.
#[derive(Clone)]
pub struct RoundNews(Arc<NewsSource>);

impl RoundNews {
    /// Told by this function, which must not wait.
    pub fn new(news: impl Fn(&SessionId) -> Option<String> + Send + Sync + 'static) -> Self {
        Self(Arc::new(news))
    }
}

impl fmt::Debug for RoundNews {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RoundNews").finish_non_exhaustive()
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            tiers: Tiers::only(""),
            policy: Policy::default(),
            limits: Limits::default(),
            budget: USUAL_BUDGET,
            session: SessionId::new("engine"),
            refresh: true,
            news: None,
        }
    }
}

/// The end of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finished {
    /// Why.
    pub reason: Reason,
    /// The model's last words.
    pub text: String,
    /// The cost of all answers together.
    pub usage: Usage,
    /// The number of rounds of calls.
    pub rounds: usize,
}

/// Why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The model had an answer.
    Answered,
    /// The answer reached the model's limit and was cut there.
    Cut,
    /// The model's server held the answer back.
    Filtered,
    /// A tool ended it, or a limit did.
    Stopped(Stop),
    /// Whoever asked left.
    Cancelled,
}

type Tell = Box<dyn FnMut(Event<'_>) + Send>;

/// A model in a house.
pub struct Engine<M> {
    house: Tectum,
    model: M,
    settings: Settings,
    tell: Tell,
    known: Refresh,
}

impl<M: Model> Engine<M> {
    /// Puts a model into a house. Settings that contradict themselves are refused here.
    pub fn new(house: Tectum, model: M, settings: Settings) -> Result<Self, Fault> {
        settings.policy.check()?;
        settings.tiers.check()?;
        Ok(Self { house, model, settings, tell: Box::new(|_| ()), known: Refresh::default() })
    }

    /// Tells this function what happens. It must not block.
    pub fn telling(mut self, tell: impl FnMut(Event<'_>) + Send + 'static) -> Self {
        self.tell = Box::new(tell);
        self
    }

    /// The model knows this file as it is now. Files that its calls touch are known to it without
    /// that. How they change stands behind the last result of a round, until the next one begins.
    pub fn track(&mut self, path: &RawPath) {
        self.known.track(&Sight::now(&self.house), path);
    }

    /// The same, and gives the file as it is now, for the task it belongs to.
    pub fn show(&mut self, path: &RawPath) -> Shown {
        self.known.show(&Sight::now(&self.house), path)
    }

    /// A new conversation, in the first tier.
    pub fn context(&self) -> LoopContext {
        LoopContext::new(self.settings.tiers.default.clone(), self.settings.budget)
    }

    /// The house.
    pub fn house(&self) -> &Tectum {
        &self.house
    }

    /// Works on a task until there is an answer or a reason to stop. A model that cannot be asked
    /// is a fault; the conversation is whole then, too, and can go on with another run.
    pub async fn run(
        &mut self,
        ctx: &mut LoopContext,
        task: &str,
        cancel: CancellationToken,
    ) -> Result<Finished, Fault> {
        let mut turn = self.begin(ctx, task)?;
        let mut usage = Usage::default();
        let finished = |reason, text: String, usage, turn: &Turn| {
            Ok(Finished { reason, text, usage, rounds: turn.rounds() })
        };
        loop {
            let offers = self.offers(&ctx.tier)?;
            self.make_room(ctx, &offers);
            let Some(answer) = self.ask(ctx, &offers, true, &cancel).await? else {
                return finished(Reason::Cancelled, String::new(), usage, &turn);
            };
            usage += answer.usage;
            if answer.calls.is_empty() {
                return finished(reason(answer.finish), ctx.say(answer.text), usage, &turn);
            }
            let text = answer.text.clone();
            let stop = self.round(ctx, &mut turn, answer, &cancel).await?;
            if cancel.is_cancelled() {
                return finished(Reason::Cancelled, text, usage, &turn);
            }
            match stop {
                None => {}
                Some(Stop::Directive) => {
                    return finished(Reason::Stopped(Stop::Directive), text, usage, &turn);
                }
                Some(stop) => {
                    let text = self.close(ctx, stop, &mut usage, &cancel).await;
                    return finished(Reason::Stopped(stop), text, usage, &turn);
                }
            }
        }
    }

    fn begin(&mut self, ctx: &mut LoopContext, task: &str) -> Result<Turn, Fault> {
        if task.trim().is_empty() {
            return Err(Fault::invalid("there is no task").hint("say what is to be done"));
        }
        let tier = self.settings.tiers.get(&ctx.tier)?;
        let mended = ctx.mend();
        if mended > 0 {
            tracing::warn!(mended, "the conversation had calls without results, or results without calls");
        }
        ctx.set_system(&tier.prompt);
        ctx.messages.push(Message::user(task).at(ctx.iteration));
        let mut turn = Turn::new(self.settings.limits.clone());
        turn.hold_to(ctx.tier.clone(), tier.globs()?);
        Ok(turn)
    }

    /// Runs the calls of an answer and takes what came of them into the history.
    async fn round(
        &mut self,
        ctx: &mut LoopContext,
        turn: &mut Turn,
        answer: Answer,
        cancel: &CancellationToken,
    ) -> Result<Option<Stop>, Fault> {
        let orders = answer.calls.iter().map(|call| Order::new(call, &self.settings.session, cancel));
        let (ids, calls): (Vec<(CallId, Option<Fault>)>, Vec<Call>) =
            orders.map(|order| ((order.call.id, order.wrong), order.call)).unzip();
        answer.calls.iter().for_each(|call| (self.tell)(Event::Calls(call)));
        let done = turn.round(&self.house, calls).await;

        ctx.settle(&self.settings.policy);
        ctx.iteration += 1;
        let mut outcomes: HashMap<CallId, (Outcome, Option<String>)> =
            done.outcomes.into_iter().zip(done.advice).map(|one| (one.0.call, one)).collect();
        let (mut directives, mut touched) = (Vec::new(), Vec::new());
        ctx.messages.push(Message::assistant(answer.text, answer.calls.clone()).at(ctx.iteration));
        for (call, (id, wrong)) in answer.calls.iter().zip(ids) {
            let outcome = outcomes.remove(&id);
            let (mut text, failed, took) = match (&outcome, wrong) {
                (Some((outcome, _)), Some(wrong)) if outcome.result.is_err() => {
                    (wrong.text(), true, outcome.took)
                }
                (Some((outcome, _)), _) => {
                    let (text, failed) = render::outcome(outcome);
                    (text, failed, outcome.took)
                }
                (None, _) => (Fault::internal("the call was lost").text(), true, std::time::Duration::ZERO),
            };
            text = capped(text, self.settings.policy.result);
            if let Some((outcome, advice)) = outcome {
                text.extend(advice.map(|advice| format!("\n\n[{advice}]")));
                directives.extend(outcome.directives);
                if outcome.result.is_ok() {
                    touched.extend(outcome.paths);
                }
            }
            (self.tell)(Event::Called { call, failed, text: &text, took });
            ctx.messages.push(Message::tool(call, text, failed).at(ctx.iteration));
        }
        let processed = self.process(ctx, turn, &directives)?;
        ctx.messages.extend(processed.injected);
        if let Some(line) = self.settings.news.as_ref().and_then(|news| news.0(&self.settings.session)) {
            ctx.append_line(&line);
        }
        if self.settings.refresh {
            touched.iter().for_each(|path| self.track(path));
            if let Some(news) = self.known.changed(&Sight::now(&self.house)) {
                ctx.tell_news(&news);
            }
        }
        // A tool that hands over and stops means the tier that handed over, not the work.
        Ok(match done.stop {
            Some(Stop::Directive) if processed.tier_changed => {
                (turn.rounds() >= turn.limits().rounds).then_some(Stop::Rounds)
            }
            stop => stop.or(processed.stop.then_some(Stop::Directive)),
        })
    }

    fn process(
        &mut self,
        ctx: &mut LoopContext,
        turn: &mut Turn,
        directives: &[Directive],
    ) -> Result<Processed, Fault> {
        let tiers = &self.settings.tiers;
        let processed = Processor { ctx, tiers, tell: &mut *self.tell }.process(directives);
        if processed.tier_changed {
            turn.hold_to(ctx.tier.clone(), tiers.get(&ctx.tier)?.globs()?);
        }
        let pruned = ctx.prune_old(&self.settings.policy);
        if pruned > 0 {
            (self.tell)(Event::Pruned(pruned));
        }
        Ok(processed)
    }

    /// Lets the model sum up where a limit ended the work. A model that cannot leaves the reason.
    async fn close(
        &mut self,
        ctx: &mut LoopContext,
        stop: Stop,
        usage: &mut Usage,
        cancel: &CancellationToken,
    ) -> String {
        let notice = Message::notice(Source::Notice, format!("[No more calls: {}]", stop.message()));
        ctx.messages.push(notice.at(ctx.iteration));
        let offers = self.offers(&ctx.tier).unwrap_or_default();
        self.make_room(ctx, &offers);
        match self.ask(ctx, &offers, false, cancel).await {
            Ok(Some(answer)) => {
                *usage += answer.usage;
                if answer.text.trim().is_empty() { stop.message().to_owned() } else { ctx.say(answer.text) }
            }
            Ok(None) => stop.message().to_owned(),
            Err(fault) => {
                tracing::warn!(why = fault.message, "the model could not sum up");
                stop.message().to_owned()
            }
        }
    }
}

impl<M> fmt::Debug for Engine<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Engine").field("settings", &self.settings).finish_non_exhaustive()
    }
}

fn reason(finish: Finish) -> Reason {
    match finish {
        Finish::Stop | Finish::Calls => Reason::Answered,
        Finish::Length => Reason::Cut,
        Finish::Filtered => Reason::Filtered,
    }
}

#[cfg(test)]
#[path = "engine_tests/mod.rs"]
mod tests;

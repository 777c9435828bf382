//! A track that a model proposes: the orchestrator looks at the project and writes tickets. Whether they are
//! worked on is a person's decision.

use serde_json::Value;
use tectum_core::{Fault, FaultKind};
use tectum_engine::{Model, Reason};

use crate::{ConsentKind, ConsentQuestion, Crew, Mistake, Track, crew::SENDING, file, tiers::ORCHESTRATOR};

/// How often the model may write it, mistakes told each time.
const TRIES: usize = 3;

const FORM: &str = r#"Answer with the track as one JSON object, and with nothing else:
{"id": "short-name", "description": "the goal", "tickets": [
  {"id": "short-name", "description": "all that a worker must know, who knows nothing else",
   "target_file": "the file to change, if it is one", "context_requirements": ["files to show to the worker"],
   "depends_on": ["ids of tickets that must be completed before"]}]}
Make tickets that can be done and checked one by one; tickets that change the same file depend on each other."#;

impl<M: Model + 'static> Crew<M> {
    /// A track for a goal, as the orchestrator proposes it. Mistakes are told back to it.
    pub async fn propose(&self, goal: &str) -> Result<Track, Fault> {
        self.board.propose(None);
        let proposed = self.try_to_propose(goal).await;
        match &proposed {
            Ok(track) => self.board.propose(Some(track.clone())),
            Err(_) => self.board.give_up(),
        }
        proposed
    }

    async fn try_to_propose(&self, goal: &str) -> Result<Track, Fault> {
        let mut engine = self.engine(ORCHESTRATOR, "")?;
        let mut ctx = engine.context();
        let mut task = format!("Propose a track of tickets for this goal: {goal}\n\n{FORM}");
        let mut mistakes = String::new();
        for _ in 0..TRIES {
            let _at_work = self.board.at_work(ORCHESTRATOR);
            self.board.ai_status(SENDING);
            let done = engine.run(&mut ctx, &task, self.cancel.clone()).await?;
            if done.reason == Reason::Cancelled {
                return Err(Fault::new(FaultKind::Cancelled, "cancelled before there was a track"));
            }
            match file::parse(object(&done.text), self.tiers()) {
                Ok(track) => return Ok(track),
                Err(wrong) => mistakes = told(&wrong),
            }
            task = format!(
                "That is no track:\n{mistakes}\nWrite all of it again, without these mistakes. {FORM}"
            );
        }
        Err(Fault::new(FaultKind::Upstream, format!("the model proposed no track in {TRIES} tries:\n{mistakes}"))
            .hint("say more about the goal, use another model, or write the track yourself and give it with --track"))
    }

    /// Asks a person whether a proposed track may run. Gives it as they want it.
    pub async fn accept(&self, track: &Track, text: String) -> Result<Track, Fault> {
        let accepted = self.cancel.run_until_cancelled(self.try_to_accept(track, text)).await;
        let cancelled = || Err(Fault::new(FaultKind::Cancelled, "cancelled before the track was accepted"));
        accepted.unwrap_or_else(cancelled).inspect_err(|_| self.board.give_up())
    }

    async fn try_to_accept(&self, track: &Track, text: String) -> Result<Track, Fault> {
        let _waiting = self.board.waiting(ConsentKind::Plan);
        let wrong = |error: serde_json::Error| Fault::internal(error.to_string());
        let question = ConsentQuestion {
            kind: ConsentKind::Plan,
            subject: track.id.clone(),
            text,
            proposal: serde_json::from_str(&file::written(track, true)?).map_err(wrong)?,
            data: Value::Null,
        };
        let agreed = self.consent.ask(question).await?;
        let agreed = serde_json::to_string_pretty(&agreed).map_err(wrong)?;
        file::parse(&agreed, self.tiers()).map_err(|mistakes| {
            Fault::invalid(format!("what was agreed to is no track:\n{}", told(&mistakes)))
        })
    }

    fn tiers(&self) -> impl Iterator<Item = &str> {
        self.settings.tiers.tiers.keys().map(String::as_str)
    }
}

/// The object in an answer that may have words or a fence around it.
fn object(text: &str) -> &str {
    match (text.find('{'), text.rfind('}')) {
        (Some(from), Some(to)) if from < to => &text[from..=to],
        _ => "{}",
    }
}

/// Mistakes in lines, for a model.
fn told(mistakes: &[Mistake]) -> String {
    mistakes.iter().map(|one| format!("line {}: {}\n", one.line, one.message)).collect()
}

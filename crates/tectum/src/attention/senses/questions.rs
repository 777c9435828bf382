//! Questions that wait for a person longer than half a minute.

use std::{
    collections::HashMap,
    sync::Arc,
    time::{Duration, Instant},
};

use tectum_attention::{Event, Input, Severity};

use super::sense::{Calls, House, Sense, fact};

/// The organ.
const QUESTIONS: &str = "internal:questions";
/// The time after which a question is news.
const LONG: Duration = Duration::from_secs(30);

/// The property of a question, and its values.
const PATH: &str = "answer";
const ASKED: &str = "asked";
const LATE: &str = "none for 30 s";

/// The questions that wait, since when, and whether that was told.
#[derive(Default)]
pub(super) struct Questions {
    waiting: HashMap<Arc<str>, AskedQuestion>,
}

struct AskedQuestion {
    subject: String,
    since: Instant,
    told: bool,
}

impl Sense for Questions {
    fn organ(&self) -> &'static str {
        QUESTIONS
    }

    fn look(&mut self, house: &House, _: &Calls, inputs: &mut Vec<Input>) {
        let questions = house.desk.questions();
        let organ = QUESTIONS;
        self.waiting.retain(|id, waiting| {
            let waits = questions.iter().any(|question| question.id == *id);
            if !waits && waiting.told {
                // Told or not: it is as it was.
                let event = fact(organ, house, waiting.subject.as_str(), PATH);
                let (severity, old) = (Severity::None, Some(LATE.into()));
                inputs.push(Input::Event(Event { old, new: ASKED.into(), severity, ..event }));
            }
            waits
        });
        for question in questions {
            let waiting = self.waiting.entry(question.id.clone()).or_insert_with(|| AskedQuestion {
                subject: format!("{} {}", question.tool, question.id),
                since: Instant::now(),
                told: false,
            });
            if waiting.told || waiting.since.elapsed() < LONG {
                continue;
            }
            waiting.told = true;
            inputs.push(Input::Event(Event {
                old: Some(ASKED.into()),
                new: LATE.into(),
                details: Some(format!("tectum approve {}", question.id)),
                ..fact(QUESTIONS, house, waiting.subject.as_str(), PATH)
            }));
        }
    }
}

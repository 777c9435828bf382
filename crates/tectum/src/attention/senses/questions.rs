//! Questions that wait for a person longer than half a minute.

use std::{
    collections::HashMap,
    sync::Arc,
    time::{Duration, Instant},
};

use tectum_attention::{Event, Input};

use super::{Calls, House, Sense, fact};

/// The organ.
const QUESTIONS: &str = "internal:questions";
/// The time after which a question is news.
const LONG: Duration = Duration::from_secs(30);

/// The questions that wait, since when, and whether that was told.
#[derive(Default)]
pub(super) struct Questions {
    waiting: HashMap<Arc<str>, (Instant, bool)>,
}

impl Sense for Questions {
    fn organ(&self) -> &'static str {
        QUESTIONS
    }

    fn look(&mut self, house: &House, _: &Calls, inputs: &mut Vec<Input>) {
        let questions = house.desk.questions();
        self.waiting.retain(|id, _| questions.iter().any(|question| question.id == *id));
        for question in questions {
            let (since, told) =
                self.waiting.entry(question.id.clone()).or_insert_with(|| (Instant::now(), false));
            if *told || since.elapsed() < LONG {
                continue;
            }
            *told = true;
            let subject = format!("{} {}", question.tool, question.id);
            inputs.push(Input::Event(Event {
                old: Some("asked".into()),
                new: format!("no answer for {} s", since.elapsed().as_secs()),
                details: Some(format!("tectum approve {}", question.id)),
                ..fact(QUESTIONS, house, subject, "answer")
            }));
        }
        let waiting = &self.waiting;
        house.attention.drop_untold(|news| {
            let about = news.factors.signal.subject.as_deref().unwrap_or_default();
            news.organ == QUESTIONS && !waiting.keys().any(|id| about.ends_with(&**id))
        });
    }
}

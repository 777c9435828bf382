//! The desk: one for a house. Every surface sees every question, and the first answer counts.

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use arc_swap::ArcSwap;
use parking_lot::Mutex;
use tectum_core::{Fault, Tectum};
use tokio::sync::broadcast;

use crate::{
    Answer, Answered, Choice, DeskEvent, OpenQuestion, Remember, Remembered,
    question::{PATIENCE, UNSEEN},
    register::{End, NotOpen, Register},
    remembered::Memory,
};

/// Events that a slow surface may fall behind by; then it asks for the list again.
const EVENTS: usize = 1024;
/// Characters of a person's reason that the model is told.
const MOST_REASON: usize = 2000;

/// The place where rules of a project are written.
pub trait RuleBook: fmt::Debug + Send + Sync {
    /// Adds an allow rule for this project, or says why not. The change is returned as a diff.
    fn allow(&self, rule: &str) -> Result<String, String>;
}

/// How the desk asks.
#[derive(Clone, Debug)]
pub struct DeskSettings {
    /// True if the person in front of a client may be asked there.
    pub at_clients: bool,
    /// True if the surfaces of the house show questions.
    pub at_desk: bool,
    /// How long a question waits once it is shown.
    pub patience: Duration,
    /// How long it waits until then.
    pub unseen: Duration,
    /// How long a call waits whose client cannot be kept waiting; from what is known of the client if
    /// absent.
    pub hold: Option<Duration>,
    /// What holds commands, in words.
    pub sandbox: Option<String>,
    /// Where rules of the project go.
    pub rules: Option<Arc<dyn RuleBook>>,
}

impl Default for DeskSettings {
    fn default() -> Self {
        Self {
            at_clients: true,
            at_desk: true,
            patience: PATIENCE,
            unseen: UNSEEN,
            hold: None,
            sandbox: None,
            rules: None,
        }
    }
}

/// Holds questions until somebody answers.
#[derive(Debug)]
pub struct Desk {
    pub(crate) register: Arc<Register>,
    pub(crate) memory: Memory,
    settings: ArcSwap<DeskSettings>,
    surfaces: AtomicUsize,
}

impl Default for Desk {
    fn default() -> Self {
        let events = broadcast::Sender::new(EVENTS);
        Self {
            register: Arc::new(Register::new(Mutex::default(), events)),
            memory: Memory::default(),
            settings: ArcSwap::default(),
            surfaces: AtomicUsize::new(0),
        }
    }
}

impl Desk {
    /// The desk of a house. A house whose host brought an approver of its own has an empty one.
    pub fn of(house: &Tectum) -> Arc<Self> {
        let approver = house.approver(|| Arc::new(Self::default())).clone();
        let approver: Arc<dyn std::any::Any + Send + Sync> = approver;
        approver.downcast().unwrap_or_default()
    }

    /// Sets how it asks from now on.
    pub fn configure(&self, settings: DeskSettings) {
        self.settings.store(Arc::new(settings));
    }

    /// How it asks now.
    pub fn settings(&self) -> Arc<DeskSettings> {
        self.settings.load_full()
    }

    /// Notes that there is one more place where people see questions, until the guard is dropped. Without
    /// any, and without a client that asks its own person, a call is refused at once.
    pub fn attach(self: &Arc<Self>) -> Surface {
        self.surfaces.fetch_add(1, Ordering::SeqCst);
        Surface(self.clone())
    }

    /// How long a question waits once it is shown, and until then.
    pub(crate) fn patience(&self) -> (Duration, Duration) {
        let settings = self.settings.load();
        (settings.patience, settings.unseen)
    }

    /// True if the person in front of a client may be asked there.
    pub fn asks_at_clients(&self) -> bool {
        self.settings.load().at_clients
    }

    /// True if somebody may come and look.
    pub fn is_seen(&self) -> bool {
        self.settings.load().at_desk && self.surfaces.load(Ordering::SeqCst) > 0
    }

    /// The questions that wait, oldest first.
    pub fn questions(&self) -> Vec<Arc<OpenQuestion>> {
        self.register.waiting()
    }

    /// The question with this id, if it waits.
    pub fn find(&self, id: &str) -> Option<Arc<OpenQuestion>> {
        self.register.find(id).ok()
    }

    /// What happens from now on.
    pub fn events(&self) -> broadcast::Receiver<DeskEvent> {
        self.register.events.subscribe()
    }

    /// Notes that a person sees a question: its clock starts with the first.
    pub fn shown(&self, id: &str) -> Result<(), Fault> {
        self.register.shown(id).map_err(|why| not_open(id, why))
    }

    /// Answers a question. The first answer counts; a later one is a conflict.
    pub fn answer(&self, id: &str, answer: Answer, by: &str) -> Result<Answered, Fault> {
        let question = self.register.find(id).map_err(|why| not_open(id, why))?;
        answer.check(question.kind)?;
        let rules = self.settings.load().rules.clone();
        if answer.remember == Remember::Project {
            rememberable(&question, rules.is_some())?;
        }
        let by: Arc<str> = by.into();
        let Answer { decision, remember, reason, arguments, response } = answer;
        let end = match decision {
            Choice::Approve => End::Yes { by, edited: arguments, response },
            Choice::Deny => End::No { by, reason: reason_of(reason) },
        };
        self.register.settle(id, end).map_err(|why| not_open(id, why))?;
        self.memory.count(&question.tool, &question.subject, |before| match decision {
            Choice::Approve => before.approved += 1,
            Choice::Deny => before.denied += 1,
        });
        let rule = question.allow_rule.clone();
        let remembered = match (remember, rules) {
            (Remember::Session, _) => {
                self.memory.remember(&question.session, &question.tool, &question.subjects);
                Some(Remembered { rule, diff: String::new(), problem: None })
            }
            (Remember::Project, Some(rules)) => {
                let (diff, problem) = match rules.allow(&rule) {
                    Ok(diff) => (diff, None),
                    Err(why) => (String::new(), Some(why)),
                };
                Some(Remembered { rule, diff, problem })
            }
            (Remember::Once, _) | (Remember::Project, None) => None,
        };
        Ok(Answered { remembered })
    }
}

/// A place where people see questions.
#[derive(Debug)]
pub struct Surface(Arc<Desk>);

impl Drop for Surface {
    fn drop(&mut self) {
        if self.0.surfaces.fetch_sub(1, Ordering::SeqCst) > 1 {
            return;
        }
        // Whoever could have answered is gone, and that is no consent.
        for question in self.0.questions().iter().filter(|question| !question.at_client) {
            let _ = self.0.register.settle(&question.id, End::Nobody);
        }
    }
}

fn not_open(id: &str, why: NotOpen) -> Fault {
    match why {
        NotOpen::Settled => Fault::conflict(format!(
            "question {id} is no longer open: it was answered, its time passed, or its call ended"
        )),
        NotOpen::Unknown => Fault::not_found(format!("no question {id} is waiting"))
            .hint("the list of waiting questions has the ids"),
    }
}

/// A fault if no rule of the project could say what the answer says.
fn rememberable(question: &OpenQuestion, has_rules: bool) -> Result<(), Fault> {
    if question.by_rule {
        let why = format!("the {} asks, and an allow rule would not change that", question.rule.text);
        return Err(Fault::invalid(why).hint(
            "remember the answer for the session, or remove or narrow that rule; the question still waits",
        ));
    }
    if !has_rules {
        return Err(Fault::invalid("there is no configuration here that a rule could be written to")
            .hint("remember the answer for the session; the question still waits"));
    }
    Ok(())
}

/// The reason as the model is told it.
fn reason_of(given: Option<String>) -> String {
    let reason = given.filter(|reason| !reason.trim().is_empty());
    let Some(mut reason) = reason else { return "the answer was no".into() };
    if let Some((end, _)) = reason.char_indices().nth(MOST_REASON) {
        reason.truncate(end);
    }
    reason
}

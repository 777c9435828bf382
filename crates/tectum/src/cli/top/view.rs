//! What `tectum top` shows: Tectums, questions, calls and errors as the news left them.

use std::{
    collections::{HashSet, VecDeque},
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use serde_json::Value;

use super::{
    super::asked::{AskedHere, one_line},
    news::News,
};

/// Calls that are kept to be shown.
const MOST_CALLS: usize = 200;
/// Errors that are kept to be shown.
const MOST_ERRORS: usize = 50;
/// A question that came under the finger of somebody who was about to answer another one takes no answer
/// for so long.
const SETTLE: Duration = Duration::from_millis(700);

/// Everything that is shown.
#[derive(Default)]
pub(super) struct View {
    pub(super) houses: Vec<(PathBuf, Option<Value>)>,
    pub(super) questions: Vec<AskedHere>,
    /// The newest last.
    pub(super) calls: VecDeque<CallRow>,
    /// The newest last.
    pub(super) errors: VecDeque<String>,
    pub(super) note: Option<String>,
    pub(super) scrolled: usize,
    /// The question whose details are shown, and since when.
    chosen: Option<(String, Instant)>,
    seen: HashSet<String>,
    /// Questions that were answered here and may still be told of.
    gone: HashSet<String>,
}

/// One call.
pub(super) struct CallRow {
    id: String,
    pub(super) project: String,
    pub(super) client: String,
    pub(super) tool: String,
    pub(super) state: CallState,
}

/// How far it came.
pub(super) enum CallState {
    Running(Instant),
    Done { ok: bool, took_ms: u64 },
}

/// An answer with a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reply {
    Approve,
    ApproveSession,
    ApproveProject,
    Deny,
}

impl Reply {
    /// In the past tense.
    pub(super) fn done(self) -> &'static str {
        match self {
            Self::Approve => "approved",
            Self::ApproveSession => "approved for the session:",
            Self::ApproveProject => "approved for the project:",
            Self::Deny => "denied",
        }
    }
}

impl View {
    /// Takes something in.
    pub(super) fn hear(&mut self, news: News) {
        match news {
            News::Houses(houses) => self.houses = houses,
            News::Questions(questions) => {
                self.gone.retain(|id| questions.iter().any(|asked| asked.id() == id));
                self.questions = questions;
                self.questions.retain(|asked| !self.gone.contains(asked.id()));
            }
            News::Note(note) => self.note = Some(one_line(&note)),
            News::Event(socket, event) => self.event(&socket, &event),
        }
    }

    fn event(&mut self, socket: &Path, event: &Value) {
        let data = &event["data"];
        let word = |name: &str| one_line(data[name].as_str().unwrap_or_default());
        match event["kind"].as_str().unwrap_or_default() {
            "call.started" => {
                let (id, client, tool) = (word("call"), word("client"), word("tool"));
                let state = CallState::Running(Instant::now());
                self.calls.push_back(CallRow { id, project: self.project(socket), client, tool, state });
                if self.calls.len() > MOST_CALLS {
                    self.calls.pop_front();
                }
            }
            "call.ended" => {
                let (id, ok) = (word("call"), data["ok"] == true);
                let took_ms = data["took_ms"].as_f64().unwrap_or_default().round() as u64;
                if let Some(call) = self.calls.iter_mut().rev().find(|call| call.id == id) {
                    call.state = CallState::Done { ok, took_ms };
                }
                if !ok {
                    self.error(format!("{}: {}", word("tool"), word("message")));
                }
            }
            "server.changed" => {
                if let Some(error) = data["status"]["error"].as_str() {
                    self.error(format!("server {}: {}", word("name"), one_line(error)));
                }
            }
            "question.settled" => {
                let id = word("id");
                self.questions.retain(|asked| asked.id() != id);
            }
            _ => {}
        }
    }

    fn error(&mut self, text: String) {
        if self.errors.back() != Some(&text) {
            self.errors.push_back(text);
        }
        if self.errors.len() > MOST_ERRORS {
            self.errors.pop_front();
        }
    }

    /// The last part of the name of a Tectum's project.
    fn project(&self, socket: &Path) -> String {
        let house = self.houses.iter().find(|(known, _)| known == socket).and_then(|(_, said)| said.as_ref());
        let project = house.and_then(|said| said["project"].as_str()).unwrap_or_default();
        one_line(project.rsplit('/').next().unwrap_or_default())
    }

    /// Chooses the oldest question where none is chosen, or the chosen one is settled.
    pub(super) fn tick(&mut self) {
        let there = |id: &str| self.questions.iter().any(|asked| asked.id() == id);
        if self.chosen.as_ref().is_none_or(|(id, _)| !there(id)) {
            self.scrolled = 0;
            self.chosen = self.questions.first().map(|asked| (asked.id().to_owned(), Instant::now()));
        }
    }

    /// The place of the chosen question.
    pub(super) fn place(&self) -> Option<usize> {
        let (id, _) = self.chosen.as_ref()?;
        self.questions.iter().position(|asked| asked.id() == id)
    }

    /// The chosen question.
    pub(super) fn current(&self) -> Option<&AskedHere> {
        self.questions.get(self.place()?)
    }

    /// The chosen question, the first time that its details are on the screen.
    pub(super) fn first_seen(&mut self) -> Option<AskedHere> {
        let asked = self.current()?.clone();
        self.seen.insert(asked.id().to_owned()).then_some(asked)
    }

    /// Goes to another question. One that a person chose can be answered at once.
    pub(super) fn choose(&mut self, by: isize) {
        let Some(place) = self.place() else { return };
        let last = self.questions.len().saturating_sub(1);
        let place = place.saturating_add_signed(by).min(last);
        let long_ago = Instant::now().checked_sub(SETTLE).unwrap_or_else(Instant::now);
        self.chosen = self.questions.get(place).map(|asked| (asked.id().to_owned(), long_ago));
        self.scrolled = 0;
    }

    /// Moves the details.
    pub(super) fn scroll(&mut self, by: isize) {
        self.scrolled = self.scrolled.saturating_add_signed(by);
    }

    /// Takes the chosen question off the screen to answer it.
    pub(super) fn answered(&mut self, reply: Reply) -> Option<AskedHere> {
        let (_, since) = self.chosen.as_ref()?;
        if since.elapsed() < SETTLE {
            self.note = Some("this question has just appeared: press the key again".into());
            return None;
        }
        let place = self.place()?;
        let is_call = self.questions[place].said["kind"] == "call";
        if !is_call && matches!(reply, Reply::ApproveSession | Reply::ApproveProject) {
            self.note = Some("only a yes to a call can be remembered: press a or d".into());
            return None;
        }
        let asked = self.questions.remove(place);
        self.gone.insert(asked.id().to_owned());
        Some(asked)
    }

    /// The servers of all Tectums: project, name, state.
    pub(super) fn servers(&self) -> Vec<(String, String, String)> {
        let mut all = Vec::new();
        for (socket, said) in &self.houses {
            let servers = said.as_ref().and_then(|said| said["servers"].as_object());
            for (name, state) in servers.into_iter().flatten() {
                let state = one_line(state.as_str().unwrap_or_default());
                all.push((self.project(socket), one_line(name), state));
            }
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn asked(id: &str, kind: &str) -> AskedHere {
        AskedHere { socket: "/s".into(), project: "/p".into(), said: json!({ "id": id, "kind": kind }) }
    }

    #[test]
    fn the_question_that_a_person_sees_is_the_one_that_is_answered() {
        let mut view = View::default();
        view.hear(News::Questions(vec![asked("q1", "call"), asked("q2", "step")]));
        view.tick();
        assert_eq!(view.first_seen().expect("chosen").id(), "q1");
        assert!(view.first_seen().is_none(), "its clock starts once");
        assert!(view.answered(Reply::Approve).is_none(), "it appeared under the finger");
        view.choose(1);
        assert_eq!(view.current().map(AskedHere::id), Some("q2"));
        assert!(view.answered(Reply::ApproveProject).is_none(), "this one is no call");
        assert_eq!(view.answered(Reply::Deny).expect("answered").id(), "q2");
        view.hear(News::Questions(vec![asked("q1", "call"), asked("q2", "step")]));
        assert_eq!(view.questions.len(), 1, "a list that was under way does not bring it back");
        let settled = json!({ "kind": "question.settled", "data": { "id": "q1" } });
        view.hear(News::Event("/s".into(), settled));
        view.tick();
        assert!(view.current().is_none() && view.answered(Reply::Approve).is_none());
    }

    #[test]
    fn calls_and_errors_are_followed_and_bounded() {
        let mut view = View::default();
        for number in 0..MOST_CALLS + 5 {
            let id = format!("c{number}");
            let event = |kind: &str, more: Value| {
                let mut data = json!({ "call": id, "tool": "read_file", "client": "agent" });
                more.as_object()
                    .expect("members")
                    .iter()
                    .for_each(|(name, value)| data[name] = value.clone());
                News::Event("/s".into(), json!({ "kind": kind, "data": data }))
            };
            view.hear(event("call.started", json!({})));
            view.hear(event("call.ended", json!({ "ok": false, "message": id, "took_ms": 1.6 })));
        }
        assert_eq!((view.calls.len(), view.errors.len()), (MOST_CALLS, MOST_ERRORS));
        assert!(matches!(view.calls[0].state, CallState::Done { ok: false, took_ms: 2 }));
    }
}

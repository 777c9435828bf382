//! Questions of a server's that wait for their answers, and how each of them ends: it is
//! answered, taken back, or nobody is there any more who could answer.

use std::collections::HashMap;

use serde_json::value::RawValue;
use tokio_util::sync::CancellationToken;

/// Questions one connection may have open; a server that asks more is refused.
const MOST_OPEN: usize = 1024;

/// The error for questions beyond the bound.
pub(crate) const TOO_MANY: &str = r#"{"code":-32603,"message":"too many questions at once"}"#;
/// The error for a question where nobody can be asked.
pub(crate) const NOBODY: &str = r#"{"code":-32601,"message":"nobody can be asked here"}"#;

/// A question of the server's.
#[derive(Debug)]
pub(crate) struct Question {
    /// The server's id, as it was written.
    pub(crate) id: String,
    /// Its method.
    pub(crate) method: String,
    /// Its parameters as they were written.
    pub(crate) params: Box<RawValue>,
    /// Cancelled when the server does not wait for the answer any more.
    pub(crate) over: CancellationToken,
    /// True when it came on the stream of a request, and so belongs to it for certain. One that
    /// came on what all requests share may outlive the request it was put to.
    pub(crate) certain: bool,
}

impl Question {
    /// The room that it takes while it waits.
    pub(super) fn size(&self) -> usize {
        size_of::<Self>() + self.id.len() + self.method.len() + self.params.get().len()
    }
}

/// The open ones of a connection, by their ids.
#[derive(Debug, Default)]
pub(super) struct Questions(HashMap<String, Open>);

#[derive(Debug)]
struct Open {
    over: CancellationToken,
    /// The request of ours that it was put to.
    request: Option<u64>,
    certain: bool,
}

impl Questions {
    /// Remembers a question; false when there are too many.
    pub(super) fn add(&mut self, question: &Question, request: Option<u64>) -> bool {
        if self.0.len() >= MOST_OPEN {
            return false;
        }
        let open = Open { over: question.over.clone(), request, certain: question.certain };
        // An id that is used twice at once has one answer: that to the later question.
        if let Some(before) = self.0.insert(question.id.clone(), open) {
            before.over.cancel();
        }
        true
    }

    /// Strikes out a question that is about to be answered; false when nobody waits for it.
    pub(super) fn settle(&mut self, id: &str) -> bool {
        self.0.remove(id).is_some()
    }

    /// Ends a question, and tells which request it was put to, if that has no other one open.
    pub(super) fn withdraw(&mut self, id: &str) -> Option<u64> {
        let open = self.0.remove(id)?;
        open.over.cancel();
        let request = open.request?;
        let more = self.0.values().any(|other| other.request == Some(request));
        (!more).then_some(request)
    }

    /// A request was answered: what was asked for it for certain has ended with it.
    pub(super) fn answered(&mut self, request: u64) {
        self.end(request, |open| open.certain);
        for open in self.0.values_mut().filter(|open| open.request == Some(request)) {
            open.request = None;
        }
    }

    /// A request came to nothing: everything that was put to it has ended with it.
    pub(super) fn failed(&mut self, request: u64) {
        self.end(request, |_| true);
    }

    /// The connection ended.
    pub(super) fn clear(&mut self) {
        self.0.drain().for_each(|(_, open)| open.over.cancel());
    }

    fn end(&mut self, request: u64, which: impl Fn(&Open) -> bool) {
        self.0.retain(|_, open| {
            let ends = open.request == Some(request) && which(open);
            if ends {
                open.over.cancel();
            }
            !ends
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question(id: &str, certain: bool) -> Question {
        let params = RawValue::from_string("{}".into()).expect("JSON");
        Question { id: id.into(), method: "m".into(), params, over: CancellationToken::new(), certain }
    }

    #[test]
    fn each_ends_once_and_with_what_it_belongs_to() {
        let mut open = Questions::default();
        let all = [("a", true), ("b", false), ("c", true), ("d", false)].map(|(id, sure)| question(id, sure));
        for (asked, request) in all.iter().zip([1, 1, 2, 2]) {
            assert!(open.add(asked, Some(request)));
        }
        let over = |all: &[Question]| all.iter().map(|one| one.over.is_cancelled()).collect::<Vec<_>>();
        assert_eq!(open.withdraw("none"), None);
        open.answered(1);
        assert_eq!(over(&all), [true, false, false, false], "a guess may outlive its request");
        assert!(!open.settle("a") && open.settle("b") && !open.settle("b"));
        assert_eq!(open.withdraw("c"), None, "another is open");
        assert_eq!(open.withdraw("d"), Some(2));
        assert_eq!(over(&all), [true, false, true, true]);
    }

    #[test]
    fn a_failure_ends_guesses_too_and_there_is_a_bound() {
        let mut open = Questions::default();
        let first = question("first", false);
        assert!(open.add(&first, Some(7)));
        for number in 1..MOST_OPEN {
            assert!(open.add(&question(&number.to_string(), true), None));
        }
        assert!(!open.add(&question("one too many", true), None));
        open.failed(7);
        assert!(first.over.is_cancelled());
        assert!(open.add(&question("there is room again", true), None));
        open.clear();
        assert!(!open.settle("1"));
    }
}

//! What passed through a relay, as far as another house would have to know it: the handshake and what is
//! subscribed to, the requests that have no answer yet, the questions that the client has not answered.

use std::collections::BTreeSet;

use memchr::{memchr, memmem};

use super::taken_over::{LostCall, TakenOver};
use crate::wire::{
    MAX_MESSAGE, Opened,
    rpc::{self, is_id},
};

/// The bytes of an answer that its id stands in.
const HEAD: usize = 1024;
/// The largest message that is kept to be repeated.
const MOST_REPEATED: usize = 64 * 1024;
/// The most messages that a new house is told; a client subscribes to fewer resources.
const MOST_KNOWN: usize = 2048;
/// The most requests without an answer that are remembered; a house refuses more than half of them.
const MOST_OPEN: usize = 2048;
/// The word in a request that only those of the newer era have.
const MODERN: &[u8] = b"io.modelcontextprotocol/protocolVersion";

/// What is known of the messages that passed.
#[derive(Debug, Default)]
pub(super) struct Passed {
    /// The line that the client has not ended.
    unended: Vec<u8>,
    /// Set while that line is too long for any house.
    endless: bool,
    /// The beginning of the line that the house has not ended.
    head: Vec<u8>,
    open: Vec<OpenRequest>,
    /// Answered messages under what each of them settles.
    known: Vec<(String, Vec<u8>)>,
    questions: BTreeSet<u64>,
    last_question: u64,
}

#[derive(Debug)]
struct OpenRequest {
    id: String,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    /// It may have changed something.
    Call { modern: bool },
    /// Asking again does no harm. With what it settles, if it does.
    Repeatable { line: Vec<u8>, settles: Option<Settles> },
    /// Too large to be kept.
    Large,
}

#[derive(Debug)]
enum Settles {
    /// The message holds until another one under this name.
    Set(String),
    /// What is under this name holds no longer.
    Unset(String),
}

impl Passed {
    /// With a client that another house left behind. What it is told, and what is sent again, passes later.
    pub(super) fn after(known: Vec<(String, Vec<u8>)>, last_question: u64) -> Self {
        Self { known, last_question, ..Self::default() }
    }

    /// Bytes of the client that were passed on.
    pub(super) fn by_client(&mut self, mut bytes: &[u8]) {
        while let Some(end) = memchr(b'\n', bytes) {
            let (line, rest) = bytes.split_at(end);
            if self.unended.is_empty() && !self.endless {
                self.client_line(line);
            } else {
                self.keep(line);
                let line = std::mem::take(&mut self.unended);
                if !std::mem::take(&mut self.endless) {
                    self.client_line(&line);
                }
            }
            bytes = &rest[1..];
        }
        self.keep(bytes);
    }

    fn keep(&mut self, bytes: &[u8]) {
        if self.unended.len() + bytes.len() > MAX_MESSAGE {
            (self.unended, self.endless) = (Vec::new(), true);
        }
        if !self.endless {
            self.unended.extend_from_slice(bytes);
        }
    }

    fn client_line(&mut self, line: &[u8]) {
        match rpc::open(line) {
            Ok(Opened::Request { id, method, params }) => {
                let kind = kind(&method, params, line);
                if self.open.len() < MOST_OPEN {
                    self.open.push(OpenRequest { id: id.to_owned(), kind });
                }
            }
            Ok(Opened::Notification { method, params }) => match &*method {
                "notifications/initialized" => self.settle(Settles::Set(method.into_owned()), line),
                // Nothing comes back for it.
                "notifications/cancelled" => {
                    let id = parameter(params, "requestId");
                    self.open.retain(|open| Some(&open.id) != id.as_ref());
                }
                _ => {}
            },
            Ok(Opened::Response(response)) => {
                if let Some(id) = response.id.and_then(|id| id.parse().ok()) {
                    self.questions.remove(&id);
                }
            }
            // The house answers what it can make out of it.
            Err(_) => {}
        }
    }

    /// Bytes of the house that were passed on.
    pub(super) fn by_house(&mut self, mut bytes: &[u8]) {
        while let Some(end) = memchr(b'\n', bytes) {
            let (line, rest) = bytes.split_at(end);
            if self.head.is_empty() {
                self.house_line(line);
            } else {
                self.keep_head(line);
                let head = std::mem::take(&mut self.head);
                self.house_line(&head);
            }
            bytes = &rest[1..];
        }
        self.keep_head(bytes);
    }

    fn keep_head(&mut self, bytes: &[u8]) {
        let room = HEAD.saturating_sub(self.head.len());
        self.head.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }

    fn house_line(&mut self, line: &[u8]) {
        match house_id(line) {
            Some((id, true)) => {
                if let Ok(id) = id.parse() {
                    self.questions.insert(id);
                    self.last_question = self.last_question.max(id);
                }
            }
            Some((id, false)) => {
                if let Some(at) = self.open.iter().position(|open| open.id == id)
                    && let Kind::Repeatable { line, settles: Some(settles) } = self.open.remove(at).kind
                {
                    self.settle(settles, &line);
                }
            }
            None => {}
        }
    }

    fn settle(&mut self, settles: Settles, line: &[u8]) {
        match settles {
            Settles::Unset(name) => self.known.retain(|(known, _)| *known != name),
            Settles::Set(name) => {
                let room = self.known.len() < MOST_KNOWN;
                if let Some((_, held)) = self.known.iter_mut().find(|(known, _)| *known == name) {
                    *held = line.to_vec();
                } else if room {
                    self.known.push((name, line.to_vec()));
                }
            }
        }
    }

    /// The house ended.
    pub(super) fn carried(self) -> TakenOver {
        let mut carried = TakenOver {
            known: self.known,
            questions: self.questions.into_iter().collect(),
            last_question: self.last_question,
            ..TakenOver::default()
        };
        for OpenRequest { id, kind } in self.open {
            match kind {
                Kind::Call { modern } => carried.lost.push(LostCall { id, modern }),
                Kind::Large => carried.lost.push(LostCall { id, modern: false }),
                Kind::Repeatable { line, .. } => {
                    carried.input.extend_from_slice(&line);
                    carried.input.push(b'\n');
                }
            }
        }
        carried.input.extend_from_slice(&self.unended);
        carried
    }
}

fn kind(method: &str, params: &str, line: &[u8]) -> Kind {
    if method == "tools/call" {
        // A quotation mark inside of a text would be escaped, so this is a name.
        return Kind::Call { modern: memmem::find(params.as_bytes(), MODERN).is_some() };
    }
    if line.len() > MOST_REPEATED {
        return Kind::Large;
    }
    let resource = || format!("resource {}", parameter(params, "uri").unwrap_or_default());
    let settles = match method {
        "initialize" | "logging/setLevel" => Some(Settles::Set(method.to_owned())),
        "resources/subscribe" => Some(Settles::Set(resource())),
        "resources/unsubscribe" => Some(Settles::Unset(resource())),
        _ => None,
    };
    Kind::Repeatable { line: line.to_vec(), settles }
}

/// A member of the parameters, as it was written.
fn parameter(params: &str, name: &str) -> Option<String> {
    crate::wire::Members::of(params)?.get(name).map(|value| value.get().to_owned())
}

/// The id of a message of a house, which writes it first, whatever follows; and whether it is a question.
pub(super) fn house_id(line: &[u8]) -> Option<(&str, bool)> {
    let rest = line[..line.len().min(HEAD)].strip_prefix(br#"{"jsonrpc":"2.0","id":"#)?;
    let (id, rest) = first_id(rest)?;
    Some((id, rest.starts_with(br#","method""#)))
}

/// The id of a request of a client.
pub(super) fn request_id(line: &[u8]) -> Option<String> {
    match rpc::open(line) {
        Ok(Opened::Request { id, .. }) => Some(id.to_owned()),
        _ => None,
    }
}

/// The id that these bytes begin with, and what follows it.
fn first_id(bytes: &[u8]) -> Option<(&str, &[u8])> {
    let mut ids = serde_json::Deserializer::from_slice(bytes).into_iter::<&serde_json::value::RawValue>();
    let id = ids.next()?.ok()?.get();
    is_id(id).then(|| (id, &bytes[id.len()..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(carried: &TakenOver) -> (Vec<&str>, Vec<&str>, &str) {
        let known = carried.known.iter().map(|(_, line)| std::str::from_utf8(line).expect("UTF-8"));
        let lost = carried.lost.iter().map(|lost| lost.id.as_str());
        (known.collect(), lost.collect(), std::str::from_utf8(&carried.input).expect("UTF-8"))
    }

    const HELLO: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}"#;
    const THERE: &str = r#"{"method":"notifications/initialized","jsonrpc":"2.0"}"#;

    fn call(id: &str) -> String {
        format!(
            r#"{{"method":"tools/call","params":{{"name":"x","arguments":{{"id":9}}}},"jsonrpc":"2.0","id":{id}}}"#
        )
    }

    fn other(id: u64, method: &str, params: &str) -> String {
        format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#)
    }

    fn answer(id: &str) -> String {
        format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"id":77}}}}"#)
    }

    /// However the bytes are cut, the same is known.
    fn check(passing: &[(bool, String)], expect: impl Fn(TakenOver)) {
        for size in [1, 7, 100_000] {
            let mut passed = Passed::default();
            for (by_client, line) in passing {
                for piece in format!("{line}\n").as_bytes().chunks(size) {
                    if *by_client { passed.by_client(piece) } else { passed.by_house(piece) }
                }
            }
            expect(passed.carried());
        }
    }

    #[test]
    fn the_handshake_is_known_and_what_has_no_answer_is_lost_or_repeated() {
        let list = other(3, "tools/list", "{}");
        let passing = [
            (true, HELLO.to_owned()),
            (false, answer("0")),
            (true, THERE.to_owned()),
            (true, call("1")),
            (true, call("\"a\\\"b\"")),
            (true, list.clone()),
            (true, call("4")),
            (false, r#"{"jsonrpc":"2.0","method":"notifications/x","params":{"id":1}}"#.to_owned()),
            (false, answer("4")),
        ];
        check(&passing, |carried| {
            let (known, lost, input) = text(&carried);
            assert_eq!((known, lost), (vec![HELLO, THERE], vec!["1", "\"a\\\"b\""]));
            assert_eq!(input, format!("{list}\n"));
        });
    }

    #[test]
    fn a_handshake_without_an_answer_is_made_again() {
        check(&[(true, HELLO.to_owned())], |carried| {
            assert_eq!(text(&carried), (vec![], vec![], &*format!("{HELLO}\n")));
        });
    }

    #[test]
    fn what_was_taken_back_is_not_waited_for() {
        let cancel = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":5}}"#;
        check(&[(true, call("5")), (true, cancel.to_owned())], |carried| {
            assert_eq!(text(&carried), (vec![], vec![], ""));
        });
    }

    #[test]
    fn subscriptions_and_the_level_of_logs_hold_as_they_were_left() {
        let (a, b) = (r#"{"uri":"file:///a"}"#, r#"{"uri":"file:///b"}"#);
        let (on_a, on_b) = (other(1, "resources/subscribe", a), other(2, "resources/subscribe", b));
        let (low, high) =
            (other(3, "logging/setLevel", r#"{"level":"info"}"#), other(4, "logging/setLevel", "{}"));
        let mut passing: Vec<(bool, String)> = Vec::new();
        for line in [&on_a, &on_b, &low, &high, &other(5, "resources/unsubscribe", a)] {
            passing.push((true, line.clone()));
        }
        passing.extend((1..=5).map(|id| (false, answer(&id.to_string()))));
        check(&passing, |carried| {
            let (known, lost, input) = text(&carried);
            assert_eq!((known, lost, input), (vec![&*on_b, &*high], vec![], ""));
        });
    }

    #[test]
    fn questions_of_the_house_are_counted_and_taken_back() {
        let ask = |id: u64| (false, other(id, "elicitation/create", "{}"));
        let passing = [ask(3), ask(4), (true, answer("3"))];
        check(&passing, |carried| {
            assert_eq!((carried.questions, carried.last_question), (vec![4], 4));
        });
    }

    #[test]
    fn eras_are_told_apart_and_a_line_that_has_not_ended_is_kept() {
        let meta = r#"{"name":"x","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}"#;
        let mut passed = Passed::default();
        passed.by_client(format!("{}\n{}", other(1, "tools/call", meta), r#"{"jsonrpc":"#).as_bytes());
        let carried = passed.carried();
        assert_eq!(carried.lost, [LostCall { id: "1".into(), modern: true }]);
        assert_eq!(carried.input, br#"{"jsonrpc":"#);
    }

    #[test]
    fn a_line_without_an_end_takes_no_memory() {
        let mut passed = Passed::default();
        for _ in 0..=(MAX_MESSAGE / 65_536) {
            passed.by_client(&[b'x'; 65_536]);
            passed.by_house(&[b'x'; 65_536]);
        }
        assert!(passed.unended.is_empty() && passed.head.len() == HEAD);
        passed.by_client(b"\n");
        passed.by_client(call("1").as_bytes());
        passed.by_client(b"\n");
        assert_eq!(passed.open.len(), 1, "the next line counts again");
    }
}

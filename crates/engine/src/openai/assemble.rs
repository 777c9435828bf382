//! An answer put together from the pieces of a stream.

use serde::Deserialize;
use serde_json::Value;

use super::{
    events::Events,
    fault::message,
    wire::{self, MOST_CALLS},
};
use crate::{Answer, Finish, ToolCall, Usage};

/// The last event of a stream.
const DONE: &str = "[DONE]";

/// The parts of an answer so far.
#[derive(Debug, Default)]
pub(super) struct Assembly {
    text: String,
    calls: Vec<Piece>,
    usage: Usage,
    finish: Option<Finish>,
}

/// A call that is still being written.
#[derive(Debug)]
struct Piece {
    index: Option<usize>,
    call: ToolCall,
}

#[derive(Deserialize)]
struct Chunk {
    #[serde(default)]
    choices: Vec<StreamedChoice>,
    usage: Option<wire::Cost>,
}

#[derive(Deserialize)]
struct StreamedChoice {
    delta: Option<Delta>,
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct Delta {
    #[serde(default)]
    content: Value,
    tool_calls: Option<Vec<CallDelta>>,
}

#[derive(Deserialize)]
struct CallDelta {
    index: Option<usize>,
    id: Option<String>,
    function: Option<wire::Function>,
}

/// The answer of a stream that was read to its end.
pub(super) fn all(body: &[u8]) -> Result<Answer, String> {
    let mut assembly = Assembly::default();
    let mut events = Events::new(usize::MAX);
    // The last event may lack the line that ends it.
    for event in events.feed(body)?.into_iter().chain(events.feed(b"\n\n")?) {
        if assembly.take(&event, &mut |_| ())? {
            break;
        }
    }
    Ok(assembly.answer())
}

impl Assembly {
    /// Takes the data of one event. True when it was the last.
    pub(super) fn take(&mut self, event: &str, said: &mut (dyn FnMut(&str) + Send)) -> Result<bool, String> {
        if event.trim() == DONE {
            return Ok(true);
        }
        let value: Value = serde_json::from_str(event).map_err(|error| error.to_string())?;
        if let Some(message) = message(&value) {
            return Err(format!("it failed in the middle: {message}"));
        }
        let chunk = Chunk::deserialize(value).map_err(|error| error.to_string())?;
        self.usage = chunk.usage.map_or(self.usage, Usage::from);
        // We ask for one choice; whatever else comes is not ours.
        let Some(choice) = chunk.choices.into_iter().next() else { return Ok(false) };
        if let Some(delta) = choice.delta {
            let text = wire::text(&delta.content);
            if !text.is_empty() {
                self.text.push_str(&text);
                said(&text);
            }
            for call in delta.tool_calls.unwrap_or_default() {
                self.add(call)?;
            }
        }
        self.finish = choice.finish_reason.as_deref().map(wire::finish).or(self.finish);
        Ok(false)
    }

    /// A piece belongs to the call of its index; without one, an id begins a call.
    fn add(&mut self, delta: CallDelta) -> Result<(), String> {
        let id = delta.id.filter(|id| !id.is_empty());
        let at = match (delta.index, &id) {
            (Some(index), _) => self.calls.iter().position(|piece| piece.index == Some(index)),
            (None, Some(id)) => self.calls.iter().position(|piece| piece.call.id == *id),
            (None, None) => self.calls.len().checked_sub(1),
        };
        let at = match at {
            Some(at) => at,
            None if self.calls.len() >= MOST_CALLS => {
                return Err(format!("it makes more than {MOST_CALLS} calls at once"));
            }
            None => {
                self.calls.push(Piece { index: delta.index, call: ToolCall::new("", "", "") });
                self.calls.len() - 1
            }
        };
        let call = &mut self.calls[at].call;
        if let Some(id) = id {
            call.id = id;
        }
        if let Some(function) = delta.function {
            // Names come whole, some servers repeat them with every piece.
            if let Some(name) = function.name.filter(|name| !name.is_empty()) {
                call.name = name;
            }
            call.arguments.push_str(&wire::arguments(&function.arguments));
        }
        Ok(())
    }

    /// True if the answer had its last piece.
    pub(super) fn is_complete(&self) -> bool {
        self.finish.is_some()
    }

    /// The whole answer.
    pub(super) fn answer(self) -> Answer {
        let mut calls = self.calls;
        calls.sort_by_key(|piece| piece.index);
        Answer {
            text: self.text,
            calls: calls.into_iter().map(|piece| piece.call).collect(),
            usage: self.usage,
            finish: self.finish.unwrap_or_default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assembled(events: &[&str]) -> Result<(Answer, String), String> {
        let (mut assembly, mut heard) = (Assembly::default(), String::new());
        for event in events {
            assembly.take(event, &mut |text| heard.push_str(text))?;
        }
        Ok((assembly.answer(), heard))
    }

    fn calls(pieces: &[&str]) -> Vec<(String, String, String)> {
        let event = |piece: &&str| format!(r#"{{"choices":[{{"delta":{{"tool_calls":[{piece}]}}}}]}}"#);
        let events: Vec<String> = pieces.iter().map(event).collect();
        let (answer, _) = assembled(&events.iter().map(String::as_str).collect::<Vec<_>>()).expect("calls");
        answer.calls.into_iter().map(|call| (call.id, call.name, call.arguments)).collect()
    }

    fn owned(id: &str, name: &str, arguments: &str) -> (String, String, String) {
        (id.into(), name.into(), arguments.into())
    }

    #[test]
    fn text_comes_piece_by_piece_and_costs_at_the_end() {
        let (answer, heard) = assembled(&[
            r#"{"choices":[{"delta":{"role":"assistant","content":""}}]}"#,
            r#"{"choices":[{"delta":{"content":"Hel"}}]}"#,
            r#"{"choices":[{"delta":{"content":"lo"},"finish_reason":"length"}]}"#,
            r#"{"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":2}}"#,
            "[DONE]",
        ])
        .expect("an answer");
        assert_eq!((answer.text.as_str(), heard.as_str(), answer.finish), ("Hello", "Hello", Finish::Length));
        assert_eq!(answer.usage, Usage { prompt: 7, completion: 2 });
    }

    #[test]
    fn calls_are_put_together_by_their_index() {
        let found = calls(&[
            r#"{"index":1,"id":"b","function":{"name":"two","arguments":"{\"x\""}}"#,
            r#"{"index":0,"id":"a","function":{"name":"one","arguments":""}}"#,
            r#"{"index":1,"function":{"arguments":":1}"}}"#,
            r#"{"index":0,"function":{"arguments":"{}"}}"#,
        ]);
        assert_eq!(found, [owned("a", "one", "{}"), owned("b", "two", "{\"x\":1}")]);
    }

    #[test]
    fn servers_without_an_index_are_understood() {
        let found = calls(&[
            r#"{"id":"a","function":{"name":"one","arguments":"{"}}"#,
            r#"{"function":{"arguments":"}"}}"#,
            r#"{"id":"b","function":{"name":"two","arguments":{"whole":true}}}"#,
        ]);
        assert_eq!(found, [owned("a", "one", "{}"), owned("b", "two", "{\"whole\":true}")]);
    }

    #[test]
    fn a_stream_may_come_in_one_piece() {
        let body = b"data: {\"choices\":[{\"delta\":{\"content\":\"all\"}}],\"error\":null}\n\ndata: [DONE]";
        assert_eq!(all(body), Ok(Answer::text("all")));
    }

    #[test]
    fn what_is_no_answer_is_said() {
        for (event, expect) in [
            (r#"{"error":{"message":"overloaded"}}"#, "overloaded"),
            ("nonsense", "expected"),
            (r#"{"choices":7}"#, "invalid type"),
        ] {
            let why = assembled(&[event]).expect_err("refused");
            assert!(why.contains(expect), "{why}");
        }
        let many: Vec<String> = (0..=MOST_CALLS)
            .map(|i| format!(r#"{{"choices":[{{"delta":{{"tool_calls":[{{"index":{i}}}]}}}}]}}"#))
            .collect();
        assert!(assembled(&many.iter().map(String::as_str).collect::<Vec<_>>()).is_err());
    }
}

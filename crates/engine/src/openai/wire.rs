//! The words of the API: a prompt as a request, and a whole answer read.

use serde::Deserialize;
use serde_json::{Value, json};

use super::fault::message;
use crate::{Answer, Finish, Message, Offer, Prompt, Role, ToolCall, Usage};

/// Calls of one answer; a server that sends more is broken.
pub(super) const MOST_CALLS: usize = 128;

/// The longest name of a function.
const MOST_NAME: usize = 64;

/// A request's body.
pub(super) fn request(prompt: &Prompt<'_>, model: &str, streams: bool) -> String {
    // An empty prompt of a tier says nothing, and some servers refuse it.
    let messages = prompt.messages.iter();
    let spoken = messages.filter(|one| one.role != Role::System || !one.content.is_empty());
    let mut body = json!({
        "model": prompt.model.unwrap_or(model),
        "messages": spoken.map(|one| said(one)).collect::<Vec<_>>(),
        "stream": streams,
    });
    if streams {
        body["stream_options"] = json!({ "include_usage": true });
    }
    if !prompt.tools.is_empty() {
        body["tools"] = prompt.tools.iter().map(tool).collect();
        if !prompt.may_call {
            body["tool_choice"] = "none".into();
        }
    }
    body.to_string()
}

fn said(message: &Message) -> Value {
    match message.role {
        Role::System => json!({ "role": "system", "content": message.content }),
        Role::User => json!({ "role": "user", "content": message.content }),
        Role::Tool => {
            json!({ "role": "tool", "tool_call_id": message.tool_call_id, "content": message.content })
        }
        Role::Assistant if message.tool_calls.is_empty() => {
            json!({ "role": "assistant", "content": message.content })
        }
        Role::Assistant => {
            let content = Some(&message.content).filter(|text| !text.is_empty());
            let calls: Vec<Value> = message.tool_calls.iter().map(call).collect();
            json!({ "role": "assistant", "content": content, "tool_calls": calls })
        }
    }
}

/// Many servers parse the arguments of earlier calls and fail on what is no object. The result of
/// such a call says what was wrong with it.
fn call(call: &ToolCall) -> Value {
    let whole = serde_json::from_str::<serde_json::Map<String, Value>>(&call.arguments).is_ok();
    let arguments = if whole { call.arguments.as_str() } else { "{}" };
    let name = legal(&call.name);
    json!({ "id": call.id, "type": "function", "function": { "name": name, "arguments": arguments } })
}

/// A name that servers take. One that a model made up would make them refuse everything after it.
fn legal(name: &str) -> String {
    let legal = |c: char| if c.is_ascii_alphanumeric() || c == '-' || c == '_' { c } else { '_' };
    if name.is_empty() { "unknown".to_owned() } else { name.chars().map(legal).take(MOST_NAME).collect() }
}

fn tool(offer: &Offer) -> Value {
    json!({ "type": "function", "function": {
        "name": &*offer.name, "description": offer.description, "parameters": &*offer.schema,
    } })
}

/// Reads an answer that came in one piece.
pub(super) fn whole(body: &[u8]) -> Result<Answer, String> {
    #[derive(Deserialize)]
    struct Whole {
        choices: Vec<WholeChoice>,
        usage: Option<Cost>,
    }
    #[derive(Deserialize)]
    struct WholeChoice {
        message: Said,
        finish_reason: Option<String>,
    }
    #[derive(Deserialize)]
    struct Said {
        #[serde(default)]
        content: Value,
        tool_calls: Option<Vec<Made>>,
    }
    #[derive(Deserialize)]
    struct Made {
        id: Option<String>,
        function: Function,
    }
    let value: Value = serde_json::from_slice(body).map_err(|error| error.to_string())?;
    if let Some(message) = message(&value) {
        return Err(format!("it failed: {message}"));
    }
    let whole = Whole::deserialize(value).map_err(|error| error.to_string())?;
    let choice = whole.choices.into_iter().next().ok_or("it has no choices")?;
    let made = choice.message.tool_calls.unwrap_or_default();
    if made.len() > MOST_CALLS {
        return Err(format!("it makes more than {MOST_CALLS} calls at once"));
    }
    let call = |made: Made| {
        let Function { name, arguments: given } = made.function;
        ToolCall::new(made.id.unwrap_or_default(), name.unwrap_or_default(), arguments(&given))
    };
    Ok(Answer {
        text: text(&choice.message.content),
        calls: made.into_iter().map(call).collect(),
        usage: whole.usage.map(Usage::from).unwrap_or_default(),
        finish: choice.finish_reason.as_deref().map(finish).unwrap_or_default(),
    })
}

/// A function that is called, or a piece of it.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Function {
    pub(super) name: Option<String>,
    #[serde(default)]
    pub(super) arguments: Value,
}

/// The cost of an answer.
#[derive(Debug, Deserialize)]
pub(super) struct Cost {
    prompt_tokens: Option<u64>,
    completion_tokens: Option<u64>,
}

impl From<Cost> for Usage {
    fn from(cost: Cost) -> Self {
        Self {
            prompt: cost.prompt_tokens.unwrap_or_default(),
            completion: cost.completion_tokens.unwrap_or_default(),
        }
    }
}

/// Text, which is a string or a list of parts.
pub(super) fn text(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect(),
        _ => String::new(),
    }
}

/// Arguments as text. They should be one; some servers send the object itself.
pub(super) fn arguments(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Why an answer ended. A word nobody knows means that it did.
pub(super) fn finish(word: &str) -> Finish {
    match word {
        "length" | "max_tokens" => Finish::Length,
        "tool_calls" | "function_call" => Finish::Calls,
        "content_filter" => Finish::Filtered,
        _ => Finish::Stop,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn a_prompt_becomes_a_request() {
        let calls = vec![ToolCall::new("1", "look", "{\"a\":1}"), ToolCall::new("2", "look", "{\"broken")];
        let messages = [
            Message::system(""),
            Message::user("hi"),
            Message::assistant("", calls.clone()),
            Message::tool(&calls[0], "r", false),
            Message::tool(&calls[1], "wrong", true),
        ];
        let offer = Offer { name: "look".into(), description: "Looks.".into(), schema: Arc::new(json!({})) };
        let mut prompt = Prompt {
            model: None,
            messages: messages.iter().collect(),
            tools: std::slice::from_ref(&offer),
            may_call: true,
        };
        let body: Value = serde_json::from_str(&request(&prompt, "m", true)).expect("JSON");
        let called = |id: &str, arguments: &str| json!({ "id": id, "type": "function", "function": { "name": "look", "arguments": arguments } });
        assert_eq!(
            body,
            json!({
                "model": "m",
                "messages": [
                    { "role": "user", "content": "hi" },
                    { "role": "assistant", "content": null, "tool_calls": [called("1", "{\"a\":1}"), called("2", "{}")] },
                    { "role": "tool", "tool_call_id": "1", "content": "r" },
                    { "role": "tool", "tool_call_id": "2", "content": "wrong" },
                ],
                "stream": true,
                "stream_options": { "include_usage": true },
                "tools": [{ "type": "function", "function": {
                    "name": "look", "description": "Looks.", "parameters": {} } }],
            })
        );
        prompt.may_call = false;
        prompt.model = Some("other");
        let body: Value = serde_json::from_str(&request(&prompt, "m", false)).expect("JSON");
        assert_eq!(
            (&body["tool_choice"], &body["model"], &body["stream"]),
            (&json!("none"), &json!("other"), &json!(false))
        );
        assert!(body.get("stream_options").is_none());
    }

    #[test]
    fn made_up_names_do_no_harm_later() {
        assert_eq!(
            (legal("functions.read file"), legal("")),
            ("functions_read_file".into(), "unknown".into())
        );
        assert_eq!(legal(&"x".repeat(100)).len(), MOST_NAME);
        assert_eq!(legal("one__echo-2"), "one__echo-2");
    }

    #[test]
    fn a_whole_answer_is_read_in_its_forms() {
        let read = |body: Value| whole(body.to_string().as_bytes());
        let answer = read(json!({
            "choices": [{ "finish_reason": "tool_calls", "message": { "content": null, "tool_calls": [
                { "id": "1", "function": { "name": "a", "arguments": "{}" } },
                { "function": { "name": "b", "arguments": { "x": 1 } } },
            ] } }],
            "usage": { "prompt_tokens": 3, "completion_tokens": 4 },
        }))
        .expect("an answer");
        assert_eq!(answer.calls, [ToolCall::new("1", "a", "{}"), ToolCall::new("", "b", "{\"x\":1}")]);
        assert_eq!((answer.usage, answer.finish), (Usage { prompt: 3, completion: 4 }, Finish::Calls));
        let parts =
            read(json!({ "choices": [{ "message": { "content": [{ "type": "text", "text": "a" }] } }] }));
        assert_eq!(parts.expect("an answer"), Answer::text("a"));
        for wrong in [json!({ "choices": [] }), json!({ "error": { "message": "no" } }), json!([])] {
            assert!(read(wrong.clone()).is_err(), "{wrong}");
        }
    }

    #[test]
    fn words_for_an_end() {
        for (word, expect) in [
            ("stop", Finish::Stop),
            ("tool_calls", Finish::Calls),
            ("length", Finish::Length),
            ("content_filter", Finish::Filtered),
            ("eos", Finish::Stop),
        ] {
            assert_eq!(finish(word), expect, "{word}");
        }
    }
}

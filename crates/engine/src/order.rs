//! From a call as a model wrote it to a call for the house. Models and their servers write many
//! things; whatever it is, it becomes a call that is recorded, and an error the model can correct.

use std::collections::HashSet;

use serde::Deserialize;
use serde_json::value::RawValue;
use tectum_core::{Call, CallId, Fault, SessionId};
use tokio_util::sync::CancellationToken;

use crate::ToolCall;

/// Characters of wrong arguments that are quoted.
const QUOTED: usize = 80;
/// The tool through which tools are called that are found and not listed.
const CALL_TOOL: &str = "call_tool";

/// A call on its way to the house, and what is wrong with it if anything is.
pub(crate) struct Order {
    pub(crate) call: Call,
    pub(crate) wrong: Option<Fault>,
}

impl Order {
    /// Arguments that are no object go to the house, too: what fails is counted and recorded there,
    /// but the model hears from us what is wrong with them.
    pub(crate) fn new(call: &ToolCall, session: &SessionId, cancel: &CancellationToken) -> Self {
        let (name, arguments) = called(call);
        let (args, wrong) = match object(&arguments) {
            Ok(args) => (args, None),
            Err(fault) => (RawValue::NULL.to_owned(), Some(fault)),
        };
        let mut call = Call::new(session.clone(), name, args);
        call.cancel = cancel.child_token();
        Self { call, wrong }
    }
}

/// The tool a call is for. Tools that are found and not listed are called through another one;
/// tiers and rules are about the tool itself.
fn called(call: &ToolCall) -> (String, String) {
    #[derive(Deserialize)]
    struct Inner {
        name: String,
        arguments: Option<Box<RawValue>>,
    }
    if call.name == CALL_TOOL
        && let Ok(Inner { name, arguments }) = serde_json::from_str(&call.arguments)
    {
        return (name, arguments.map_or_else(String::new, |arguments| arguments.get().to_owned()));
    }
    (call.name.clone(), call.arguments.clone())
}

/// Arguments as a JSON object. Some servers write nothing where there are none.
fn object(text: &str) -> Result<Box<RawValue>, Fault> {
    let text = if text.trim().is_empty() { "{}" } else { text.trim() };
    let wrong = |why: String| {
        let start: String = text.chars().take(QUOTED).collect();
        Fault::invalid(format!("the arguments are no JSON object: {why}; they begin with `{start}`"))
            .hint("make the call again with one complete JSON object")
    };
    match serde_json::from_str::<Box<RawValue>>(text) {
        Ok(args) if args.get().starts_with('{') => Ok(args),
        Ok(_) => Err(wrong("they are something else".into())),
        Err(error) => Err(wrong(error.to_string())),
    }
}

/// Gives calls names of their own where the model's server did not.
pub(crate) fn distinguish(calls: &mut [ToolCall]) {
    let mut seen = HashSet::new();
    for call in calls {
        if call.id.is_empty() || !seen.insert(call.id.clone()) {
            call.id = format!("call-{}", CallId::fresh());
            seen.insert(call.id.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(name: &str, arguments: &str) -> (String, String, Option<String>) {
        let call = ToolCall::new("1", name, arguments);
        let order = Order::new(&call, &SessionId::new("s"), &CancellationToken::new());
        let wrong = order.wrong.map(|fault| fault.message);
        (order.call.tool.to_string(), order.call.args.get().to_owned(), wrong)
    }

    #[test]
    fn arguments_are_one_object_or_the_model_hears_why_not() {
        for (text, expect) in [("", "{}"), (" \n", "{}"), ("{}", "{}"), (" {\"a\": 1} ", "{\"a\": 1}")] {
            assert_eq!(order("t", text), ("t".into(), expect.into(), None), "{text:?}");
        }
        for text in ["{\"a\": ", "[1]", "\"{}\"", "null", "{} {}", "path=a"] {
            let (_, args, wrong) = order("t", text);
            let wrong = wrong.unwrap_or_else(|| panic!("{text} was taken"));
            assert!(
                args == "null" && wrong.contains("no JSON object") && wrong.contains(text.trim()),
                "{wrong}"
            );
        }
    }

    #[test]
    fn a_tool_that_was_found_is_called_itself() {
        let inner = r#"{"name":"notes__add","arguments":{"text":"x"}}"#;
        assert_eq!(order("call_tool", inner), ("notes__add".into(), r#"{"text":"x"}"#.into(), None));
        assert_eq!(order("call_tool", r#"{"name":"n"}"#), ("n".into(), "{}".into(), None));
        assert_eq!(order("call_tool", r#"{"x":1}"#).0, "call_tool");
    }

    #[test]
    fn every_call_gets_a_name_of_its_own() {
        let mut calls: Vec<ToolCall> =
            ["", "a", "a", ""].iter().map(|id| ToolCall::new(*id, "t", "{}")).collect();
        distinguish(&mut calls);
        let ids: HashSet<&str> = calls.iter().map(|call| call.id.as_str()).collect();
        assert!(ids.len() == 4 && ids.contains("a") && !ids.contains(""), "{ids:?}");
    }
}

//! Interceptors in audit mode: a draft extension of MCP whose servers may look at a call without
//! a say in it, which is what an observer does. Interceptors that would block or change a call
//! are left alone: copies are no gate.

use std::sync::Arc;

use serde::Deserialize;

use super::{
    marks::{Marks, with_meta},
    observation::Observation,
};
use crate::{
    link::{Ask, Exchange, Link, Loss},
    peer::Offer,
    wire::{Era, Members, Object},
};

/// The name under which servers declare that they have interceptors.
const EXTENSION: &str = "io.modelcontextprotocol/interceptors";
/// The event that is copied.
const EVENT: &str = "tools/call";
/// Interceptors of one server that are told; a server that offers more is asked to choose.
const MOST: usize = 16;

/// One interceptor, and when it wants to be told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Interceptor {
    pub(super) name: String,
    before: bool,
    after: bool,
}

#[derive(Deserialize)]
struct Listed {
    interceptors: Vec<serde_json::Value>,
}

#[derive(Deserialize)]
struct Offered {
    name: String,
    #[serde(default)]
    mode: String,
    #[serde(default)]
    hooks: Vec<Hook>,
    /// An earlier form of the draft had one hook.
    hook: Option<Hook>,
}

#[derive(Deserialize)]
struct Hook {
    events: Vec<String>,
    phase: String,
}

/// True when a server declares that it has interceptors.
pub(super) fn is_declared(offer: &Offer) -> bool {
    let declared = offer.extensions.as_deref().and_then(Members::of);
    declared.is_some_and(|declared| declared.get(EXTENSION).is_some())
}

/// Asks a server which of its interceptors only look.
pub(super) async fn list(link: &Arc<Link>) -> Result<Vec<Interceptor>, Loss> {
    let params = |_| with_meta(Object::new().text("event", EVENT), link, None);
    match link.request(Ask::of("interceptors/list"), params)?.answer().await? {
        Ok(result) => Ok(auditing(result.get())),
        Err(error) => Err(Loss::Failed(format!("interceptors/list: {}", crate::link::error_parts(&error).1))),
    }
}

fn auditing(listed: &str) -> Vec<Interceptor> {
    let listed: Listed = serde_json::from_str(listed).unwrap_or(Listed { interceptors: Vec::new() });
    // One that cannot be read costs no other.
    let offered =
        listed.interceptors.into_iter().filter_map(|one| serde_json::from_value::<Offered>(one).ok());
    let told = offered.filter(|one| one.mode == "audit").map(|one| {
        let hooks = || one.hooks.iter().chain(&one.hook);
        let wants = |phase: &str| {
            let all = format!("*/{phase}");
            hooks().any(|hook| {
                let fits =
                    |event: &String| event == EVENT || event == "*" || event == "tools/*" || *event == all;
                (hook.phase == phase || hook.phase == "both") && hook.events.iter().any(fits)
            })
        };
        Interceptor { before: wants("request"), after: wants("response"), name: one.name.clone() }
    });
    told.filter(|one| one.before || one.after).take(MOST).collect()
}

/// Tells an interceptor of a copy, if it wants to know of it.
pub(super) fn tell(
    link: &Arc<Link>,
    interceptor: &Interceptor,
    copy: &Observation,
    marks: Marks<'_>,
    patience: u128,
) -> Option<Result<Exchange, Loss>> {
    if !if copy.is_after() { interceptor.after } else { interceptor.before } {
        return None;
    }
    let (phase, payload) = match copy.answer() {
        Some(answer) => ("response", answer.to_owned()),
        None => {
            let params = Object::new().text("name", &copy.tool).raw("arguments", copy.args()).end();
            ("request", Object::new().text("method", EVENT).raw("params", &params).end())
        }
    };
    let name = (link.hello().era == Era::Modern).then_some(&*interceptor.name);
    let ask = Ask { name, ..Ask::of("interceptor/invoke") };
    Some(link.request(ask, |_| {
        let mut params = Object::new();
        params
            .text("name", &interceptor.name)
            .text("event", EVENT)
            .text("phase", phase)
            .raw("payload", &payload)
            .raw("timeoutMs", &patience.to_string());
        with_meta(&mut params, link, Some((copy, marks)))
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_those_that_look_are_told_and_only_when_they_want() {
        let listed = r#"{"interceptors":[
            {"name":"blocks","type":"validation","hooks":[{"events":["*"],"phase":"request"}]},
            {"name":"log","mode":"audit","hooks":[{"events":["*"],"phase":"request"},{"events":["*"],"phase":"response"}]},
            {"name":"old","mode":"audit","hook":{"events":["tools/call"],"phase":"both"}},
            {"name":"late","mode":"audit","hook":{"events":["*/response"],"phase":"both"}},
            {"name":"other","mode":"audit","hook":{"events":["prompts/get"],"phase":"both"}},
            {"broken":true}, 3
        ]}"#;
        let told: Vec<(String, bool, bool)> =
            auditing(listed).into_iter().map(|one| (one.name, one.before, one.after)).collect();
        let expected = [("log", true, true), ("old", true, true), ("late", false, true)];
        assert_eq!(told, expected.map(|(name, before, after)| (name.to_owned(), before, after)));
        assert!(auditing("[]").is_empty());
    }
}

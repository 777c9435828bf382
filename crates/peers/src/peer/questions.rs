//! The form in which people are shown a server's question: the server that asks, before anything it
//! says, and no address that a person should not follow. It is the same in whichever way the question
//! travels.

use reqwest::Url;
use serde_json::value::RawValue;

use crate::{
    spec::ServerName,
    visible::visible,
    wire::{Members, Object, code, error_object, is_local, raw},
};

/// The longest address of a question.
const MOST_ADDRESS: usize = 8 * 1024;

/// The parameters of a question as they are passed on, or why it is refused.
pub(crate) fn shown(server: &ServerName, method: &str, params: &RawValue) -> Result<Box<RawValue>, String> {
    let (key, named): (&str, fn(&ServerName, &str) -> String) = match method {
        "elicitation/create" => ("message", |server, said| format!("[{server}] {said}")),
        "sampling/createMessage" => {
            ("systemPrompt", |server, said| format!("Asked by the MCP server `{server}`.\n\n{said}"))
        }
        _ => return Ok(params.to_owned()),
    };
    let refused = |why: String| format!("its question is refused: {why}");
    let members = Members::of(params.get()).ok_or_else(|| refused("it is no object".into()))?;
    let mut address = None;
    if method == "elicitation/create" {
        // A name that stands twice is read in one way here and in another there: each has to be right.
        for (_, url) in members.0.iter().filter(|(name, _)| name == "url") {
            let url = serde_json::from_str::<String>(url.get());
            let url = url.map_err(|_| refused("its address is no text".into()))?;
            address = Some(checked(&url).map_err(refused)?);
        }
        if address.is_none() && members.text("mode").as_deref() == Some("url") {
            return Err(refused("it has no address".into()));
        }
    }
    let said = members.text(key).unwrap_or_default();
    let mut text = named(server, &visible(&said)).trim_end().to_owned();
    if let Some(address) = address {
        text.push_str(&format!("\nIt leads to {address}"));
    }
    Ok(raw(Object::new().all(&members.keep(|name| name != key)).text(key, &text).end()))
}

/// A result or a notification whose `inputRequests` are passed on to somebody who answers them.
pub(crate) fn in_result(server: &ServerName, result: Box<RawValue>) -> Result<Box<RawValue>, String> {
    if !may_hold(result.get(), "inputRequests") {
        return Ok(result);
    }
    let Some(members) = Members::of(result.get()) else { return Ok(result) };
    let Some(requests) = members.object("inputRequests") else { return Ok(result) };
    let mut named = Object::new();
    for (key, request) in &requests.0 {
        let request = Members::of(request.get()).unwrap_or_default();
        let method = request.text("method").unwrap_or_default();
        let mut object = Object::new();
        for (name, value) in &request.0 {
            match &**name {
                "params" => object.raw(name, shown(server, &method, value)?.get()),
                name => object.raw(name, value.get()),
            };
        }
        named.raw(key, &object.end());
    }
    let others = members.keep(|name| name != "inputRequests");
    Ok(raw(Object::new().all(&others).raw("inputRequests", &named.end()).end()))
}

/// An error that names addresses to visit before the call is tried again.
pub(crate) fn in_error(server: &ServerName, error: Box<RawValue>) -> Box<RawValue> {
    if !may_hold(error.get(), "elicitations") {
        return error;
    }
    let Some(members) = Members::of(error.get()) else { return error };
    let Some(data) = members.object("data") else { return error };
    let Some(list) = data.get("elicitations") else { return error };
    let list = serde_json::from_str::<Vec<&RawValue>>(list.get()).unwrap_or_default();
    let named: Result<Vec<_>, String> =
        list.into_iter().map(|one| shown(server, "elicitation/create", one)).collect();
    let named = match named {
        Ok(named) => named,
        Err(why) => {
            tracing::warn!(%server, why, "an error with questions is refused");
            return raw(error_object(code::INTERNAL, &format!("{server}: {why}")));
        }
    };
    let list: Vec<&str> = named.iter().map(|one| one.get()).collect();
    let others = data.keep(|name| name != "elicitations");
    let data = Object::new().all(&others).raw("elicitations", &format!("[{}]", list.join(","))).end();
    raw(Object::new().all(&members.keep(|name| name != "data")).raw("data", &data).end())
}

/// The error that a server gets for a question that is refused.
pub(crate) fn refusal(method: &str, why: &str) -> String {
    error_object(code::INVALID_PARAMS, &format!("{method}: {why}"))
}

/// True if JSON may have a member of this name. Only an escape could hide it from the search.
fn may_hold(json: &str, name: &str) -> bool {
    json.contains(name) || json.contains("\\u00")
}

/// An address as it is shown, or why nobody is led there. It is not repeated: it may hold a secret.
fn checked(address: &str) -> Result<String, String> {
    let odd = |c: char| c.is_control() || c.is_whitespace() || c == '\\';
    if address.len() > MOST_ADDRESS {
        return Err(format!("its address is longer than {MOST_ADDRESS} bytes"));
    }
    if address.chars().any(odd) || visible(address) != address {
        return Err("its address holds characters that cannot be seen or mean another thing elsewhere".into());
    }
    let url = Url::parse(address).map_err(|error| format!("its address is not a URL ({error})"))?;
    match url.scheme() {
        "https" => {}
        "http" if is_local(&url) => {}
        "http" => return Err("its address is http: beyond this machine only https is followed".into()),
        scheme => return Err(format!("its address is of the scheme `{scheme}`: only https is followed")),
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err("its address holds a user name or a password".into());
    }
    Ok(url.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(text: &str) -> Box<RawValue> {
        RawValue::from_string(text.into()).expect("JSON")
    }

    fn server() -> ServerName {
        ServerName::parse("s").expect("a name")
    }

    #[test]
    fn what_is_asked_stays_as_it_was_written_but_for_the_name() {
        for (method, params, expect) in [
            (
                "elicitation/create",
                r#"{"message":"a","requestedSchema":{"x":1.0}}"#,
                r#"{"requestedSchema":{"x":1.0},"message":"[s] a"}"#,
            ),
            ("elicitation/create", "{}", r#"{"message":"[s]"}"#),
            ("roots/list", r#"{"message":1.0}"#, r#"{"message":1.0}"#),
            (
                "sampling/createMessage",
                r#"{"maxTokens":1.0}"#,
                r#"{"maxTokens":1.0,"systemPrompt":"Asked by the MCP server `s`."}"#,
            ),
        ] {
            assert_eq!(shown(&server(), method, &json(params)).expect("shown").get(), expect);
        }
        let twice = r#"{"url":"https://a.example/","url":"file:///x","message":"m"}"#;
        assert!(shown(&server(), "elicitation/create", &json(twice)).is_err());
        let shown = shown(&server(), "elicitation/create", &json(r#"{"mode":"url","message":"m"}"#));
        assert!(shown.is_err_and(|why| why.contains("no address")));
    }

    #[test]
    fn questions_in_results_are_found_however_their_name_is_written() {
        for name in ["inputRequests", r"input\u0052equests"] {
            let result = |message: &str, url: &str| {
                json(&format!(
                    r#"{{"x":1.0,"{name}":{{"k":{{"method":"elicitation/create","params":{{"mode":"url","url":"{url}","message":"{message}"}}}}}}}}"#
                ))
            };
            let named = in_result(&server(), result("m", "https://a.example/")).expect("fine");
            assert!(named.get().contains(r#""message":"[s] m\nIt leads to https://a.example/""#), "{named}");
            assert!(named.get().starts_with(r#"{"x":1.0,"#), "{named}");
            assert!(in_result(&server(), result("m", "data:x")).is_err());
        }
        let plain = r#"{"content":["inputRequests"]}"#;
        assert_eq!(in_result(&server(), json(plain)).expect("fine").get(), plain);
    }

    #[test]
    fn only_addresses_that_a_browser_fetches_in_private_are_followed() {
        for good in ["https://a.example/x?y#z", "http://localhost:1/", "http://[::1]/", "http://127.0.0.1/"] {
            assert!(checked(good).is_ok(), "{good}");
        }
        for bad in [
            "http://a.example/",
            "http://localhost.evil.example/",
            "ftp://a.example/",
            "HTTPS://u@a.example/",
            "https://u:p@a.example/",
            "https://a.example\\@b.example/",
            "https://a.example/\u{200b}",
            "https:// a.example/",
            "java\tscript:alert(1)",
            "/relative",
        ] {
            assert!(checked(bad).is_err(), "{bad}");
        }
        assert_eq!(checked("https://b\u{fc}cher.example/").as_deref(), Ok("https://xn--bcher-kva.example/"));
    }
}

//! Results and errors in the words of the other era.

use serde_json::value::RawValue;

use crate::wire::{Era, Members, Object, code, raw, server_meta};

/// Members that only the newer era knows.
const MODERN_ONLY: &[&str] = &["resultType", "ttlMs", "cacheScope"];

/// The questions of a modern server that must be answered first.
#[derive(Debug)]
pub(crate) struct InputRequired {
    /// Key, method and parameters of each question.
    pub(crate) requests: Vec<(String, String, String)>,
    /// The state that it wants to see again.
    pub(crate) state: Option<String>,
}

/// The questions of a result that is none yet.
pub(crate) fn input_required(result: &RawValue) -> Option<InputRequired> {
    let members = Members::of(result.get())?;
    if members.text("resultType").as_deref() != Some("input_required") {
        return None;
    }
    let requests = members.object("inputRequests").unwrap_or_default();
    let read = |(key, request): &(std::borrow::Cow<'_, str>, &RawValue)| {
        let request = Members::of(request.get())?;
        let params = request.get("params").map_or("{}", |raw| raw.get());
        Some((key.clone().into_owned(), request.text("method")?, params.to_owned()))
    };
    Some(InputRequired {
        requests: requests.0.iter().filter_map(read).collect(),
        state: members.text("requestState"),
    })
}

/// A result for a client of the older era.
pub(crate) fn to_legacy(result: Box<RawValue>) -> Box<RawValue> {
    let Some(members) = Members::of(result.get()) else { return result };
    if !members.0.iter().any(|(name, _)| MODERN_ONLY.contains(&&**name)) {
        return result;
    }
    let kept = members.keep(|name| !MODERN_ONLY.contains(&name));
    raw(Object::new().all(&kept).end())
}

/// A result for a client of the newer era.
pub(crate) fn to_modern(method: &str, result: Box<RawValue>) -> Box<RawValue> {
    let Some(members) = Members::of(result.get()) else { return result };
    let mut object = Object::new();
    let meta = members.object("_meta").unwrap_or_default();
    let members = members.keep(|name| name != "_meta");
    object.all(&members);
    if members.get("resultType").is_none() {
        object.text("resultType", "complete");
    }
    if method == "resources/read" && members.get("ttlMs").is_none() {
        object.raw("ttlMs", "0").text("cacheScope", "private");
    }
    let mut new_meta = Object::new();
    let (key, info) = server_meta();
    new_meta.all(&meta);
    if meta.get(key).is_none() {
        new_meta.raw(key, &info);
    }
    object.raw("_meta", &new_meta.end());
    raw(object.end())
}

/// The result that asks a modern client.
pub(crate) fn asking(requests: &str, state: &str) -> Box<RawValue> {
    let (key, info) = server_meta();
    let meta = Object::new().raw(key, &info).end();
    raw(Object::new()
        .text("resultType", "input_required")
        .raw("inputRequests", requests)
        .text("requestState", state)
        .raw("_meta", &meta)
        .end())
}

/// An error in the codes of the client's era.
pub(crate) fn error(method: &str, error: Box<RawValue>, era: Era) -> Box<RawValue> {
    let Some(members) = Members::of(error.get()) else { return error };
    let theirs = members.get("code").and_then(|raw| raw.get().parse::<i32>().ok());
    let ours = match (method, theirs, era) {
        ("resources/read", Some(code::RESOURCE_NOT_FOUND), Era::Modern) => code::INVALID_PARAMS,
        ("resources/read", Some(code::INVALID_PARAMS), Era::Legacy) => code::RESOURCE_NOT_FOUND,
        _ => return error,
    };
    raw(members.replaced("code", &ours.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(json: &str) -> Box<RawValue> {
        RawValue::from_string(json.into()).expect("JSON")
    }

    #[test]
    fn what_only_one_era_knows_is_taken_out_and_everything_else_kept() {
        let modern = r#"{"content":[{"x":1.0}],"resultType":"complete","ttlMs":5,"new":1e2}"#;
        assert_eq!(to_legacy(value(modern)).get(), r#"{"content":[{"x":1.0}],"new":1e2}"#);
        let plain = r#"{ "content" : [] }"#;
        assert_eq!(to_legacy(value(plain)).get(), plain);
    }

    #[test]
    fn a_legacy_result_is_dressed_for_a_modern_client() {
        let dressed = to_modern("tools/call", value(r#"{"content":[1.0],"_meta":{"a":1}}"#));
        let (key, info) = server_meta();
        let expect =
            format!(r#"{{"content":[1.0],"resultType":"complete","_meta":{{"a":1,"{key}":{info}}}}}"#);
        assert_eq!(dressed.get(), expect);
        assert!(to_modern("resources/read", value("{}")).get().contains(r#""ttlMs":0"#));
    }

    #[test]
    fn questions_are_read_from_a_result() {
        let asked = r#"{"resultType":"input_required","inputRequests":{"a":{"method":"roots/list"},"b":{"method":"m","params":{"x":1.0}}},"requestState":"s"}"#;
        let input = input_required(&value(asked)).expect("asks");
        assert_eq!(input.requests[0], ("a".into(), "roots/list".into(), "{}".into()));
        assert_eq!(input.requests[1].2, r#"{"x":1.0}"#);
        assert_eq!(input.state.as_deref(), Some("s"));
        assert!(input_required(&value(r#"{"resultType":"complete"}"#)).is_none());
    }

    #[test]
    fn errors_speak_the_codes_of_the_era() {
        let missing = |code: i32| format!(r#"{{"code":{code},"message":"m","data":{{"uri":"x"}}}}"#);
        assert_eq!(error("resources/read", value(&missing(-32002)), Era::Modern).get(), missing(-32602));
        assert_eq!(error("resources/read", value(&missing(-32602)), Era::Legacy).get(), missing(-32002));
        assert_eq!(error("tools/call", value(&missing(-32602)), Era::Legacy).get(), missing(-32602));
    }
}

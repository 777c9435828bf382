//! Answers to the requests of a server. It gets its settings and its folders; no request of it changes
//! anything.

use serde_json::{Value, json, value::RawValue};

use crate::message::METHOD_NOT_FOUND;

/// The most sections of settings that one request may ask for; servers ask for a few.
const MOST_SECTIONS: usize = 64;

/// The answer to a request of the server.
pub(crate) fn answer(
    method: &str,
    params: Option<&RawValue>,
    settings: &Value,
    folders: &Value,
) -> Result<Value, i64> {
    match method {
        "workspace/configuration" => Ok(configuration(params, settings)),
        "workspace/workspaceFolders" => Ok(folders.clone()),
        "workspace/applyEdit" => Ok(json!({ "applied": false })),
        "client/registerCapability"
        | "client/unregisterCapability"
        | "window/workDoneProgress/create"
        | "window/showMessageRequest"
        | "workspace/diagnostic/refresh"
        | "workspace/semanticTokens/refresh"
        | "workspace/inlayHint/refresh"
        | "workspace/codeLens/refresh" => Ok(Value::Null),
        _ => Err(METHOD_NOT_FOUND),
    }
}

/// One value for each requested section, `null` for one that is not set.
fn configuration(params: Option<&RawValue>, settings: &Value) -> Value {
    let params: Value = params.and_then(|raw| serde_json::from_str(raw.get()).ok()).unwrap_or_default();
    let items = params["items"].as_array().map_or(&[][..], Vec::as_slice);
    let found = |item: &Value| {
        let section = item["section"].as_str().unwrap_or_default();
        let mut parts = section.split('.').filter(|part| !part.is_empty());
        parts.try_fold(settings, |at, part| at.get(part)).cloned().unwrap_or_default()
    };
    items.iter().take(MOST_SECTIONS).map(found).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_given_by_section() {
        let settings = json!({ "python": { "analysis": { "mode": "x" } } });
        let params = json!({ "items": [
            { "section": "python.analysis" }, { "section": "python" }, { "section": "none.such" }, {}, 7
        ] });
        let params = RawValue::from_string(params.to_string()).expect("JSON");
        let told =
            answer("workspace/configuration", Some(&params), &settings, &Value::Null).expect("answered");
        assert_eq!(told, json!([{ "mode": "x" }, { "analysis": { "mode": "x" } }, null, settings, settings]));
    }

    #[test]
    fn nothing_is_changed_and_the_unknown_is_refused() {
        let ask = |method| answer(method, None, &Value::Null, &json!([1]));
        assert_eq!(ask("workspace/applyEdit"), Ok(json!({ "applied": false })));
        assert_eq!(ask("client/registerCapability"), Ok(Value::Null));
        assert_eq!(ask("workspace/workspaceFolders"), Ok(json!([1])));
        assert_eq!(ask("workspace/configuration"), Ok(json!([])));
        assert_eq!(ask("window/showDocument"), Err(METHOD_NOT_FOUND));
    }
}

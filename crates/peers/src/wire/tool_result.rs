//! The message in the result of a server's tool about a failure of that tool.

use std::sync::LazyLock;

use memchr::memmem;
use serde_json::value::RawValue;

/// Said of a tool that failed and did not say why.
const NO_REASON: &str = "the tool failed and gave no reason";

/// True when a server's tool says that it failed.
pub(crate) fn is_error(raw: &str) -> bool {
    error_text(raw).is_some()
}

/// The words of a server's tool about its own failure; `None` for a success.
pub(crate) fn error_text(raw: &str) -> Option<String> {
    #[derive(serde::Deserialize)]
    struct ToolResult<'r> {
        #[serde(default, rename = "isError")]
        is_error: bool,
        #[serde(default, borrow)]
        content: Option<&'r RawValue>,
    }
    #[derive(serde::Deserialize)]
    struct TextBlock {
        text: String,
    }
    // Most results tell of no error, and are not read.
    if !may_tell_of_error(raw) {
        return None;
    }
    let result: ToolResult<'_> = serde_json::from_str(raw).ok()?;
    if !result.is_error {
        return None;
    }
    // What it says may be anything; that it failed is certain.
    let content =
        result.content.and_then(|content| serde_json::from_str::<Vec<&RawValue>>(content.get()).ok());
    let texts: Vec<String> = content
        .into_iter()
        .flatten()
        .filter_map(|block| serde_json::from_str::<TextBlock>(block.get()).ok())
        .map(|block| block.text)
        .collect();
    let said = texts.join("\n");
    Some(if said.trim().is_empty() { NO_REASON.to_owned() } else { said })
}

/// True when the flag of an error stands anywhere in it, be it inside of something else.
fn may_tell_of_error(raw: &str) -> bool {
    static FLAG: LazyLock<memmem::Finder<'_>> = LazyLock::new(|| memmem::Finder::new(r#""isError""#));
    FLAG.find_iter(raw.as_bytes()).any(|at| {
        let rest = raw[at + FLAG.needle().len()..].trim_start();
        rest.strip_prefix(':').is_some_and(|value| value.trim_start().starts_with("true"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_its_own_flag_makes_a_result_an_error() {
        for (raw, failed) in [
            (r#"{"isError":true}"#, true),
            ("{\"content\":[],\"isError\" :\n true}", true),
            (r#"{"isError":false,"structuredContent":{"isError":true}}"#, false),
            (r#"{"isError":false}"#, false),
            (r#"{"content":[{"type":"text","text":"\"isError\":true"}]}"#, false),
            (r#"{"isError":"true"}"#, false),
            (r#"{"content":[]}"#, false),
        ] {
            assert_eq!(is_error(raw), failed, "{raw}");
        }
    }
}

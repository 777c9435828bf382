//! The kind of a message, told by the first of its members that says so. The rest is not read: it may
//! be megabytes that nobody wants, or may not have come yet.

use std::fmt;

use serde::{
    Deserialize, Deserializer as _,
    de::{IgnoredAny, MapAccess, Visitor},
};
use serde_json::value::RawValue;

/// An id that no request of ours has.
const NOBODY: u64 = u64::MAX;

/// The kind that a message seems to be of.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) enum Glance {
    /// A notification or a question, by its method; empty where that cannot be read.
    Unasked(String),
    /// An answer; to this request, where its id stands before its result.
    Answer(Option<u64>),
    /// Neither can be told.
    #[default]
    Unknown,
}

/// Looks at a message or at its beginning.
pub(super) fn glance(bytes: &[u8]) -> Glance {
    let mut seen = Glance::Unknown;
    // It mostly ends in an error, since the rest is not read.
    let _ = serde_json::Deserializer::from_slice(bytes).deserialize_map(Look(&mut seen));
    seen
}

#[derive(Deserialize)]
#[serde(field_identifier, rename_all = "lowercase")]
enum Member {
    Id,
    Method,
    Result,
    Error,
    #[serde(other)]
    Other,
}

struct Look<'g>(&'g mut Glance);

impl<'de> Visitor<'de> for Look<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a message")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let mut id = None;
        while let Some(member) = map.next_key::<Member>()? {
            match member {
                Member::Id => id = Some(request(map.next_value::<&RawValue>()?.get()).unwrap_or(NOBODY)),
                Member::Other => drop(map.next_value::<IgnoredAny>()?),
                Member::Result | Member::Error => {
                    *self.0 = Glance::Answer(id);
                    return Ok(());
                }
                Member::Method => {
                    *self.0 = Glance::Unasked(String::new());
                    *self.0 = Glance::Unasked(map.next_value()?);
                    return Ok(());
                }
            }
        }
        Ok(())
    }
}

/// The request of ours that an id names.
pub(super) fn request(id: &str) -> Option<u64> {
    id.trim_matches('"').parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_member_that_tells_is_enough() {
        let unasked = |method: &str| Glance::Unasked(method.into());
        for (text, expect) in [
            (r#"{"jsonrpc":"2.0","method":"notifications/x","params":{"#, unasked("notifications/x")),
            (r#"{"params":{"result":1},"method":"m\u0041"}"#, unasked("mA")),
            (r#"{"jsonrpc":"2.0","id":7,"method":"ping"}"#, unasked("ping")),
            (r#"{"method":xxxx"#, unasked("")),
            (r#"{"jsonrpc":"2.0","id":7,"result":{"content":[{"text":"aaa"#, Glance::Answer(Some(7))),
            (r#"{"id":"7","error":{"#, Glance::Answer(Some(7))),
            (r#"{"result":{"method":"x"},"id":7}"#, Glance::Answer(None)),
            (r#"{"id":"other","result":1}"#, Glance::Answer(Some(NOBODY))),
            (r#"{"jsonrpc":"2.0","id":"#, Glance::Unknown),
            (r#"{"x":"aaaaaa"#, Glance::Unknown),
            ("[1]", Glance::Unknown),
            ("Starting", Glance::Unknown),
            ("", Glance::Unknown),
        ] {
            assert_eq!(glance(text.as_bytes()), expect, "{text}");
        }
    }
}

//! What a call is about, in a few words: the path, command or address among its arguments.

use std::{cell::RefCell, fmt};

use serde::{
    Deserializer as _,
    de::{IgnoredAny, MapAccess, Visitor},
};

/// Members that say it, the best first.
const MEMBERS: [&str; 16] = [
    "path",
    "file_path",
    "file",
    "command",
    "script",
    "url",
    "query",
    "pattern",
    "symbol",
    "name",
    "directory",
    "task",
    "prompt",
    "text",
    "id",
    "key",
];
/// The characters of a subject.
const MOST: usize = 200;
/// The bytes of the arguments that are looked at: a subject stands at their beginning or nowhere.
const LOOKED_AT: usize = 8 * 1024;

/// The subject of a call with these arguments, without secrets; empty if nothing says it.
pub(super) fn of(args: &str) -> String {
    let found = RefCell::new(None);
    let beginning = &args[..args.floor_char_boundary(LOOKED_AT)];
    // What was cut off is an error at its end; what was found before that counts.
    let _ = serde_json::Deserializer::from_str(beginning).deserialize_map(Best(&found));
    let text = found.into_inner().map(|(_, text)| text).unwrap_or_default();
    let line: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let hidden = tectum_redact::text(&line);
    if hidden.chars().nth(MOST).is_none() {
        return hidden.into_owned();
    }
    hidden.chars().take(MOST - 1).chain(['…']).collect()
}

/// The best member so far.
type BestMember = RefCell<Option<(usize, String)>>;

struct Best<'f>(&'f BestMember);

impl<'de> Visitor<'de> for Best<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the arguments of a call")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        while let Some(name) = members.next_key::<String>()? {
            let rank = MEMBERS.iter().position(|known| *known == name);
            let better = rank.filter(|rank| self.0.borrow().as_ref().is_none_or(|(best, _)| rank < best));
            let Some(rank) = better else {
                members.next_value::<IgnoredAny>()?;
                continue;
            };
            if let serde_json::Value::String(text) = members.next_value()? {
                *self.0.borrow_mut() = Some((rank, text));
                if rank == 0 {
                    return Ok(());
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_member_is_told() {
        for (args, expect) in [
            (r#"{"content":"x","path":"a.rs"}"#, "a.rs"),
            (r#"{"command":"cargo  test\n --all","name":"n"}"#, "cargo test --all"),
            (r#"{"n":1,"path":7,"url":"https://example.com"}"#, "https://example.com"),
            (r#"{"paths":["a"]}"#, ""),
            ("[1]", ""),
            ("{", ""),
        ] {
            assert_eq!(of(args), expect, "{args}");
        }
    }

    #[test]
    fn large_ones_are_read_at_their_beginning_and_secrets_are_hidden() {
        let large = format!(r#"{{"path":"a.rs","content":"{}"}}"#, "ü".repeat(1 << 20));
        assert_eq!(of(&large), "a.rs");
        let late = format!(r#"{{"content":"{}","path":"a.rs"}}"#, "ü".repeat(1 << 20));
        assert_eq!(of(&late), "");
        let long = of(&format!(r#"{{"command":"{}"}}"#, "ü".repeat(1000)));
        assert_eq!((long.chars().count(), long.ends_with('…')), (MOST, true));
        let secret = of(r#"{"command":"curl -H 'x: ghp_abcdefghijklmnopqrstuvwxyz0123456789'"}"#);
        assert!(!secret.contains("ghp_a"), "{secret}");
    }
}

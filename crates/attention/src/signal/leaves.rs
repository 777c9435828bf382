//! The leaves of a state by path. Elements of a list share the path of the list, so an insertion moves
//! nothing, and the order of members or elements never matters.

use serde_json::Value;

/// Deeper values are not looked at.
const DEPTH: usize = 24;
/// Elements of one list that are looked at.
const ELEMENTS: usize = 512;
/// A longer path is cut, so that names cannot take memory without bound.
const PATH_BYTES: usize = 240;

/// One leaf.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Leaf<'a> {
    Null,
    Bool(bool),
    Number(f64),
    Text(&'a str),
}

/// Calls `visit` with the path and value of each leaf, and with the length of each list.
pub(crate) fn walk<'a>(state: &'a Value, visit: &mut impl FnMut(&str, Leaf<'a>)) {
    descend(state, &mut String::new(), 0, visit);
}

fn descend<'a>(value: &'a Value, path: &mut String, depth: usize, visit: &mut impl FnMut(&str, Leaf<'a>)) {
    let here = path.len();
    match value {
        _ if depth > DEPTH => return,
        Value::Null => visit(path, Leaf::Null),
        Value::Bool(flag) => visit(path, Leaf::Bool(*flag)),
        Value::Number(number) => visit(path, Leaf::Number(number.as_f64().unwrap_or(0.0))),
        Value::String(text) => visit(path, Leaf::Text(text)),
        Value::Array(elements) => {
            path.push_str(".length");
            visit(path, Leaf::Number(elements.len() as f64));
            path.truncate(here);
            path.push_str("[]");
            for element in elements.iter().take(ELEMENTS) {
                descend(element, path, depth + 1, visit);
            }
        }
        Value::Object(members) => {
            for (name, member) in members {
                path.truncate(here);
                push_name(path, name);
                descend(member, path, depth + 1, visit);
            }
        }
    }
    path.truncate(here);
}

/// Appends a member's name; a name that is an id would make a new path in each reading, so it is masked.
fn push_name(path: &mut String, name: &str) {
    if !path.is_empty() {
        path.push('.');
    }
    if is_id(name) {
        path.push('*');
        return;
    }
    let room = PATH_BYTES.saturating_sub(path.len()).max(8);
    let end = name.char_indices().map(|(at, c)| at + c.len_utf8()).take_while(|end| *end <= room).last();
    path.push_str(&name[..end.unwrap_or(0)]);
}

/// The last member's name of a path, without list brackets.
pub(crate) fn last_name(path: &str) -> &str {
    path.rsplit('.').next().unwrap_or(path).trim_end_matches("[]")
}

/// Whether a word identifies one of many things: mostly digits, or a long hexadecimal number.
pub(crate) fn is_id(word: &str) -> bool {
    let digits = word.bytes().filter(u8::is_ascii_digit).count();
    (word.len() >= 4 && digits * 2 >= word.len())
        || (word.len() >= 7 && digits > 0 && word.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-'))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn paths(state: &Value) -> Vec<String> {
        let mut found = Vec::new();
        walk(state, &mut |path, leaf| found.push(format!("{path}={leaf:?}")));
        found
    }

    #[test]
    fn elements_share_a_path_and_ids_are_masked() {
        let state = json!({"runs": [{"ok": true}, {"ok": false}], "by": {"12345": 1, "name": null}});
        assert_eq!(
            paths(&state),
            [
                "runs.length=Number(2.0)",
                "runs[].ok=Bool(true)",
                "runs[].ok=Bool(false)",
                "by.*=Number(1.0)",
                "by.name=Null"
            ]
        );
    }

    #[test]
    fn depth_width_and_names_are_bounded() {
        let mut deep = json!(1);
        for _ in 0..100 {
            deep = json!([deep]);
        }
        assert_eq!(paths(&deep).len(), DEPTH + 1, "a length for each level that is looked at");
        assert_eq!(paths(&json!(vec![1; 5_000])).len(), 1 + ELEMENTS);
        let name = "ü".repeat(100_000);
        walk(&json!({ name: 1 }), &mut |path, _| assert!(path.len() <= PATH_BYTES));
    }
}

//! JSON as settings files hold it: comments and trailing commas are taken, every value is placed,
//! and what nobody asked for is checked and passed over without being kept.

use std::sync::Arc;

use super::super::{
    form::{Field, Form, Written},
    place::{Lines, Origin, Problem},
};

/// The greatest depth of nested values: each level costs stack, and no settings need more.
const MOST_DEPTH: usize = 64;

/// Reads a text. `wanted` is asked for the names that lead to a value; without a yes the value is
/// passed over and stands as nothing.
pub(super) fn read(
    name: &Arc<str>,
    text: &str,
    wanted: &dyn Fn(&[String]) -> bool,
) -> Result<Written, Problem> {
    let mut reader = Reader { text, at: 0, path: Vec::new(), wanted, lines: Lines::new(name, text) };
    let value = reader.whole();
    value.map_err(|wrong| {
        let at = wrong.at.unwrap_or(reader.at);
        Problem::new(reader.lines.place(at), format!("this is not JSON: {}", wrong.message))
            .hint("comments and trailing commas are allowed; everything else must be valid JSON")
    })
}

struct Wrong {
    at: Option<usize>,
    message: String,
}

fn wrong<T>(message: impl Into<String>) -> Result<T, Wrong> {
    Err(Wrong { at: None, message: message.into() })
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
    path: Vec<String>,
    wanted: &'t dyn Fn(&[String]) -> bool,
    lines: Lines<'t>,
}

impl Reader<'_> {
    fn whole(&mut self) -> Result<Written, Wrong> {
        self.space()?;
        let value = self.value(0, true)?;
        self.space()?;
        match self.peek() {
            None => Ok(value),
            Some(_) => wrong("something follows the value"),
        }
    }

    /// One value. With `keep` false it is only checked.
    fn value(&mut self, depth: usize, keep: bool) -> Result<Written, Wrong> {
        if depth > MOST_DEPTH {
            return wrong(format!("it is nested more than {MOST_DEPTH} deep"));
        }
        let origin = if keep { self.lines.place(self.at) } else { Origin::Default };
        let form = match self.peek() {
            Some(b'{') => self.object(depth, keep)?,
            Some(b'[') => self.array(depth, keep)?,
            Some(b'"') => Form::Text(self.string()?),
            Some(_) => self.word()?,
            None => return wrong("it ends where a value should be"),
        };
        Ok(Written { origin, form })
    }

    fn object(&mut self, depth: usize, keep: bool) -> Result<Form, Wrong> {
        let mut fields: Vec<Field> = Vec::new();
        self.at += 1;
        loop {
            self.space()?;
            match self.peek() {
                Some(b'}') => break,
                Some(b'"') => {}
                _ => return wrong("expected a name in quotes or `}`"),
            }
            let name_at = self.at;
            let name = self.string()?;
            self.space()?;
            if self.peek() != Some(b':') {
                return wrong("expected `:`");
            }
            self.at += 1;
            self.space()?;
            self.path.push(name);
            let keeps = keep && (self.wanted)(&self.path);
            let value = self.value(depth + 1, keeps);
            let name = self.path.pop().unwrap_or_default();
            let value = value?;
            if keeps {
                // As everywhere, the last of two equal names counts.
                fields.retain(|field| field.name != name);
                fields.push(Field { name, origin: self.lines.place(name_at), value });
            }
            if !self.comma(b'}')? {
                break;
            }
        }
        self.at += 1;
        Ok(Form::Table(fields))
    }

    fn array(&mut self, depth: usize, keep: bool) -> Result<Form, Wrong> {
        let mut list = Vec::new();
        self.at += 1;
        loop {
            self.space()?;
            if self.peek() == Some(b']') {
                break;
            }
            let value = self.value(depth + 1, keep)?;
            if keep {
                list.push(value);
            }
            if !self.comma(b']')? {
                break;
            }
        }
        self.at += 1;
        Ok(Form::List(list))
    }

    /// Passes a comma; false at the closing bracket, which stays.
    fn comma(&mut self, end: u8) -> Result<bool, Wrong> {
        self.space()?;
        match self.peek() {
            Some(b',') => {
                self.at += 1;
                Ok(true)
            }
            Some(byte) if byte == end => Ok(false),
            _ => wrong(format!("expected `,` or `{}`", char::from(end))),
        }
    }

    /// The rules for what stands between quotes are the JSON library's.
    fn string(&mut self) -> Result<String, Wrong> {
        let start = self.at;
        let bytes = self.text.as_bytes();
        let mut end = start + 1;
        loop {
            match bytes.get(end) {
                Some(b'"') => break,
                Some(b'\\') => end += 2,
                Some(_) => end += 1,
                None => return wrong("a text is not closed"),
            }
        }
        self.at = end + 1;
        let Some(quoted) = self.text.get(start..=end) else { return wrong("a text is not closed") };
        serde_json::from_str(quoted).map_err(|_| Wrong {
            at: Some(start),
            message: "a string contains a line break, a control character or an invalid escape".into(),
        })
    }

    fn word(&mut self) -> Result<Form, Wrong> {
        let rest = &self.text[self.at..];
        let end =
            rest.find(|c: char| c.is_ascii_whitespace() || ",]}/:\"[{".contains(c)).unwrap_or(rest.len());
        let word = &rest[..end];
        let form = match serde_json::from_str::<serde_json::Value>(word) {
            Ok(serde_json::Value::Null) => Form::Null,
            Ok(serde_json::Value::Bool(flag)) => Form::Flag(flag),
            Ok(serde_json::Value::Number(number)) => match (number.as_i64(), number.as_f64()) {
                (Some(number), _) => Form::Number(number),
                (None, Some(number)) => Form::Fraction(number),
                (None, None) => Form::Other("number that is too large"),
            },
            // It may be a secret without its quotes, so it is not repeated.
            _ => return wrong("expected a value"),
        };
        self.at += end;
        Ok(form)
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// White space and comments.
    fn space(&mut self) -> Result<(), Wrong> {
        loop {
            let rest = &self.text[self.at..];
            if let Some(comment) = rest.strip_prefix("//") {
                self.at += 2 + comment.find('\n').unwrap_or(comment.len());
            } else if let Some(comment) = rest.strip_prefix("/*") {
                match comment.find("*/") {
                    Some(end) => self.at += 4 + end,
                    None => return wrong("a comment is not closed"),
                }
            } else if rest.starts_with([' ', '\t', '\r', '\n']) {
                self.at += 1;
            } else {
                return Ok(());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text_of(written: &Written) -> String {
        match &written.form {
            Form::Text(text) => format!("{text:?}"),
            Form::Number(number) => number.to_string(),
            Form::Fraction(number) => number.to_string(),
            Form::Flag(flag) => flag.to_string(),
            Form::Null => "null".into(),
            Form::Other(what) => format!("<{what}>"),
            Form::List(list) => format!("[{}]", list.iter().map(text_of).collect::<Vec<_>>().join(",")),
            Form::Table(fields) => {
                let field = |field: &Field| format!("{}:{}", field.name, text_of(&field.value));
                format!("{{{}}}", fields.iter().map(field).collect::<Vec<_>>().join(","))
            }
        }
    }

    fn check(text: &str, expect: &str) {
        let written =
            read(&"f".into(), text, &|_| true).unwrap_or_else(|problem| panic!("{text}: {problem}"));
        assert_eq!(text_of(&written), expect, "{text}");
    }

    #[test]
    fn comments_and_trailing_commas_are_taken() {
        check(" { } ", "{}");
        check("// a\n{ /* b */ \"x\": [1, -2.5, true, null,], // c\n }", "{x:[1,-2.5,true,null]}");
        check(r#"{"url":"http://x//y","a\"b":"\u00e9\n"}"#, r#"{url:"http://x//y",a"b:"é\n"}"#);
        check(r#"{"a":1,"a":2}"#, "{a:2}");
        check("1 // end", "1");
    }

    #[test]
    fn what_is_broken_is_placed() {
        for (text, place) in [
            ("", "f:1:1"),
            ("{", "f:1:2"),
            ("{\n  \"a\" 1}", "f:2:7"),
            ("{\n  a: 1}", "f:2:3"),
            ("{\"a\": tru}", "f:1:7"),
            ("{\"a\": \"x}", "f:1:7"),
            ("[1 2]", "f:1:4"),
            ("{} x", "f:1:4"),
            ("/* ", "f:1:1"),
            ("{\"ü\": \"\\x\"}", "f:1:7"),
            ("\"\\", "f:1:1"),
            ("\"\\ü\"", "f:1:1"),
        ] {
            let problem = read(&"f".into(), text, &|_| true).expect_err(text).to_string();
            assert!(problem.starts_with(&format!("{place}: this is not JSON")), "{text}: {problem}");
        }
        let deep = "[".repeat(100_000);
        assert!(read(&"f".into(), &deep, &|_| true).expect_err("deep").message.contains("nested"));
    }

    #[test]
    fn only_what_is_wanted_is_kept() {
        let text = r#"{"history":[{"x":1}],"servers":{"a":{"history":2}}}"#;
        let written = read(&"f".into(), text, &|path| path[0] == "servers").expect("reads");
        assert_eq!(text_of(&written), "{servers:{a:{history:2}}}");
        let broken = r#"{"history":[{"x":}],"servers":{}}"#;
        read(&"f".into(), broken, &|path| path[0] == "servers").expect_err("checked all the same");
    }
}

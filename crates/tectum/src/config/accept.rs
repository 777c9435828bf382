//! One value on its way in: what was written, checked against what its key takes.

use std::path::{Path, PathBuf};

use tectum_core::{Rule, security::DenyList};

use super::{
    form::{Field, Form, Written},
    keys::{Each, Key, Shape},
    place::{Origin, Problem},
    value::{Item, Value, quoted},
};

/// The directories that relative paths start from in one layer.
#[derive(Clone, Copy, Debug)]
pub struct Base<'b> {
    /// The directory.
    pub directory: &'b Path,
    /// The meaning of `~/`.
    pub home: Option<&'b Path>,
}

impl Written {
    /// The value of a text for a key, where there are no types: the environment, flags, defaults.
    pub fn from_text(key: &Key, text: &str, origin: Origin) -> Self {
        let form = match key.shape {
            Shape::Flag => match text {
                "true" => Form::Flag(true),
                "false" => Form::Flag(false),
                _ => Form::Text(text.into()),
            },
            Shape::Count { .. } => text.parse().map_or_else(|_| Form::Text(text.into()), Form::Number),
            Shape::Size { .. }
            | Shape::Choice(_)
            | Shape::Address
            | Shape::Text
            | Shape::Path
            | Shape::Command
            | Shape::Table
            | Shape::Span { .. } => Form::Text(text.into()),
            Shape::List { .. } => {
                let item = |part: &str| Self { origin: origin.clone(), form: Form::Text(part.trim().into()) };
                Form::List(split_list(text).into_iter().map(item).collect())
            }
        };
        Self { origin, form }
    }

    /// Checks it against what the key takes; every mistake is added to `problems`.
    pub fn accept(self, key: &Key, base: Base<'_>, problems: &mut Vec<Problem>) -> Option<Value> {
        let origin = self.origin.clone();
        match self.fit(key, base, problems) {
            Ok(value) => value,
            Err((message, hint)) => {
                problems.push(Problem::new(origin, format!("`{}` {message}", key.path())).hint(hint));
                None
            }
        }
    }

    fn fit(
        self,
        key: &Key,
        base: Base<'_>,
        problems: &mut Vec<Problem>,
    ) -> Result<Option<Value>, (String, String)> {
        let got = self.form.told(key);
        let wrong = |must: &str, write: String| Err((format!("must be {must}, got {got}"), write));
        match (&key.shape, self.form) {
            (Shape::Flag, Form::Flag(flag)) => Ok(Some(Value::Flag(flag))),
            (Shape::Flag, _) => wrong("true or false", format!("write {} = true or {0} = false", key.name)),

            (Shape::Count { least, most }, form) => match form {
                Form::Number(n) if u64::try_from(n).is_ok_and(|n| (*least..=*most).contains(&n)) => {
                    Ok(Some(Value::Number(n.unsigned_abs())))
                }
                _ if least == most => {
                    wrong(&least.to_string(), format!("this version supports only {} = {least}", key.name))
                }
                _ => wrong(
                    &format!("a whole number from {least} to {most}"),
                    format!("write {} = {least}", key.name),
                ),
            },

            (Shape::Size { least }, form) => match form.size() {
                Some(size) if size >= *least => Ok(Some(Value::Number(size))),
                Some(_) => {
                    wrong(&format!("at least {least} bytes"), format!("write {} = \"64k\" or more", key.name))
                }
                None => {
                    wrong("a size", format!("write a number of bytes or text such as {} = \"50k\"", key.name))
                }
            },

            (Shape::Choice(words), Form::Text(word)) if words.contains(&word.as_str()) => {
                Ok(Some(Value::Word(word)))
            }
            (Shape::Choice(words), _) => {
                let words: Vec<String> = words.iter().map(|word| format!("\"{word}\"")).collect();
                wrong(&format!("one of {}", words.join(", ")), format!("write {} = {}", key.name, words[0]))
            }

            (Shape::Address, Form::Text(text)) if text.parse::<std::net::SocketAddr>().is_ok() => {
                Ok(Some(Value::Word(text)))
            }
            (Shape::Address, _) => {
                wrong("an IP address with a port", format!("write {} = \"127.0.0.1:8999\"", key.name))
            }

            (Shape::Text, Form::Text(text)) if !text.trim().is_empty() => Ok(Some(Value::Word(text))),
            (Shape::Text, _) => wrong("text that is not empty", format!("write {} = \"\u{2026}\"", key.name)),

            (Shape::Path, Form::Text(text)) if !text.trim().is_empty() => match absolute(&text, base) {
                Ok(path) => Ok(Some(Value::Word(path))),
                Err(why) => Err((format!("leads nowhere: {why}"), "write an absolute path".into())),
            },
            (Shape::Path, _) => wrong("the path of a file", format!("write {} = \"\u{2026}\"", key.name)),

            (Shape::Command, Form::Text(text)) if !text.trim().is_empty() => {
                Ok(Some(Value::List(vec![Item { text, origin: self.origin }])))
            }
            (Shape::Command, Form::List(list)) if !list.is_empty() => {
                Ok(texts(list, key, Each::Argument, base, problems))
            }
            (Shape::Command, _) => wrong(
                "the name of a program, or a list of it and its arguments",
                format!("write {} = \"npx\" and args = [\"\u{2026}\"]", key.name),
            ),

            (Shape::Table, Form::Table(fields)) => {
                let before = problems.len();
                let entry = |field: Field| {
                    let item = field.value.item(key, Each::Argument, base, problems)?;
                    Some((field.name, item))
                };
                let fields: Vec<(String, Item)> = fields.into_iter().filter_map(entry).collect();
                Ok((problems.len() == before).then_some(Value::Table(fields)))
            }
            (Shape::Table, _) => {
                wrong("a table of texts", format!("write {} = {{ NAME = \"\u{2026}\" }}", key.name))
            }

            (Shape::Span { least, most }, form) => match form.milliseconds() {
                Some(time) if (least * 1000..=most * 1000).contains(&time) => Ok(Some(Value::Number(time))),
                Some(_) => wrong(
                    &format!("a time from {least} to {most} seconds"),
                    format!("write {} = \"60s\"", key.name),
                ),
                None => wrong(
                    "a time",
                    format!("write a number of seconds or text such as {} = \"90s\" or \"5m\"", key.name),
                ),
            },

            (Shape::List { empty: Some(instead), .. }, Form::List(list)) if list.is_empty() => {
                Err(("is an empty list".into(), (*instead).into()))
            }
            (Shape::List { each, .. }, Form::List(list)) => Ok(texts(list, key, *each, base, problems)),
            (Shape::List { .. }, Form::Text(text)) => {
                wrong("a list", format!("write {} = [{}]", key.name, quoted(&text)))
            }
            (Shape::List { .. }, _) => wrong("a list of texts", format!("write {} = [\"…\"]", key.name)),
        }
    }

    fn item(self, key: &Key, each: Each, base: Base<'_>, problems: &mut Vec<Problem>) -> Option<Item> {
        let origin = self.origin;
        let mut wrong = |message: String, hint: &str| {
            problems.push(Problem::new(origin.clone(), format!("in `{}`: {message}", key.path())).hint(hint));
            None
        };
        let text = match self.form {
            Form::Text(text) => text,
            other => {
                return wrong(
                    format!("each entry must be text, got {}", other.told(key)),
                    "put it in quotes",
                );
            }
        };
        if text.trim().is_empty() && each != Each::Argument {
            return wrong("an entry is empty".into(), "remove it, or fill it in");
        }
        let text = match each {
            Each::Host | Each::Word | Each::Argument => text,
            Each::Path => match absolute(&text, base) {
                Ok(path) => path,
                Err(why) => return wrong(why, "write an absolute path in UTF-8"),
            },
            Each::Pattern => match DenyList::new([&text]) {
                Ok(_) => text,
                Err(why) => {
                    return wrong(
                        why,
                        "write a name such as *.pem, or a path from the root such as secrets/**",
                    );
                }
            },
            Each::Rule => match Rule::parse(&text, (&origin).into()) {
                Ok(_) => text,
                Err(why) => return wrong(why, "for example edit_file(src/**)"),
            },
        };
        Some(Item { text, origin })
    }
}

/// Every entry of a list, or nothing when one of them is wrong.
fn texts(
    list: Vec<Written>,
    key: &Key,
    each: Each,
    base: Base<'_>,
    problems: &mut Vec<Problem>,
) -> Option<Value> {
    let before = problems.len();
    let items: Vec<Item> = list.into_iter().filter_map(|one| one.item(key, each, base, problems)).collect();
    (problems.len() == before).then_some(Value::List(items))
}

pub(super) fn absolute(text: &str, base: Base<'_>) -> Result<String, String> {
    let path = match text.strip_prefix('~') {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => match base.home {
            Some(home) => home.join(rest.trim_start_matches('/')),
            None => return Err(format!("{} needs a home directory and HOME is not set", quoted(text))),
        },
        _ => base.directory.join(text),
    };
    // `.` at the end is how people write "here"; nothing else of the spelling is touched.
    let path: PathBuf = path.components().collect();
    path.into_os_string()
        .into_string()
        .map_err(|_| format!("{} is not a path in UTF-8, and tools accept no other", quoted(text)))
}

/// Splits at commas that stand outside braces, brackets and parentheses, because patterns
/// such as `*.{pem,key}` use commas themselves.
fn split_list(text: &str) -> Vec<&str> {
    let (mut parts, mut depth, mut start) = (Vec::new(), 0_usize, 0);
    for (at, c) in text.char_indices() {
        match c {
            '{' | '[' | '(' => depth += 1,
            '}' | ']' | ')' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}

#[cfg(test)]
#[path = "accept_tests.rs"]
mod tests;

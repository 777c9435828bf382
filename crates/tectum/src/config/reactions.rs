//! `[[attention.reaction]]`: the calls that are made by themselves when there is news.

use std::time::Duration;

use globset::{Glob, GlobMatcher};
use serde_json::{Map, Value};

use super::{
    form::{Field, Form, Written},
    place::{Origin, Problem},
};

/// The tables' name.
pub(super) const TABLE: &str = "attention.reaction";
/// The least time between two calls of one reaction, unless it says otherwise.
const USUAL_PAUSE: Duration = Duration::from_secs(600);
/// The least that it may say.
const LEAST_PAUSE: u64 = 10_000;
/// The keys of a table.
const KEYS: [&str; 4] = ["when", "call", "args", "every"];

/// A call that is made when there is news.
#[derive(Clone, Debug)]
pub struct Reaction {
    /// The organs whose news it is for.
    pub when: GlobMatcher,
    /// The tool.
    pub call: String,
    /// Its arguments.
    pub args: Map<String, Value>,
    /// The least time between two calls.
    pub every: Duration,
    /// The place where it was written.
    pub origin: Origin,
}

/// Reads the tables; every mistake is added to `problems`. A project may have none.
pub(super) fn read(written: Written, of_project: bool, problems: &mut Vec<Problem>) -> Vec<Reaction> {
    if of_project {
        let why = "`attention.reaction` is ignored in a project's file, because a repository must not have calls made by themselves";
        problems.push(Problem::new(written.origin, why).hint("put it in ~/.config/tectum/tectum.toml"));
        return Vec::new();
    }
    let Form::List(tables) = written.form else {
        let message = format!("`{TABLE}` is a list of tables, got {}", written.form.described());
        problems
            .push(Problem::new(written.origin, message).hint(format!("write [[{TABLE}]] with two brackets")));
        return Vec::new();
    };
    tables.into_iter().filter_map(|table| one(table, problems)).collect()
}

fn one(table: Written, problems: &mut Vec<Problem>) -> Option<Reaction> {
    let origin = table.origin;
    let Form::Table(fields) = table.form else {
        problems.push(Problem::new(origin, format!("each `{TABLE}` is a table")));
        return None;
    };
    let before = problems.len();
    let (mut when, mut call, mut args, mut every) = (None, None, Map::new(), USUAL_PAUSE);
    for Field { name, origin, value } in fields {
        let mut wrong = |why: String| problems.push(Problem::new(origin.clone(), why));
        match (&*name, &value.form) {
            ("when", Form::Text(glob)) => match Glob::new(glob) {
                Ok(glob) => when = Some(glob.compile_matcher()),
                Err(error) => wrong(format!("`{glob}` is not a valid pattern: {}", error.kind())),
            },
            ("call", Form::Text(tool)) if !tool.is_empty() => call = Some(tool.clone()),
            ("args", form @ Form::Table(_)) => match json(form) {
                Some(Value::Object(members)) => args = members,
                _ => wrong("`args` holds something that JSON has no word for".into()),
            },
            ("every", form) => match form.milliseconds().filter(|every| *every >= LEAST_PAUSE) {
                Some(millis) => every = Duration::from_millis(millis),
                None => wrong(format!("`every` is a time of at least 10 s, got {}", form.described())),
            },
            ("when" | "call" | "args", form) => {
                let kind = if name == "args" { "a table" } else { "a text" };
                wrong(format!("`{name}` is {kind}, got {}", form.described()));
            }
            _ => problems.push(Problem::unknown(origin, &format!("key in [[{TABLE}]]:"), &name, &KEYS)),
        }
    }
    for (name, is_there) in [("when", when.is_some()), ("call", call.is_some())] {
        if !is_there && problems.len() == before {
            let hint = "write when = \"mcp:ci:*\" and call = \"TOOL\"";
            problems.push(Problem::new(origin.clone(), format!("a reaction needs `{name}`")).hint(hint));
        }
    }
    (problems.len() == before).then_some(())?;
    Some(Reaction { when: when?, call: call?, args, every, origin })
}

fn json(form: &Form) -> Option<Value> {
    Some(match form {
        Form::Text(text) => text.clone().into(),
        Form::Number(number) => (*number).into(),
        Form::Flag(flag) => (*flag).into(),
        Form::Fraction(number) => (*number).into(),
        Form::List(list) => Value::Array(list.iter().map(|one| json(&one.form)).collect::<Option<_>>()?),
        Form::Table(fields) => {
            let member = |field: &Field| Some((field.name.clone(), json(&field.value.form)?));
            Value::Object(fields.iter().map(member).collect::<Option<_>>()?)
        }
        Form::Null => Value::Null,
        Form::Other(_) => return None,
    })
}

//! The contradictions in an entry, as far as the entry alone shows them.

use super::{
    super::place::{Origin, Problem},
    Entry,
    address::is_address,
    entry::Values,
    keys,
    variables::is_unclosed,
};

/// A text that may hold variables, and where it stands.
pub(super) struct Templated<'v> {
    pub(super) text: &'v str,
    origin: &'v Origin,
}

/// Every text of an entry that may hold variables.
pub(super) fn texts(values: &Values) -> Vec<Templated<'_>> {
    let items = [&keys::COMMAND, &keys::ARGS].into_iter().flat_map(|key| values.list(key));
    let fields = [&keys::ENV, &keys::HEADERS].into_iter().flat_map(|key| values.table(key));
    let words = [&keys::CWD, &keys::URL].into_iter();
    let words =
        words.filter_map(|key| Some(Templated { text: values.word(key)?, origin: values.origin(key)? }));
    items
        .chain(fields.map(|(_, item)| item))
        .map(|item| Templated { text: &item.text, origin: &item.origin })
        .chain(words)
        .collect()
}

/// The contradictions in an entry that says what the server is.
pub(super) fn contradictions(entry: &Entry) -> Vec<Problem> {
    let values = &entry.values;
    let mut problems = Vec::new();
    let mut say = |origin: Option<&Origin>, message: String, hint: &str| {
        let origin = origin.unwrap_or(&entry.origin).clone();
        problems.push(Problem::new(origin, format!("`servers.{}` {message}", entry.name)).hint(hint));
    };
    for (name, item) in values.table(&keys::ENV) {
        if name.is_empty() || name.contains(['=', '\0']) {
            say(
                Some(&item.origin),
                format!("has an invalid environment variable name: {name:?}"),
                "rename it",
            );
        }
    }
    for (name, item) in values.table(&keys::HEADERS) {
        let legal = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
        if name.is_empty() || !name.chars().all(legal) {
            say(Some(&item.origin), format!("has an invalid header name: {name:?}"), "rename it");
        }
    }
    if let (Some(timeout), Some(most)) = (values.number(&keys::TIMEOUT), values.number(&keys::MAX_TIMEOUT))
        && timeout > most
    {
        say(
            values.origin(&keys::MAX_TIMEOUT),
            "has a `max_timeout` below its `timeout`".into(),
            "raise `max_timeout` or lower `timeout`",
        );
    }
    if let Some(item) = texts(values).into_iter().find(|item| is_unclosed(item.text)) {
        let hint = "close it with `}`, or write `$${` for the characters";
        say(Some(item.origin), "has a `${` that is not closed".into(), hint);
    }
    // What a variable stands for is seen when it is filled in.
    if values.word(&keys::URL).is_some_and(|url| !url.contains('$') && !is_address(url)) {
        let hint = "write it as http://host/path or https://host/path";
        say(values.origin(&keys::URL), "has a `url` that is not a URL".into(), hint);
    }
    let (command, url) = (values.origin(&keys::COMMAND), values.origin(&keys::URL));
    match (command, url) {
        (Some(_), Some(url)) => {
            say(Some(url), "has both a `command` and a `url`".into(), "keep only one of them");
        }
        (Some(_), None) if entry.kind() != "stdio" => say(
            values.origin(&keys::TYPE),
            format!("starts a command and cannot be of type {}", entry.kind()),
            "leave `type` out, or give a `url` instead of the command",
        ),
        (None, Some(_)) if entry.kind() == "stdio" => say(
            values.origin(&keys::TYPE),
            "has a `url` and cannot be of type stdio".into(),
            "leave `type` out, or give a `command` instead of the url",
        ),
        _ => {}
    }
    problems
}

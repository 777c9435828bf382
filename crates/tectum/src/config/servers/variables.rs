//! Variables in what a file says about a server: `${NAME}` and its kin become values, or the
//! server does not start. Nothing that looks like a variable is ever passed on as it stands.

use std::{collections::BTreeMap, ffi::OsString, path::Path};

use super::{super::environment::INPUT, entry::Dialect};

/// The longest text that variables may grow to: no system takes a longer argument.
const MOST_TEXT: usize = 128 << 10;
/// The greatest depth of defaults in defaults.
const MOST_DEPTH: usize = 8;

/// The sources of the values of variables.
#[derive(Clone, Copy, Debug)]
pub struct Scope<'s> {
    /// The environment.
    pub environment: &'s BTreeMap<OsString, OsString>,
    /// The served directory: `${workspaceFolder}`.
    pub directory: &'s Path,
    /// The user's home: `${userHome}`.
    pub home: Option<&'s Path>,
    /// Answers that are kept, by id: `${input:id}`.
    pub inputs: &'s BTreeMap<String, String>,
    /// The descriptions of inputs in the file.
    pub described: &'s BTreeMap<String, String>,
}

/// The reason why a text has no value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unfilled {
    /// The missing value, in words.
    pub message: String,
    /// The next step for the user.
    pub hint: String,
}

/// The text with every variable replaced by its value.
pub fn fill(text: &str, dialect: Dialect, scope: Scope<'_>) -> Result<String, Unfilled> {
    filled(text, dialect, scope, 0)
}

/// True if this can be the name of an environment variable.
pub fn is_name(text: &str) -> bool {
    let starts = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    starts && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// The variable that answers an input.
pub fn input_variable(id: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' };
    format!("{INPUT}{}", id.chars().map(plain).collect::<String>())
}

fn filled(text: &str, dialect: Dialect, scope: Scope<'_>, depth: usize) -> Result<String, Unfilled> {
    if depth > MOST_DEPTH {
        return Err(unfilled("the defaults of variables are nested too deeply", "write it more simply"));
    }
    let (mut out, mut rest) = (String::new(), text);
    while let Some(at) = rest.find('$') {
        out.push_str(&rest[..at]);
        let after = &rest[at + 1..];
        if let Some(literal) = after.strip_prefix("${") {
            out.push_str("${");
            rest = literal;
        } else if let Some(inside) = after.strip_prefix('{') {
            let Some(end) = closing(inside) else {
                return Err(unfilled(
                    "a `${` is not closed",
                    "close it with `}`, or write `$${` for the characters",
                ));
            };
            out.push_str(&value(&inside[..end], dialect, scope, depth)?);
            rest = &inside[end + 1..];
        } else {
            let end = after.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(after.len());
            if dialect == Dialect::Gemini && is_name(&after[..end]) {
                out.push_str(&variable(&after[..end], scope)?);
                rest = &after[end..];
            } else {
                out.push('$');
                rest = after;
            }
        }
        if out.len() > MOST_TEXT {
            break;
        }
    }
    out.push_str(rest);
    if out.len() > MOST_TEXT {
        let message = format!("with its variables replaced it is longer than {MOST_TEXT} bytes");
        return Err(unfilled(message, "pass such values in a file"));
    }
    Ok(out)
}

/// True if a `${` is never closed, whatever its variable may be.
pub(super) fn is_unclosed(text: &str) -> bool {
    let mut rest = text;
    while let Some(at) = rest.find('$') {
        let after = &rest[at + 1..];
        rest = match (after.strip_prefix("${"), after.strip_prefix('{')) {
            (Some(literal), _) => literal,
            (None, Some(inside)) => match closing(inside) {
                Some(end) => &inside[end + 1..],
                None => return true,
            },
            (None, None) => after,
        };
    }
    false
}

/// The place where the brace that is open closes.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    let bytes = text.as_bytes();
    for (at, byte) in bytes.iter().enumerate() {
        match byte {
            b'{' if at > 0 && bytes[at - 1] == b'$' => depth += 1,
            b'}' if depth == 0 => return Some(at),
            b'}' => depth -= 1,
            _ => {}
        }
    }
    None
}

fn value(inside: &str, dialect: Dialect, scope: Scope<'_>, depth: usize) -> Result<String, Unfilled> {
    if let Some(id) = inside.strip_prefix("input:") {
        return input(id, scope);
    }
    let name = inside.strip_prefix("env:").unwrap_or(inside);
    if let Some((name, default)) = name.split_once(":-").filter(|(name, _)| is_name(name)) {
        return match lookup(name, scope)? {
            Some(value) if !value.is_empty() => Ok(value),
            _ => filled(default, dialect, scope, depth + 1),
        };
    }
    let path = |path: &Path, what: &str| match path.to_str() {
        Some(path) => Ok(path.to_owned()),
        None => Err(unfilled(format!("`${{{what}}}` is a path that is not UTF-8"), "write the path itself")),
    };
    match inside {
        "workspaceFolder" => path(scope.directory, inside),
        "workspaceFolderBasename" => {
            path(scope.directory.file_name().map_or(Path::new("/"), Path::new), inside)
        }
        "userHome" => match scope.home {
            Some(home) => path(home, inside),
            None => Err(unfilled("`${userHome}` has no value, since HOME is not set", "set HOME")),
        },
        "pathSeparator" | "/" => Ok("/".into()),
        _ if is_name(name) => variable(name, scope),
        // What stands there may be part of a secret; only what is plainly a kind is repeated.
        _ => Err(unfilled(
            match inside.split_once(':').filter(|(kind, _)| is_name(kind)) {
                Some((kind, _)) => format!("`${{{kind}:…}}` is an unknown variable"),
                None => "a `${…}` is an unknown variable".into(),
            },
            "use ${NAME}, ${NAME:-default}, ${env:NAME}, ${input:id}, ${workspaceFolder} or ${userHome}; \
             write `$${` for the characters",
        )),
    }
}

fn variable(name: &str, scope: Scope<'_>) -> Result<String, Unfilled> {
    lookup(name, scope)?.ok_or_else(|| {
        let message = format!("the environment variable {name} is not set");
        unfilled(message, format!("set {name} where Tectum is started, or write ${{{name}:-default}}"))
    })
}

fn lookup(name: &str, scope: Scope<'_>) -> Result<Option<String>, Unfilled> {
    match scope.environment.get(&OsString::from(name)) {
        None => Ok(None),
        Some(value) => match value.to_str() {
            Some(value) => Ok(Some(value.to_owned())),
            None => Err(unfilled(
                format!("the environment variable {name} is not UTF-8"),
                "set it to text in UTF-8",
            )),
        },
    }
}

fn input(id: &str, scope: Scope<'_>) -> Result<String, Unfilled> {
    let name = input_variable(id);
    if let Some(value) = lookup(&name, scope)? {
        return Ok(value);
    }
    if let Some(value) = scope.inputs.get(id) {
        return Ok(value.clone());
    }
    let shown = super::spoken::text(id);
    let words = match scope.described.get(id).filter(|words| !words.is_empty()) {
        Some(words) => format!(" ({})", super::spoken::text(words)),
        None => String::new(),
    };
    Err(unfilled(
        format!("the input `{shown}`{words} has no value"),
        format!("store one with `tectum input {shown}`, or set {name} where Tectum is started"),
    ))
}

fn unfilled(message: impl Into<String>, hint: impl Into<String>) -> Unfilled {
    Unfilled { message: message.into(), hint: hint.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn try_fill(text: &str, dialect: Dialect) -> Result<String, Unfilled> {
        let set =
            [("A", "one"), ("EMPTY", ""), ("TECTUM_INPUT_API_KEY", "secret"), ("BIG", &"x".repeat(70_000))];
        let environment = set.iter().map(|(k, v)| (OsString::from(k), OsString::from(v))).collect();
        let inputs = BTreeMap::from([("kept".to_owned(), "answer".to_owned())]);
        let described = BTreeMap::from([("ask".to_owned(), "Your key".to_owned())]);
        let scope = Scope {
            environment: &environment,
            directory: Path::new("/project"),
            home: Some(Path::new("/home/me")),
            inputs: &inputs,
            described: &described,
        };
        fill(text, dialect, scope)
    }

    #[test]
    fn every_form_has_its_value() {
        for (text, expect) in [
            ("plain", "plain"),
            ("${A}", "one"),
            ("-${A}-${A}-", "-one-one-"),
            ("${A:-two}", "one"),
            ("${NOT:-two}", "two"),
            ("${NOT:-}", ""),
            ("${EMPTY:-two}", "two"),
            ("${EMPTY}", ""),
            ("${NOT:-${A}/x}", "one/x"),
            ("${NOT:-a}b}", "ab}"),
            ("${env:A}", "one"),
            ("${env:NOT:-two}", "two"),
            ("${workspaceFolder}/src", "/project/src"),
            ("${workspaceFolderBasename}", "project"),
            ("${userHome}", "/home/me"),
            ("a${/}b", "a/b"),
            ("${input:api-key}", "secret"),
            ("${input:kept}", "answer"),
            ("$A $$ $ 5$", "$A $$ $ 5$"),
            ("$${A}", "${A}"),
            ("ü${A}ü", "üoneü"),
        ] {
            assert_eq!(try_fill(text, Dialect::Plain).as_deref(), Ok(expect), "{text}");
        }
        for (text, expect) in [("$A/x", "one/x"), ("${A}", "one"), ("$5 $", "$5 $"), ("$${A}", "${A}")] {
            assert_eq!(try_fill(text, Dialect::Gemini).as_deref(), Ok(expect), "{text}");
        }
    }

    #[test]
    fn what_has_no_value_is_named() {
        for (text, expect) in [
            ("${NOT}", "the environment variable NOT is not set"),
            ("${env:NOT}", "the environment variable NOT is not set"),
            ("${NOT:-${ALSO}}", "the environment variable ALSO is not set"),
            ("${input:ask}", "the input `ask` (Your key) has no value"),
            ("${input:}", "the input `` has no value"),
            ("${A", "a `${` is not closed"),
            ("${}", "a `${…}` is an unknown variable"),
            ("${command:x}", "`${command:…}` is an unknown variable"),
            ("${a b}", "a `${…}` is an unknown variable"),
            ("${BIG}${BIG}", "with its variables replaced it is longer than 131072 bytes"),
        ] {
            assert_eq!(try_fill(text, Dialect::Plain).expect_err(text).message, expect);
        }
        assert!(try_fill("$NOT", Dialect::Gemini).expect_err("unset").message.contains("NOT"));
        let deep = "${NOT:-".repeat(20) + &"}".repeat(20);
        assert!(try_fill(&deep, Dialect::Plain).expect_err("deep").message.contains("too deep"));
        let ask = try_fill("${input:ask}", Dialect::Plain).expect_err("unanswered");
        assert!(ask.hint.contains("tectum input ask") && ask.hint.contains("TECTUM_INPUT_ASK"), "{ask:?}");
    }
}

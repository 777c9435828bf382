//! Values that a text gives to a name which means a secret: `password=…`, `"api_key": "…"`,
//! `X-Api-Key: …`. Only the value is hidden. Code that passes such a value on is left alone where
//! it can be told from a value; where it cannot, it is hidden.

use std::borrow::Cow;

use regex::{Captures, Regex};

/// A name, the sign that gives it a value, and the value: in quotes or bare. The name may go on to
/// the left; matching begins at its telling part, which is what makes it quick.
const ASSIGNED: &str = r#"(?ix)
    (?: (?:passw(?:or)?d|passphrase|secret|api[_-]?key|private[_-]?key|access[_-]?key|credential) [a-z0-9_-]*
      | token | authorization )
    (?P<sign> \\*["']? [\ \t]* (?: :=? | =>? ) [\ \t]* )
    (?: \\*" (?P<double> [^"\r\n]+ )
      | \\*' (?P<single> [^'\r\n]+ )
      | (?P<bare> [^\s"'`,;&(){}\[\]<>=:] [^\s"'`,;&(){}\[\]<>]* ) )"#;

/// Words that stand in a value's place in code and in forms, and are none.
const NO_VALUES: &[&str] = &[
    "any",
    "bool",
    "boolean",
    "bytes",
    "char",
    "false",
    "int",
    "none",
    "null",
    "nil",
    "number",
    "object",
    "optional",
    "required",
    "str",
    "string",
    "text",
    "true",
    "undefined",
    "unset",
    "void",
];

/// A number with fewer digits is a count or a flag rather than a secret.
const FEW_DIGITS: usize = 4;

/// Finds values of secret names.
#[derive(Debug)]
pub(crate) struct Assigned(Regex);

impl Assigned {
    pub(crate) fn new() -> Result<Self, String> {
        Regex::new(ASSIGNED).map(Self).map_err(|error| error.to_string())
    }

    /// The text with `hidden` in the place of every such value.
    pub(crate) fn hide<'t>(&self, text: &'t str, hidden: &str) -> Cow<'t, str> {
        let mut out = String::new();
        let mut kept = 0;
        for found in self.0.captures_iter(text) {
            let Some(value) = secret(text, &found) else { continue };
            out.push_str(&text[kept..value.start]);
            out.push_str(hidden);
            kept = value.end;
        }
        if kept == 0 {
            return Cow::Borrowed(text);
        }
        out.push_str(&text[kept..]);
        Cow::Owned(out)
    }
}

fn secret(text: &str, found: &Captures<'_>) -> Option<std::ops::Range<usize>> {
    if let Some(quoted) = found.name("double").or_else(|| found.name("single")) {
        return Some(quoted.range());
    }
    let (bare, sign) = (found.name("bare")?, found.name("sign")?);
    let (before, after) = (&text[..found.get(0)?.start()], &text[bare.end()..]);
    is_value(bare.as_str(), sign.as_str(), before, after).then(|| bare.range())
}

/// Whether a bare word is a value rather than code.
fn is_value(word: &str, sign: &str, before: &str, after: &str) -> bool {
    // A call, an index, a type with parameters, a path.
    if after.starts_with(['(', '[', '{', '<']) || word.contains("::") {
        return false;
    }
    let plain = word.trim_end_matches(['.', ':', '!', '?', '*']);
    let letters = plain.trim_end_matches(|c: char| c.is_ascii_digit());
    let lower = letters.to_ascii_lowercase();
    if letters.is_empty() {
        return plain.len() >= FEW_DIGITS;
    }
    let sized = letters.len() < plain.len() && ["i", "u", "f", "int", "uint", "float"].contains(&&*lower);
    if sized || NO_VALUES.contains(&&*lower) {
        return false;
    }
    let part = |part: &str| {
        part.starts_with(|c: char| c.is_alphabetic() || c == '_')
            && part.chars().all(|c| c.is_alphabetic() || c == '_')
    };
    if !plain.split('.').all(part) {
        return true;
    }
    // What is left is a word as variables and fields have them.
    if plain.contains('.') {
        return false;
    }
    if sign == "=" {
        return !before.trim_end_matches(|c: char| c.is_alphanumeric() || c == '_').ends_with('(');
    }
    if after.starts_with(['"', '\'', '\\']) {
        return true;
    }
    let named = before.rsplit(['\n', '\r']).next().unwrap_or_default();
    let starts = named.chars().all(|c| c.is_alphanumeric() || " \t_.-\"'".contains(c));
    let rest = after.split(['\n', '\r']).next().unwrap_or_default().trim_start();
    let type_name = plain.starts_with(|c: char| c.is_ascii_uppercase());
    starts && !named.trim().contains(' ') && (rest.is_empty() || rest.starts_with('#')) && !type_name
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: &str) {
        assert_eq!(Assigned::new().expect("built in").hide(text, "[-]"), expect);
    }

    #[test]
    fn values_of_secret_names_go_and_names_stay() {
        for (text, expect) in [
            ("X-Api-Key: abcdef123456", "X-Api-Key: [-]"),
            ("curl -H 'X-Api-Key: abcdefgh' x", "curl -H 'X-Api-Key: [-]' x"),
            ("Token::Ident => 1,", "Token::Ident => 1,"),
            ("password=hunter2", "password=[-]"),
            ("PASSWORD=hunter", "PASSWORD=[-]"),
            ("user=bob;Password=hunter;x=1", "user=bob;Password=[-];x=1"),
            (r#""password": "hunter2""#, r#""password": "[-]""#),
            (r#"{\"password\": \"hunter2\", \"a\": 1}"#, r#"{\"password\": \"[-]", \"a\": 1}"#),
            ("db_password: hunter2", "db_password: [-]"),
            ("a:\n  db_password: correct\n  b: 1", "a:\n  db_password: [-]\n  b: 1"),
            ("password = correct # mine", "password = [-] # mine"),
            ("api_key = \"zzz111222333\"", "api_key = \"[-]\""),
            ("const apiKey = 'zzz';", "const apiKey = '[-]';"),
            ("accessToken: 'a b', x: 1", "accessToken: '[-]', x: 1"),
            ("passwd: 123456", "passwd: [-]"),
            ("client_secret := \"x\"", "client_secret := \"[-]\""),
            ("{:secret_key => 'x'}", "{:secret_key => '[-]'}"),
            ("password=a password=b", "password=[-] password=[-]"),
        ] {
            check(text, expect);
        }
    }

    #[test]
    fn code_that_passes_a_value_on_stays() {
        for code in [
            "password = get()",
            "def f(password: str, token: Optional[str] = None):",
            "let token = next_token();",
            "if password == given { secret() }",
            "struct A { secret: u64, token: Token, password: String }",
            "connect(password=password)",
            "x.token = self.token",
            "secret: [u8; 32],",
            "token => parse(token),",
            "private_key: &'a str",
            "max_tokens = 4096, tokens: 5",
            "token: 0",
            "secret = Some(x);",
            "the token: a word for the wise",
            "password: SecretStr",
            "api_key=None",
        ] {
            check(code, code);
        }
    }
}

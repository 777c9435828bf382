//! Values that a text gives to a name which means a secret: `password=…`, `"api_key": "…"`,
//! `X-Api-Key: …`, `<secret>…</secret>`. Only the value is hidden. Code that passes such a value on
//! is left alone where it can be told from a value; where it cannot, it is hidden.

use std::{borrow::Cow, ops::Range};

use regex::Regex;

use crate::literal;

/// The telling part of a name and the sign that gives it a value. The name may go on to the left;
/// matching begins at its telling part, which is what makes it quick.
const ASSIGNED: &str = r#"(?ix)
    (?: (?:passw(?:or)?d|passphrase|secret|api[_-]?key|private[_-]?key|access[_-]?key|credential) [a-z0-9_-]*
      | (?-i:TOKEN[A-Z0-9_]*) | token | authorization )
    (?P<sign> \\*["'`]? [\ \t]* (?: :=? | =>? ) [\ \t]* | > )"#;

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

/// Parts of names under which a number is a measure of secrets and none itself.
const MEASURES: &[&str] = &[
    "count",
    "days",
    "expires",
    "expiry",
    "hours",
    "iterations",
    "len",
    "length",
    "limit",
    "max",
    "min",
    "minutes",
    "rounds",
    "seconds",
    "size",
    "timeout",
    "tokens",
    "ttl",
    "version",
];

/// A number with fewer digits is a count or a flag rather than a secret.
const FEW_DIGITS: usize = 4;
/// So much of a bare word tells what it is. Without a bound, names in names would be read again and
/// again.
const TELLING: usize = 256;

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
        let (mut kept, mut at) = (0, 0);
        while let Some(found) = self.0.captures_at(text, at) {
            let (Some(whole), Some(sign)) = (found.get(0), found.name("sign")) else { break };
            at = sign.end();
            let Some(value) = Place::new(text, whole.start(), sign.range()).secret() else { continue };
            out.push_str(&text[kept..value.start]);
            out.push_str(hidden);
            kept = value.end;
            at = value.end;
        }
        if kept == 0 {
            return Cow::Borrowed(text);
        }
        out.push_str(&text[kept..]);
        Cow::Owned(out)
    }
}

/// A name and a sign, and what stands around them.
struct Place<'t> {
    text: &'t str,
    name: &'t str,
    /// What stands before the telling part of the name.
    before: &'t str,
    sign: &'t str,
    /// Where the value begins, if there is one.
    at: usize,
}

impl<'t> Place<'t> {
    fn new(text: &'t str, telling: usize, sign: Range<usize>) -> Self {
        let before = &text[..telling];
        let start = before.trim_end_matches(|c: char| c.is_alphanumeric() || "_-".contains(c)).len();
        Self { text, name: &text[start..sign.start], before, sign: &text[sign.clone()], at: sign.end }
    }

    fn secret(&self) -> Option<Range<usize>> {
        if self.sign == ">" {
            let tag = &self.text[..self.at - 1 - self.name.len()];
            return if tag.ends_with(['<', ':']) { literal::element(self.text, self.at) } else { None };
        }
        literal::quoted(self.text, self.at)
            .or_else(|| literal::block(self.text, self.at))
            .or_else(|| self.typed())
            .or_else(|| self.bare())
    }

    /// A text in quotes behind the name's type: `password: str = "…"`.
    fn typed(&self) -> Option<Range<usize>> {
        if !self.sign.trim().ends_with(':') {
            return None;
        }
        literal::quoted(self.text, literal::past_type(self.text, self.at)?)
    }

    fn bare(&self) -> Option<Range<usize>> {
        let rest = &self.text[self.at..];
        if rest.starts_with(['=', ':', '~']) {
            return None;
        }
        // In an environment file and on a command line the value goes on to the next space.
        let is_setting = self.sign == "=" && !self.name.contains(|c: char| c.is_lowercase());
        let stops = if is_setting { "\"'`" } else { "\"'`,;&(){}[]<>" };
        let until = |text: &str| text.find(|c: char| c.is_whitespace() || stops.contains(c));
        let telling = &rest[..rest.floor_char_boundary(TELLING)];
        let word = &telling[..until(telling).unwrap_or(telling.len())];
        let is_secret = match is_setting {
            _ if word.is_empty() || self.is_measure(word) => false,
            true => word.len() >= FEW_DIGITS || !word.bytes().all(|byte| byte.is_ascii_digit()),
            false => is_value(word, self.sign, self.before, &rest[word.len()..]),
        };
        is_secret.then(|| self.at..self.at + until(rest).unwrap_or(rest.len()))
    }

    fn is_measure(&self, word: &str) -> bool {
        let is_number = word.bytes().all(|byte| byte.is_ascii_digit() || byte == b'_');
        let mut parts = self.name.split(['_', '-']).map(str::to_ascii_lowercase);
        is_number && parts.any(|part| MEASURES.contains(&&*part))
    }
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
    let named = &before[before.ceil_char_boundary(before.len().saturating_sub(TELLING))..];
    let named = named.rsplit(['\n', '\r']).next().unwrap_or_default();
    let starts = named.chars().all(|c| c.is_alphanumeric() || " \t_.-\"'".contains(c));
    let rest = after.trim_start_matches([' ', '\t']);
    let type_name = plain.starts_with(|c: char| c.is_ascii_uppercase());
    starts
        && !named.trim().contains(' ')
        && (rest.is_empty() || rest.starts_with(['\n', '\r', '#']))
        && !type_name
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
            (r#"{\"password\": \"hunter2\", \"a\": 1}"#, r#"{\"password\": \"[-]\", \"a\": 1}"#),
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
            (r#"password = "a\"b" c"#, r#"password = "[-]" c"#),
            ("password = b'hunter2'", "password = b'[-]'"),
            ("password: str = \"hunter2\"", "password: str = \"[-]\""),
            ("static API_KEY: &'static str = \"x\";", "static API_KEY: &'static str = \"[-]\";"),
            ("token: Dict[str, str] = 'x'", "token: Dict[str, str] = '[-]'"),
            ("a:\n  password: |\n    hunter\n\n    two\n  b: 1", "a:\n  password: |\n    [-]\n  b: 1"),
            ("tls_secret: >-  # mine\n  hunter\nb: 1", "tls_secret: >-  # mine\n  [-]\nb: 1"),
            ("<password>hunter2</password>", "<password>[-]</password>"),
            ("<db:Secret>a b</db:Secret>", "<db:Secret>[-]</db:Secret>"),
            ("DB_PASSWORD=a(b;c,d next", "DB_PASSWORD=[-] next"),
            ("GITHUB_TOKEN_2='x y'", "GITHUB_TOKEN_2='[-]'"),
            ("SECRET_KEY=\"\"\"two\nlines\"\"\"", "SECRET_KEY=\"\"\"[-]\"\"\""),
            ("`password`: `hunter2`", "`password`: `[-]`"),
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
            "MAX_TOKENS = 4096",
            "MAX_TOKENS=128000",
            "SECRET_TTL=86400",
            "TOKEN_KINDS = [A, B]",
            "API_KEY = os.environ[name]",
            "SECRET = load_secret()",
            "f(token: str, name=\"y\")",
            "fn f(a: Option<Token>, b: Vec<u8>) {}",
            "if TOKEN == other {",
        ] {
            check(code, code);
        }
    }
}

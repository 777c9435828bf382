//! What records and copies do not show: values under names that mean a secret, and texts that
//! look like one. Only what is hidden changes; every other byte of the JSON stays as it was. What
//! is executed never passes here.

use std::borrow::Cow;

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use regex::Regex;

use crate::assigned::Assigned;

/// What stands where something was hidden.
const HIDDEN: &str = "[redacted]";

/// Names whose values are secrets, in any letter case.
const NAMES: &[&str] = &[
    "*password*",
    "*passwd*",
    "passphrase",
    "*secret*",
    "*token",
    "*apikey*",
    "*api_key*",
    "*api-key*",
    "*private_key*",
    "*private-key*",
    "*privatekey*",
    "*credential",
    "*credentials",
    "authorization",
    "proxy-authorization",
    "cookie",
    "set-cookie",
];

/// Texts that are secrets whatever they are called: keys of well-known issuers, credentials in
/// headers, addresses and command lines. What a name says about the value
/// beside it is [`Assigned`]. Boundaries are those of ASCII: others make a text with any other letter
/// fifty times as slow.
const TEXTS: &[&str] = &[
    r"-----BEGIN [A-Z ]*PRIVATE KEY-----(?s:.)*?(?:-----END [A-Z ]*PRIVATE KEY-----|\z)",
    r"(?-u:\b)(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,}|glpat-[A-Za-z0-9_-]{16,})",
    r"(?-u:\b)(?:sk|rk|pk)[-_](?:live|test|ant|proj|or)[-_][A-Za-z0-9_-]{12,}",
    r"(?-u:\b)sk-[A-Za-z0-9_-]{20,}",
    r"(?-u:\b)(?:AKIA|ASIA)[0-9A-Z]{16}(?-u:\b)",
    r"(?-u:\b)AIza[0-9A-Za-z_-]{30,}",
    r"(?-u:\b)ya29\.[0-9A-Za-z_-]{20,}",
    r"(?-u:\b)xox[abprs]-[0-9A-Za-z-]{10,}",
    r"(?-u:\b)(?:npm_[A-Za-z0-9]{30,}|pypi-[A-Za-z0-9_-]{30,}|hf_[A-Za-z0-9]{20,}|dop_v1_[a-f0-9]{40,})",
    r"(?-u:\b)eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}",
    r"(?i)(?-u:\b)(?:bearer|basic)\s+[A-Za-z0-9._~+/-]{12,}=*",
    r"(?i)(?-u:\b)authorization:\s*(?:bearer|basic|token|digest|negotiate|api-?key|aws4[a-z0-9-]*)\s+[^\r\n'\x22]+",
    r"(?i)(?-u:\b)(?:set-)?cookie:\s*[^\s=;,'\x22]+=(?:\x22[^\x22\r\n]*\x22|[^\r\n'\x22])*",
    r"(?i)(?-u:\b)[a-z][a-z0-9+.-]*://[^/\s:@]*:[^/\s@]+@",
    r"(?i)[?&](?:access_token|api_?key|auth|key|password|secret|sig|signature|token)=[^&\s]+",
    r"(?i)--?[a-z0-9-]*(?:api-?key|password|passwd|passphrase|requirepass|secret|token)[= ]\S+",
    r"(?-u:\b)curl(?-u:\b)[^\r\n;|]*?\s(?:-u|-U|--user|--proxy-user)[= ]?['\x22]?[^\s:'\x22=]+:[^\s'\x22]+",
    r"(?-u:\b)sshpass\s+-p\s*\S+",
    r"(?-u:\b)(?:mysql|mysqldump|mysqladmin|mariadb)(?-u:\b)[^\r\n;|]*?\s-p[^\s'\x22;|]+",
    r"(?i)(?-u:\b)(?:identified\s+by|with\s+(?:encrypted\s+)?password|set\s+password)\s+'[^'\r\n]+'",
    r"(?-u:\b)login\s+\S+\s+password\s+\S+",
    r"(?-u:\b)ENV[ \t]+[A-Z0-9_]*(?:PASSWORD|PASSWD|SECRET|TOKEN|API_KEY)[A-Z0-9_]*[ \t]+[^\s=][^\r\n]*",
];

/// What is hidden.
#[derive(Debug)]
pub struct Redactor {
    names: GlobSet,
    texts: Option<(Regex, Assigned)>,
}

impl Redactor {
    /// Hides nothing.
    pub fn none() -> Self {
        Self { names: GlobSet::empty(), texts: None }
    }

    /// Hides what is known to be secret everywhere, the values under these names (globs, in any
    /// letter case) and whatever matches these regular expressions. The error names the bad one.
    pub fn new(names: &[String], texts: &[String]) -> Result<Self, String> {
        let mut set = GlobSetBuilder::new();
        for name in NAMES.iter().copied().chain(names.iter().map(String::as_str)) {
            set.add(name_glob(name)?);
        }
        for text in texts {
            check_text(text)?;
        }
        let all: Vec<String> = TEXTS
            .iter()
            .copied()
            .chain(texts.iter().map(String::as_str))
            .map(|t| format!("(?:{t})"))
            .collect();
        let texts =
            Regex::new(&all.join("|")).map_err(|error| format!("together they are too large: {error}"))?;
        let names = set.build().map_err(|error| error.to_string())?;
        Ok(Self { names, texts: Some((texts, Assigned::new()?)) })
    }

    /// The same JSON without what is hidden. What is no JSON is hidden whole.
    pub fn hide(&self, json: String) -> String {
        if self.names.is_empty() && self.texts.is_none() {
            return json;
        }
        let hiding = Hiding { of: self, json: &json, at: 0, out: String::new(), kept: 0 };
        match hiding.run() {
            Ok(None) => json,
            Ok(Some(hidden)) => hidden,
            Err(NotJson) => format!("{{\"omitted\":\"{HIDDEN}\"}}"),
        }
    }

    fn text<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let Some((texts, assigned)) = &self.texts else { return Cow::Borrowed(text) };
        match texts.replace_all(text, HIDDEN) {
            Cow::Borrowed(text) => assigned.hide(text, HIDDEN),
            Cow::Owned(text) => Cow::Owned(assigned.hide(&text, HIDDEN).into_owned()),
        }
    }
}

/// A glob over names, or why it is none.
pub fn name_glob(name: &str) -> Result<globset::Glob, String> {
    let glob = GlobBuilder::new(name).case_insensitive(true).build();
    glob.map_err(|error| format!("`{name}` is no pattern of names: {}", error.kind()))
}

/// Says why a regular expression cannot be used.
pub fn check_text(text: &str) -> Result<(), String> {
    match Regex::new(text) {
        Ok(regex) if regex.is_match("") => Err(format!("`{text}` matches every text; make it say more")),
        Ok(_) => Ok(()),
        Err(error) => Err(format!("`{text}` is no regular expression: {error}")),
    }
}

struct NotJson;

/// One pass over a text of JSON. `out` has what was written up to `kept`.
struct Hiding<'h> {
    of: &'h Redactor,
    json: &'h str,
    at: usize,
    out: String,
    kept: usize,
}

impl Hiding<'_> {
    fn run(mut self) -> Result<Option<String>, NotJson> {
        while let Some(quote) = memchr::memchr(b'"', &self.json.as_bytes()[self.at..]) {
            let start = self.at + quote;
            let end = self.string_end(start)?;
            self.at = end;
            let text = unquoted(&self.json[start..end])?;
            let colon = self.past_space(end);
            if self.json.as_bytes().get(colon) == Some(&b':') {
                if self.of.names.is_match(&*text) {
                    let value = self.past_space(colon + 1);
                    let after = self.value_end(value)?;
                    if !matches!(&self.json[value..after], "true" | "false" | "null") {
                        self.replace(value, after, HIDDEN);
                    }
                    self.at = after;
                }
                continue;
            }
            if let Cow::Owned(hidden) = self.of.text(&text) {
                self.replace(start, end, &hidden);
            }
        }
        if self.kept == 0 {
            return Ok(None);
        }
        self.out.push_str(&self.json[self.kept..]);
        Ok(Some(self.out))
    }

    fn replace(&mut self, start: usize, end: usize, text: &str) {
        self.out.push_str(&self.json[self.kept..start]);
        self.out.push_str(&serde_json::Value::from(text).to_string());
        self.kept = end;
    }

    fn past_space(&self, from: usize) -> usize {
        let rest = &self.json.as_bytes()[from..];
        from + rest.iter().position(|byte| !byte.is_ascii_whitespace()).unwrap_or(rest.len())
    }

    /// Where a string ends that starts here.
    fn string_end(&self, start: usize) -> Result<usize, NotJson> {
        let bytes = self.json.as_bytes();
        let mut at = start + 1;
        loop {
            at += memchr::memchr2(b'"', b'\\', bytes.get(at..).ok_or(NotJson)?).ok_or(NotJson)?;
            match bytes[at] {
                b'"' => return Ok(at + 1),
                _ => at += 2,
            }
        }
    }

    /// Where a value ends that starts here.
    fn value_end(&self, start: usize) -> Result<usize, NotJson> {
        let bytes = self.json.as_bytes();
        let (mut at, mut depth) = (start, 0_usize);
        loop {
            match bytes.get(at).ok_or(NotJson)? {
                b'"' => at = self.string_end(at)?,
                b'{' | b'[' => {
                    depth += 1;
                    at += 1;
                    continue;
                }
                b'}' | b']' | b',' if depth == 0 => return Ok(at),
                b'}' | b']' => {
                    depth -= 1;
                    at += 1;
                }
                _ => {
                    at += 1;
                    continue;
                }
            }
            if depth == 0 {
                return Ok(at);
            }
        }
    }
}

/// What a string of JSON says.
fn unquoted(string: &str) -> Result<Cow<'_, str>, NotJson> {
    let inner = &string[1..string.len() - 1];
    match memchr::memchr(b'\\', inner.as_bytes()) {
        None => Ok(Cow::Borrowed(inner)),
        Some(_) => serde_json::from_str(string).map(Cow::Owned).map_err(|_| NotJson),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hide(json: &str) -> String {
        Redactor::new(&[], &[]).expect("built in").hide(json.into())
    }

    #[test]
    fn nothing_to_hide_keeps_every_byte() {
        for json in
            [r#"{ "a" : 1.0e2 , "b\u0041":[ "x", {"n":123456789012345678901} ] }"#, "{}", "[]", "3", "\"x\""]
        {
            assert_eq!(hide(json), json);
        }
        let secret = r#"{"password":"x"}"#;
        assert_eq!(Redactor::none().hide(secret.into()), secret);
    }

    #[test]
    fn values_under_secret_names_go_whatever_they_are() {
        assert_eq!(
            hide(
                r#"{"n":1.0,"Password":"hunter2","api_key" : ["a",{"b":"}"}] ,"x":{"AccessToken":12,"p\u0061ssword":"q"},"secret":null,"max_tokens":7}"#
            ),
            r#"{"n":1.0,"Password":"[redacted]","api_key" : "[redacted]" ,"x":{"AccessToken":"[redacted]","p\u0061ssword":"[redacted]"},"secret":null,"max_tokens":7}"#
        );
    }

    #[test]
    fn texts_that_are_secrets_go_wherever_they_stand() {
        // Put together here, so that nobody takes this file for a leak.
        let [letters, capitals] = ["abcdefghijklmnopqrstuvwxyz0123456789", "ABCDEFGHIJKLMNOP"];
        for secret in [
            format!("ghp_{letters}"),
            format!("sk-ant-{letters}"),
            format!("AKIA{capitals}"),
            "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----".into(),
            "https://me:hunter2@example.com/x".into(),
            format!("Authorization: Bearer {letters}"),
            "DATABASE_PASSWORD=hunter2".into(),
            "export DATABASE_PASSWORD=\"a horse hunter2\"".into(),
            "curl --token hunter2hunter2".into(),
            format!("eyJ{letters}.eyJ{letters}.{letters}"),
            "https://x.example/?q=1&token=hunter2".into(),
            "Cookie: session=hunter2; b=\"hunter2\"".into(),
            "X-Api-Key: abcdefghij123".into(),
            "Authorization: token hunter2".into(),
            "curl -u bob:hunter2".into(),
            "curl --user=bob:hunter2".into(),
            "app --client-secret hunter2".into(),
            "password=hunter2".into(),
            "{\"password\": \"hunter2\"}".into(),
            "\ndb_password: hunter2\n".into(),
            "api_key = \"hunter2\"".into(),
            "mysql -u root -phunter2".into(),
            "redis-server --requirepass hunter2".into(),
            "CREATE USER bob IDENTIFIED BY 'hunter2'".into(),
            "CREATE ROLE bob WITH PASSWORD 'hunter2'".into(),
            "machine a.example login bob password hunter2".into(),
            "\nENV API_KEY hunter2\n".into(),
        ] {
            let json = serde_json::json!({ "command": format!("before {secret} after"), "list": [secret] })
                .to_string();
            let hidden = hide(&json);
            let parsed: serde_json::Value = serde_json::from_str(&hidden).expect("still JSON");
            let command = parsed["command"].as_str().expect("a text");
            assert!(command.contains("before") && command.contains(HIDDEN), "{secret}: {hidden}");
            for part in ["hunter2", "abcdefghij", "MIIE", "ABCDEFGHIJ"] {
                assert!(!hidden.contains(part), "{part} of {secret} is in {hidden}");
            }
        }
    }

    #[test]
    fn code_is_not_mistaken_for_secrets() {
        for text in [
            "let token = next_token(); if password == given { secret() } // a:b@c",
            "match token { Token::Ident => 1, Token::Eof => 0 }",
            "docker run -u 1000:1000 image; git push -u origin:main",
            "mysql -u root -p; mkdir -p a/b; the login form has a password field",
        ] {
            let json = serde_json::json!({ "code": text });
            assert_eq!(hide(&json.to_string()), json.to_string());
        }
    }

    #[test]
    fn what_the_settings_add_is_hidden_too_and_mistakes_are_named() {
        let redactor = Redactor::new(&["pin*".into()], &["X-[0-9]+".into()]).expect("fine");
        assert_eq!(
            redactor.hide(r#"{"PIN2":4711,"t":"a X-77 b"}"#.into()),
            r#"{"PIN2":"[redacted]","t":"a [redacted] b"}"#
        );
        for (names, texts, word) in [("[", "", "pattern"), ("", "(", "regular"), ("", "x*", "every text")] {
            let list = |text: &str| if text.is_empty() { vec![] } else { vec![text.to_owned()] };
            let said = Redactor::new(&list(names), &list(texts)).expect_err("refused");
            assert!(said.contains(word), "{said}");
        }
    }

    #[test]
    fn what_cannot_be_read_is_hidden_whole() {
        for broken in [r#"{"a":"password=x"#, r#"{"token": "#, r#"{"a":"\x"}"#] {
            assert_eq!(hide(broken), r#"{"omitted":"[redacted]"}"#);
        }
    }
}

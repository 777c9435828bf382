//! Hides secrets in records and copies: values under secret names, and texts that look like a secret.
//! Only hidden ranges change; every other byte stays as it was. What is executed never passes here.
//!
//! A text is searched as it is and with its layers of encoding removed, one after the other
//! ([`unfold`]); what is found is mapped back to the original bytes ([`view`]). Three tables define
//! secrets: [`kinds`] for tokens, [`names`] for names, [`rules`] for what comes before one.

mod assigned;
mod edits;
mod encoded;
mod finder;
mod json;
mod keys;
mod kinds;
mod lines;
mod literal;
mod names;
mod quiet;
mod rules;
mod tokens;
mod unfold;
mod view;
mod words;

use std::{borrow::Cow, sync::OnceLock};

use globset::{GlobBuilder, GlobSetBuilder};
use regex::Regex;

pub use edits::HIDDEN;
use finder::Finder;
use json::Secrets as _;
pub use lines::Lines;
pub use names::is_suspicious_parameter;

/// The redactor: the secrets that it hides.
#[derive(Debug)]
pub struct Redactor {
    finder: Option<Finder>,
}

impl Redactor {
    /// A redactor that hides nothing.
    pub fn none() -> Self {
        Self { finder: None }
    }

    /// Hides what is secret everywhere, the values under these names (globs, in any letter case) and
    /// whatever matches these regular expressions. The error names the bad one.
    pub fn new(names: &[String], texts: &[String]) -> Result<Self, String> {
        let mut set = GlobSetBuilder::new();
        for name in names {
            set.add(name_glob(name)?);
        }
        for text in texts {
            check_text(text)?;
        }
        let all = texts.iter().map(|text| format!("(?:{text})")).collect::<Vec<_>>().join("|");
        let texts = match texts {
            [] => None,
            _ => Some(Regex::new(&all).map_err(|error| format!("together they are too large: {error}"))?),
        };
        let names = set.build().map_err(|error| error.to_string())?;
        Ok(Self { finder: Some(Finder::new(names, texts)?) })
    }

    /// True if a JSON text surely has nothing to hide; that is quick to tell.
    pub fn is_quiet(&self, json: &str) -> bool {
        self.finder.as_ref().is_none_or(|finder| finder.is_quiet(json))
    }

    /// The JSON text with secrets hidden. A text that is not JSON is hidden whole, unless it has nothing to
    /// hide.
    pub fn hide(&self, json: String) -> String {
        match self.json(&json) {
            Cow::Borrowed(_) => json,
            Cow::Owned(hidden) => hidden,
        }
    }

    /// Like `hide`, for a text that stays with its owner.
    pub fn json<'t>(&self, json: &'t str) -> Cow<'t, str> {
        let Some(finder) = self.finder.as_ref().filter(|finder| !finder.is_quiet(json)) else {
            return Cow::Borrowed(json);
        };
        let mut edits = Vec::new();
        match json::find(finder, json, 0, &mut edits) {
            Ok(()) if edits.is_empty() => Cow::Borrowed(json),
            Ok(()) => Cow::Owned(edits::apply(json, edits)),
            Err(json::NotJson) => Cow::Owned(format!("{{\"omitted\":\"{HIDDEN}\"}}")),
        }
    }

    /// The text with secrets hidden.
    pub fn text<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let Some(finder) = &self.finder else { return Cow::Borrowed(text) };
        let mut edits = Vec::new();
        finder.text(text, 0, &mut edits);
        if edits.is_empty() { Cow::Borrowed(text) } else { Cow::Owned(edits::apply(text, edits)) }
    }
}

/// The text with what is secret everywhere hidden, for logs and screens.
pub fn text(text: &str) -> Cow<'_, str> {
    static BUILT_IN: OnceLock<Option<Redactor>> = OnceLock::new();
    match BUILT_IN.get_or_init(|| Redactor::new(&[], &[]).ok()) {
        Some(redactor) => redactor.text(text),
        // The tables are tested; if they are ever wrong, nothing is shown rather than all.
        None => Cow::Borrowed(HIDDEN),
    }
}

/// A glob over names, or why it is not valid.
pub fn name_glob(name: &str) -> Result<globset::Glob, String> {
    let glob = GlobBuilder::new(name).case_insensitive(true).build();
    glob.map_err(|error| format!("`{name}` is not a valid pattern: {}", error.kind()))
}

/// Checks a regular expression; the error says why it cannot be used.
pub fn check_text(text: &str) -> Result<(), String> {
    match Regex::new(text) {
        Ok(regex) if regex.is_match("") => Err(format!("`{text}` matches every text; make it say more")),
        Ok(_) => Ok(()),
        Err(error) => Err(format!("`{text}` is no regular expression: {error}")),
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
        // Assembled here, so that nobody takes this file for a leak.
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

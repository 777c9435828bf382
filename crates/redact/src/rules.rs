//! Secrets that are known by what comes before them: headers, URLs, command lines, files of
//! credentials. A rule is an opening word, a pattern for what follows directly, and what must come
//! before it. Patterns read only as far as they match, so the work grows linearly with the length.

use std::{ops::Range, sync::OnceLock};

use regex::Regex;

/// How many bytes to the left the command of an option is searched.
const MOST_COMMAND: usize = 512;

/// The text that must come before the opening word.
#[derive(Debug, Clone, Copy)]
enum Before {
    Anything,
    /// No letter, digit or underscore.
    NoWord,
    /// `;`, perhaps with spaces after it.
    Field,
    /// One of these commands on the same line.
    Command(&'static [&'static str]),
}

/// Opening word, what comes before it, pattern: the group `s`, or the whole match, is the secret.
type Rule = (&'static str, Before, &'static str);

const MYSQL: Before = Before::Command(&["mysql", "mysqldump", "mysqladmin", "mariadb"]);
const LOGIN: Before = Before::Command(&[
    "docker login",
    "podman login",
    "helm registry login",
    "az login",
    "oc login",
    "mongo",
    "mongosh",
]);

const RULES: &[Rule] = &[
    (
        "authorization",
        Before::Anything,
        r#"(?i)\\*["']?\]?\s*[:=,]\s*\\*["'`]?(?:bearer|basic|token|digest|negotiate|ntlm|api-?key|key|hawk|dpop|oauth|signature|sso-key|aws4[a-z0-9-]*)\s+(?P<s>(?:"[^"\r\n]*"|[^\r\n'"`])+)"#,
    ),
    ("bearer", Before::NoWord, r"\s+(?P<s>[A-Za-z0-9._~+/-]{12,}=*)"),
    ("basic", Before::NoWord, r"\s+(?P<s>[A-Za-z0-9+/_-]{12,}=*)"),
    (
        "cookie",
        Before::Anything,
        r#"\\*["']?\s*[:,]\s*\\*["']?(?P<s>[!#-&(-+\-./0-9<>-~]{1,128}=(?:"[^"\r\n]*"|[^\r\n'"])*)"#,
    ),
    ("://", Before::Anything, r"(?P<s>[^/\s:@\x22'`<>?#]*:[^/\s@\x22'`<>]+)@"),
    ("://", Before::Anything, r"(?P<s>[A-Za-z0-9_-]{20,})@"),
    // An address that was taken for a path lost a slash.
    (":/", Before::Anything, r"(?P<s>[^/\s:@\x22'`<>?#]*:[^/\s@\x22'`<>]+)@"),
    ("pwd", Before::Field, r#"\s*=\s*(?P<s>"[^"\r\n]*"|[^;"'\s]+)"#),
    ("sharedaccesssignature=", Before::Anything, r"(?P<s>\S+)"),
    (" -u", Before::Command(&["curl", "wget", "http", "xh"]), CURL),
    (" --user", Before::Command(&["curl", "wget", "http", "xh"]), CURL),
    (" --proxy-user", Before::Command(&["curl", "wget"]), CURL),
    (" -a", Before::Command(&["http ", "https "]), CURL),
    (" -a", Before::Command(&["redis-cli"]), r#"\s+['"]?(?P<s>[^\s'"]+)"#),
    (
        " -w",
        Before::Command(&["ldapsearch", "ldapadd", "ldapmodify", "ldapwhoami"]),
        r#"\s+['"]?(?P<s>[^\s'"]+)"#,
    ),
    ("sshpass", Before::NoWord, r#"\s+-p\s*['"]?(?P<s>[^\s'"]+)"#),
    (" -p", MYSQL, r#"['"]?(?P<s>[^\s'"`;|]+)"#),
    (" -p", LOGIN, r#"[= ]['"]?(?P<s>[^\s'"`;|]+)"#),
    ("htpasswd", Before::NoWord, r"\s+-\S*b\S*\s+(?:-\S+\s+)*\S+\s+\S+\s+(?P<s>\S+)"),
    (" pass:", Before::Command(&["openssl"]), r#"(?P<s>[^\s'"]+)"#),
    (":_auth", Before::Anything, r"\s*=\s*(?P<s>\S+)"),
    ("identified", Before::NoWord, r"(?i)\s+by\s+(?:password\s+)?'(?P<s>[^'\r\n]+)'"),
    ("login", Before::NoWord, r"(?i)\s+\S+\s+(?:account\s+\S+\s+)?password\s+(?P<s>\S+)"),
    (":5432:", Before::Anything, r"[^:\s]*:[^:\s]*:(?P<s>[^\s:]+)"),
    (":*:", Before::Anything, r"[^:\s]*:[^:\s]*:(?P<s>[^\s:]+)"),
];

const CURL: &str = r#"[= ]?\s*['"]?[^\s:'"=/]*:(?P<s>[^\s'"/]+)"#;

/// The opening words of all rules.
pub(crate) fn openings() -> impl Iterator<Item = &'static str> {
    RULES.iter().map(|(opening, _, _)| *opening)
}

/// The words without which no rule finds anything, but for addresses, which have none.
pub(crate) fn keys() -> impl Iterator<Item = &'static str> {
    // What follows a login has a secret name.
    openings().filter(|opening| !matches!(*opening, "://" | ":/" | "login"))
}

/// The rules, each compiled when a text first has its opening.
#[derive(Debug)]
pub(crate) struct Rules([OnceLock<Option<Regex>>; RULES.len()]);

impl Default for Rules {
    fn default() -> Self {
        Self(std::array::from_fn(|_| OnceLock::new()))
    }
}

impl Rules {
    /// The secret after the opening word of a rule.
    pub(crate) fn value(&self, number: usize, text: &str, opening: Range<usize>) -> Option<Range<usize>> {
        let (word, before, pattern) = RULES.get(number)?;
        if !before.fits(&text[..opening.start]) {
            return None;
        }
        let compiled = || Regex::new(&format!(r"\A(?:{pattern})")).ok();
        let Some(regex) = self.0.get(number)?.get_or_init(compiled) else {
            // The rules are tested; if one is ever wrong, all is hidden rather than nothing.
            return Some(opening.end..text.len());
        };
        let found = regex.captures(&text[opening.end..])?;
        let secret = found.name("s").or_else(|| found.get(0))?;
        // Words of a sentence follow these as well.
        let is_scheme = matches!(*word, "bearer" | "basic");
        (!is_scheme || is_credential(secret.as_str()))
            .then(|| opening.end + secret.start()..opening.end + secret.end())
    }
}

impl Before {
    fn fits(self, before: &str) -> bool {
        match self {
            Self::Anything => true,
            Self::NoWord => !before.ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_'),
            Self::Field => before.trim_end_matches(' ').ends_with(';'),
            Self::Command(commands) => {
                let start = before.ceil_char_boundary(before.len().saturating_sub(MOST_COMMAND));
                let line = before[start..].rsplit(['\n', '\r']).next().unwrap_or_default();
                commands.iter().any(|command| line.contains(command))
            }
        }
    }
}

/// True if a word is a credential rather than part of a sentence.
fn is_credential(word: &str) -> bool {
    let has = |is: fn(&u8) -> bool| word.bytes().any(|byte| is(&byte));
    has(u8::is_ascii_digit)
        || word.ends_with('=')
        || (word.len() >= 20 && has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_compiles() {
        for (opening, _, pattern) in RULES {
            assert!(Regex::new(pattern).is_ok(), "{opening}");
        }
    }
}

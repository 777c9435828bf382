//! Secret names, for members of JSON, variables, settings, flags and parameters alike.

/// The place of a telling word in a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stands {
    /// Anywhere in the name.
    Anywhere,
    /// At its end; anywhere if in capitals, like environment variables.
    AtEnd,
    /// At its end, after an underscore and in capitals: `SMTP_PASS`.
    AsVariable,
    /// The whole name.
    Alone,
}

/// The words that make a name secret, in lower case.
pub(crate) const TELLING: &[(&str, Stands)] = &[
    ("password", Stands::Anywhere),
    ("passwd", Stands::Anywhere),
    ("passphrase", Stands::Anywhere),
    ("passwort", Stands::Anywhere),
    ("requirepass", Stands::Anywhere),
    ("masterauth", Stands::Alone),
    ("secret", Stands::Anywhere),
    ("apikey", Stands::Anywhere),
    ("api_key", Stands::Anywhere),
    ("api-key", Stands::Anywhere),
    ("privatekey", Stands::Anywhere),
    ("private_key", Stands::Anywhere),
    ("private-key", Stands::Anywhere),
    ("accesskey", Stands::Anywhere),
    ("access_key", Stands::Anywhere),
    ("access-key", Stands::Anywhere),
    ("accountkey", Stands::Anywhere),
    ("account_key", Stands::Anywhere),
    ("encryption_key", Stands::AtEnd),
    ("encryptionkey", Stands::AtEnd),
    ("signing_key", Stands::AtEnd),
    ("signingkey", Stands::AtEnd),
    ("auth_key", Stands::AtEnd),
    ("authkey", Stands::AtEnd),
    ("credential", Stands::Anywhere),
    ("token", Stands::AtEnd),
    ("authorization", Stands::AtEnd),
    ("cookie", Stands::Alone),
    ("pass", Stands::AsVariable),
    ("pwd", Stands::AsVariable),
];

/// Further secret parameters of URLs, and the least length of their values.
pub(crate) const PARAMETERS: &[(&str, usize)] = &[
    ("auth", 1),
    ("code", 12),
    ("code_verifier", 1),
    ("key", 1),
    ("pwd", 1),
    ("sas", 1),
    ("sig", 1),
    ("signature", 1),
    ("subscription-key", 1),
    ("x-amz-signature", 1),
    ("x-goog-signature", 1),
];

/// Parts that make a parameter's name suspicious on a screen, where hiding too much costs nothing.
const SUSPICIOUS: &[&str] =
    &["auth", "credential", "key", "passwd", "password", "secret", "signature", "token"];

/// True if a telling word at this place makes the name secret.
pub(crate) fn tells(name: &str, start: usize, end: usize, stands: Stands) -> bool {
    let word = &name[start..end];
    match stands {
        Stands::Anywhere => true,
        Stands::AtEnd => end == name.len() || (is_capital(word) && is_capital(&name[end..])),
        Stands::AsVariable => end == name.len() && name[..start].ends_with('_') && is_capital(name),
        Stands::Alone => end == name.len() && (start == 0 || name[..start].eq_ignore_ascii_case("set-")),
    }
}

fn is_capital(text: &str) -> bool {
    !text.bytes().any(|byte| byte.is_ascii_lowercase() || byte == b'-')
}

/// True if the value of a URL parameter is hidden on a screen.
pub fn is_suspicious_parameter(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    PARAMETERS.iter().any(|(known, _)| *known == name) || SUSPICIOUS.iter().any(|part| name.contains(part))
}

//! The one error type of the house: what happened, what to try next, and which kind it is.

use std::{error::Error, fmt, path::Path};

use serde::Serialize;
use serde_json::value::RawValue;
use tectum_security::{Denied, Missing, PathError, Reason, built_in};

use crate::nearest;

/// The kind of a failure. Each edge translates it once: into an MCP result, an HTTP status, an exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FaultKind {
    /// Arguments do not parse or fit.
    InvalidInput,
    /// The gate, a layer or a person said no.
    Permission,
    /// No such tool, file or symbol.
    NotFound,
    /// The file changed, the text is not unique.
    Conflict,
    /// Output or input over its cap.
    TooLarge,
    /// The deadline passed, or nobody answered.
    Timeout,
    /// The caller left.
    Cancelled,
    /// A peer failed or is away.
    Upstream,
    /// A bug of ours.
    Internal,
}

impl FaultKind {
    /// The process's exit code for a failure of this kind.
    pub fn exit_code(self) -> u8 {
        match self {
            Self::InvalidInput => 2,
            Self::Permission => 3,
            Self::NotFound => 4,
            Self::Conflict | Self::TooLarge => 5,
            Self::Timeout | Self::Cancelled => 6,
            Self::Upstream => 7,
            Self::Internal => 70,
        }
    }

    /// The HTTP status for a failure of this kind.
    pub fn http_status(self) -> u16 {
        match self {
            Self::InvalidInput => 400,
            Self::Permission => 403,
            Self::NotFound => 404,
            Self::Conflict => 409,
            Self::TooLarge => 413,
            // Nobody reads this status; servers that log it use this number for it.
            Self::Cancelled => 499,
            Self::Internal => 500,
            Self::Upstream => 502,
            Self::Timeout => 504,
        }
    }
}

/// A failure, with what its reader can do about it.
#[derive(Debug)]
pub struct Fault {
    /// The kind of the failure.
    pub kind: FaultKind,
    /// The event, in words.
    pub message: String,
    /// The next thing to try.
    pub hint: Option<String>,
    /// The underlying error, for the journal; never shown to the model.
    pub source: Option<Box<dyn Error + Send + Sync>>,
    /// A peer's own error as it wrote it, for edges that speak its language.
    pub raw: Option<Box<RawValue>>,
}

impl Fault {
    /// A fault of this kind with a message.
    pub fn new(kind: FaultKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), hint: None, source: None, raw: None }
    }

    /// A fault of the kind `InvalidInput`: the arguments do not fit.
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::new(FaultKind::InvalidInput, message)
    }

    /// A fault of the kind `NotFound`.
    pub fn not_found(message: impl Into<String>) -> Self {
        Self::new(FaultKind::NotFound, message)
    }

    /// A fault of the kind `Conflict`: the state is not what the caller assumes.
    pub fn conflict(message: impl Into<String>) -> Self {
        Self::new(FaultKind::Conflict, message)
    }

    /// A fault of the kind `Internal`: a bug of ours.
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(FaultKind::Internal, message)
    }

    /// The same fault with a hint.
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The text a model reads: `ERROR: ` and the message, then the hint on its own line.
    pub fn text(&self) -> String {
        match &self.hint {
            Some(hint) => format!("ERROR: {}\nHint: {hint}", self.message),
            None => format!("ERROR: {}", self.message),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Error for Fault {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.source.as_deref().map(|source| source as _)
    }
}

/// The root cause of an error, in its own words. The errors above it often repeat an address, and an
/// address may hold a secret. `None` for an error without a cause.
pub fn bottom(error: &dyn Error) -> Option<String> {
    let causes = std::iter::successors(error.source(), |&cause| cause.source());
    causes.last().map(ToString::to_string)
}

impl From<Denied> for Fault {
    fn from(denied: Denied) -> Self {
        let path = Path::new(denied.path.as_str());
        if let Reason::Protected { rule } = &denied.reason
            && let Some(name) = built_in::opened_by(rule, path)
        {
            return Self::new(FaultKind::Permission, denied.to_string()).hint(format!(
                "leave it closed unless the user wants it open: a person then adds `open = [{name:?}]` to \
                 [workspace] of ~/.config/tectum/tectum.toml"
            ));
        }
        let hint = match &denied.reason {
            Reason::HardLinked => {
                "copy the file to a new name and edit the copy, or set `workspace.break_hard_links = true`"
            }
            Reason::Protected { rule } | Reason::ReadOnly { rule } if built_in::is_built_in(rule) => {
                "this name is always protected; use another file"
            }
            Reason::Protected { .. } | Reason::ReadOnly { .. } => {
                "choose another file; a person can change the rule in tectum.toml"
            }
            Reason::Configures => {
                "leave it and what holds it as it is: a person edits it, or adds servers with `tectum add`"
            }
            Reason::Ruled { .. } => {
                "leave that name where it is, or act on the others one by one; \
                 a person can change the rule in tectum.toml"
            }
            Reason::Empty => "name a file or a directory; `.` is the first allowed directory",
            Reason::ControlCharacter => {
                "write the path without line breaks, tabs and other control characters"
            }
            Reason::Url => "write the path alone, without `file://`",
            Reason::TooLong { .. } => "use shorter names or fewer directories",
            Reason::Loop => "the links lead back to each other; name the file itself",
            Reason::Nameless => {
                "give the full name of what is to be changed; an allowed directory stays as it is"
            }
            Reason::Link => "name the file itself, not a link to it",
            Reason::Dangling => "name the file that the link should lead to, or delete the link first",
            Reason::Slash => "for a file, write the path without the slash or dot at its end",
            Reason::Unstable => "another program is changing these directories; try again in a moment",
            _ => "use a path inside one of the allowed directories; relative paths start at the first",
        };
        Self::new(FaultKind::Permission, denied.to_string()).hint(hint)
    }
}

impl From<PathError> for Fault {
    fn from(error: PathError) -> Self {
        let message = error.to_string();
        match error {
            PathError::Denied(denied) => denied.into(),
            PathError::NotFound(missing) => Self::not_found(message).hint(near(&missing)),
            PathError::Exists(_) => Self::conflict(message).hint("choose a name that is free"),
            PathError::NotAFile { kind: tectum_security::Kind::Directory, .. } => {
                Self::invalid(message).hint("list the directory instead, or name a file in it")
            }
            PathError::NotAFile { .. } | PathError::NotADirectory(_) => Self::invalid(message),
            PathError::NotEmpty(_) => {
                Self::conflict(message).hint("pass recursive=true to delete all it holds")
            }
            PathError::IntoItself { .. } => {
                Self::invalid(message).hint("choose a destination outside the directory")
            }
            PathError::OverFile { .. } => Self::conflict(message).hint("choose a name that is free"),
            PathError::TooLarge { .. } => Self::new(FaultKind::TooLarge, message).hint(
                "read or search it in parts; a person can raise `max_file` in [files] of ~/.config/tectum/tectum.toml",
            ),
            PathError::Changed(_) => Self::conflict(message).hint("read it again and repeat the edit"),
            PathError::WriteProtected(_) => Self::new(FaultKind::Permission, message)
                .hint("leave it as it is, or write another file; a person can make it writable (chmod u+w)"),
            PathError::OwnedByOthers { .. } => Self::new(FaultKind::Permission, message).hint(
                "leave it as it is, or write another file; a person can change it, or give it to us (chown, chgrp)",
            ),
            PathError::Abandoned(_) => Self::new(FaultKind::Cancelled, message),
            PathError::Unfinished { cause, .. } => Self { message, ..Self::from(*cause) },
            PathError::Busy(_) => Self::new(FaultKind::Timeout, message).hint("try again in a moment"),
            PathError::Io { source, .. } => {
                use std::io::ErrorKind as Io;
                let (kind, hint) = match source.kind() {
                    Io::PermissionDenied => (
                        FaultKind::Permission,
                        Some("the system's own permissions forbid it; choose another path, or ask a person to change them"),
                    ),
                    Io::ReadOnlyFilesystem => (
                        FaultKind::Permission,
                        Some("the file system is mounted read-only; write elsewhere, or ask a person to mount it writable"),
                    ),
                    Io::StorageFull | Io::QuotaExceeded => {
                        (FaultKind::Conflict, Some("make room on that disk, then try again"))
                    }
                    _ => (FaultKind::Conflict, None),
                };
                let hint = hint.map(str::to_owned);
                Self { source: Some(source.into()), hint, ..Self::new(kind, message) }
            }
        }
    }
}

/// The hint if nothing was found.
fn near(missing: &Missing) -> String {
    if missing.dangling {
        return "name the file that the link should lead to, or delete the link itself".into();
    }
    match nearest(&missing.name, missing.beside.iter().map(String::as_str)) {
        Some(near) => format!("did you mean `{}`?", missing.spelled(near)),
        None => "list the directory to see what is there".into(),
    }
}

#[cfg(test)]
mod tests {
    use tectum_security::{Layer, RawPath};

    use super::*;

    fn check(reason: Reason, expect: &str) {
        let denied = Denied { layer: Layer::Validate, reason, path: RawPath::new("x"), bases: Vec::new() };
        let hint = Fault::from(denied).hint.expect("a hint");
        assert!(hint.contains(expect), "`{expect}` is not in `{hint}`");
    }

    #[test]
    fn the_last_cause_speaks_and_nothing_above_it() {
        let under = |message: &str, source: Fault| Fault {
            source: Some(Box::new(source)),
            ..Fault::internal(message)
        };
        let cause = Fault::internal("connection refused");
        assert_eq!(bottom(&cause), None);
        let error = under("https://me:secret@host", under("the request failed", cause));
        assert_eq!(bottom(&error).as_deref(), Some("connection refused"));
    }

    #[test]
    fn only_what_leads_out_is_said_to_be_outside() {
        let text = |reason| {
            let bases = vec!["base".into()];
            Denied { layer: Layer::Resolve, reason, path: RawPath::new("x"), bases }.to_string()
        };
        assert_eq!(text(Reason::Empty), "the path is empty (layer 3, resolve)");
        assert_eq!(text(Reason::Loop), "x: symbolic links form a loop (layer 3, resolve)");
        for reason in [Reason::HardLinked, Reason::Dangling, Reason::Slash, Reason::ControlCharacter] {
            let text = text(reason);
            assert!(text.starts_with("x: ") && !text.contains("allow") && !text.contains("base"), "{text}");
        }
        for reason in [Reason::Outside, Reason::Escapes, Reason::Traversal] {
            let text = text(reason);
            assert!(text.starts_with("path not in allowlist: x (") && text.ends_with("base"), "{text}");
        }
    }

    #[test]
    fn a_misspelled_name_is_told() {
        let missing = |name: &str| {
            let beside = vec!["empty.txt".to_owned(), "src".to_owned()];
            let missing = Missing { name: name.into(), folder: "a".into(), beside, ..Missing::default() };
            Fault::from(PathError::NotFound(missing)).hint.expect("a hint")
        };
        assert_eq!(missing("emty.txt"), "did you mean `a/empty.txt`?");
        assert_eq!(missing("EMPTY.TXT"), "did you mean `a/empty.txt`?");
        assert_eq!(missing("SRC"), "did you mean `a/src`?");
        assert_eq!(missing("other"), "list the directory to see what is there");
    }

    #[test]
    fn what_the_system_refuses_is_told_with_what_to_do() {
        use std::io::ErrorKind as Io;
        for (kind, expect) in [
            (Io::PermissionDenied, "the system's own permissions"),
            (Io::ReadOnlyFilesystem, "mount it writable"),
            (Io::StorageFull, "make room on that disk"),
        ] {
            let error = PathError::Io { path: "a".into(), source: kind.into() };
            let hint = Fault::from(error).hint.expect("a hint");
            assert!(hint.contains(expect), "{kind:?}: {hint}");
        }
        let large = PathError::TooLarge { path: "a".into(), size: 2, limit: 1 };
        assert!(Fault::from(large).hint.expect("a hint").contains("`max_file`"));
    }

    #[test]
    fn the_advice_fits_the_reason() {
        for rule in [".tectum", ".tectum-*"] {
            check(Reason::Protected { rule: rule.into() }, "always protected; use another file");
        }
        for rule in ["*.pem", "config.toml", "*_history.toml"] {
            check(Reason::Protected { rule: rule.into() }, "a person then adds `open = [");
        }
        check(Reason::Url, "without `file://`");
        check(Reason::ReadOnly { rule: ".git".into() }, "always protected");
        check(Reason::Protected { rule: "vault/**".into() }, "a person can change the rule");
        check(Reason::Ruled { rule: "deny rule `x`".into() }, "a person can change the rule");
        check(Reason::ControlCharacter, "without line breaks");
        check(Reason::TooLong { limit: 9 }, "shorter names");
        check(Reason::Loop, "name the file itself");
        check(Reason::Dangling, "the link should lead to");
        check(Reason::Empty, "name a file");
        check(Reason::Outside, "inside one of the allowed directories");
    }
}

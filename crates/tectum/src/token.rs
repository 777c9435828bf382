//! The two secrets of this user, each made once and readable by nobody else: the bearer token, which
//! clients show, and the approver's, which only people's own programs show when they answer questions.

use std::{
    io,
    path::{Path, PathBuf},
};

use tectum_state::Exposed;

/// 256 bits.
const BYTES: usize = 32;
/// The shortest token somebody may bring along: 128 bits as hex.
const LEAST: usize = 32;

/// A token and where it is kept.
#[derive(Clone)]
pub struct Token {
    /// The secret.
    pub secret: String,
    /// Its place.
    pub kept: TokenPlace,
}

/// The place of a token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TokenPlace {
    /// In this file.
    File(PathBuf),
    /// In `TECTUM_TOKEN`.
    Environment,
}

impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Token").field("kept", &self.kept).finish_non_exhaustive()
    }
}

/// The reasons for having no token.
#[derive(Debug, thiserror::Error)]
pub enum TokenError {
    /// The one brought along is weak.
    #[error("TECTUM_TOKEN must be at least {LEAST} hexadecimal characters")]
    Weak,
    /// Nowhere to keep one.
    #[error("there is nowhere to keep the token: neither XDG_STATE_HOME nor HOME is set to an absolute path")]
    Nowhere,
    /// Others can read it.
    #[error("{} can be read by other users (mode {mode:o})", path.display())]
    Open {
        /// The file.
        path: PathBuf,
        /// Its mode.
        mode: u32,
    },
    /// Something else is in the file.
    #[error("{} does not hold a token", .0.display())]
    Garbled(PathBuf),
    /// The system said no.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// No randomness.
    #[error("cannot get random numbers: {0}")]
    Random(getrandom::Error),
}

impl TokenError {
    /// The next step for the user.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Weak => Some("make one with: openssl rand -hex 32".into()),
            Self::Nowhere => Some("set TECTUM_TOKEN to 64 hexadecimal characters, or use --no-auth".into()),
            Self::Open { path, .. } => {
                let path = path.display();
                Some(format!(
                    "run: chmod 600 {path} (or delete it to get a new one, if someone may have read it)"
                ))
            }
            Self::Garbled(path) => Some(format!("delete {} to get a new one", path.display())),
            Self::Io { .. } => Some(
                "Tectum keeps its token there: let this user write there, set XDG_STATE_HOME to another \
                 directory, or set a token in TECTUM_TOKEN"
                    .into(),
            ),
            Self::Random(_) => None,
        }
    }
}

/// The path of the token below the user's state.
pub fn path(state: &Path) -> PathBuf {
    state.join("token")
}

/// The path of the approver's secret below the user's state.
pub fn approver_path(state: &Path) -> PathBuf {
    state.join("approver")
}

/// The secret of those who answer questions. It is in its file and nowhere else: no environment variable
/// could hand it on to a child.
pub fn approver(state: Option<&Path>) -> Result<Token, TokenError> {
    in_file(approver_path(state.ok_or(TokenError::Nowhere)?))
}

/// The token of this user: the one in `TECTUM_TOKEN`, else the one in the state directory,
/// made there when it is absent.
pub fn obtain(given: Option<&str>, state: Option<&Path>) -> Result<Token, TokenError> {
    if let Some(secret) = given {
        if !is_token(secret) {
            return Err(TokenError::Weak);
        }
        return Ok(Token { secret: secret.to_owned(), kept: TokenPlace::Environment });
    }
    in_file(path(state.ok_or(TokenError::Nowhere)?))
}

/// The secret in a file, made there when it is absent.
fn in_file(path: PathBuf) -> Result<Token, TokenError> {
    let secret = match read(&path)? {
        Some(secret) => secret,
        None => {
            let secret = fresh()?;
            match tectum_state::create_private(&path, format!("{secret}\n").as_bytes()) {
                Ok(()) => secret,
                // Another process was quicker; its token is as good.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    read(&path)?.ok_or_else(|| TokenError::Garbled(path.clone()))?
                }
                Err(source) => return Err(TokenError::Io { path, source }),
            }
        }
    };
    Ok(Token { secret, kept: TokenPlace::File(path) })
}

/// The token in the state directory, if one was made.
pub fn kept(state: &Path) -> Result<Option<String>, TokenError> {
    read(&path(state))
}

fn read(path: &Path) -> Result<Option<String>, TokenError> {
    let broken = |source: io::Error| match Exposed::in_error(&source) {
        Some(Exposed { mode }) => TokenError::Open { path: path.to_owned(), mode },
        None => TokenError::Io { path: path.to_owned(), source },
    };
    let Some(text) = tectum_state::read_private(path).map_err(broken)? else { return Ok(None) };
    match text.trim() {
        token if is_token(token) => Ok(Some(token.to_owned())),
        _ => Err(TokenError::Garbled(path.to_owned())),
    }
}

fn fresh() -> Result<String, TokenError> {
    let mut bytes = [0_u8; BYTES];
    getrandom::fill(&mut bytes).map_err(TokenError::Random)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

fn is_token(text: &str) -> bool {
    text.len() >= LEAST && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use std::{fs::Permissions, os::unix::fs::PermissionsExt as _, thread};

    use super::*;

    #[test]
    fn made_once_and_private() {
        let home = tempfile::tempdir().expect("a directory");
        let state = home.path().join("state/tectum");
        let first = obtain(None, Some(&state)).expect("a token");
        assert_eq!(first.secret.len(), 64);
        assert_eq!(obtain(None, Some(&state)).expect("the same").secret, first.secret);
        let mode = |path: &Path| path.metadata().expect("there").permissions().mode() & 0o777;
        assert_eq!(mode(&state.join("token")), 0o600);
        assert_eq!(mode(&state), 0o700);
        assert!(!format!("{first:?}").contains(&first.secret));
    }

    #[test]
    fn the_approver_has_a_secret_of_its_own() {
        let home = tempfile::tempdir().expect("a directory");
        let token = obtain(None, Some(home.path())).expect("a token");
        let approver = approver(Some(home.path())).expect("another");
        assert_ne!(token.secret, approver.secret);
        assert_eq!(approver.kept, TokenPlace::File(home.path().join("approver")));
        let mode = approver_path(home.path()).metadata().expect("there").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        assert_eq!(super::approver(Some(home.path())).expect("the same").secret, approver.secret);
        assert!(matches!(super::approver(None), Err(TokenError::Nowhere)));
    }

    #[test]
    fn many_at_once_agree() {
        let home = tempfile::tempdir().expect("a directory");
        let state = home.path().join("tectum");
        let secrets: Vec<String> = thread::scope(|scope| {
            let ask = || obtain(None, Some(&state)).expect("a token").secret;
            let asking: Vec<_> = (0..8).map(|_| scope.spawn(ask)).collect();
            asking.into_iter().map(|one| one.join().expect("ends")).collect()
        });
        assert!(secrets.iter().all(|secret| *secret == secrets[0]), "{secrets:?}");
    }

    #[test]
    fn a_file_others_can_read_is_refused() {
        let home = tempfile::tempdir().expect("a directory");
        obtain(None, Some(home.path())).expect("a token");
        let path = home.path().join("token");
        std::fs::set_permissions(&path, Permissions::from_mode(0o644)).expect("changes");
        let error = obtain(None, Some(home.path())).expect_err("refused");
        assert!(error.hint().expect("advice").contains("chmod 600"), "{error}");
    }

    #[test]
    fn one_brought_along_must_be_strong() {
        let strong = "0123456789abcdef".repeat(2);
        assert_eq!(obtain(Some(&strong), None).expect("taken").kept, TokenPlace::Environment);
        for weak in ["", "secret", &strong[1..], &strong.replace('a', "z")] {
            assert!(matches!(obtain(Some(weak), None), Err(TokenError::Weak)), "{weak}");
        }
        assert!(matches!(obtain(None, None), Err(TokenError::Nowhere)));
    }
}

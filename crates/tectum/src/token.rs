//! The bearer token of this user: made once, readable by nobody else.

use std::{
    fs::{DirBuilder, OpenOptions, Permissions},
    io::{self, Read as _, Write as _},
    os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _},
    path::{Path, PathBuf},
    thread,
    time::Duration,
};

/// 256 bits.
const BYTES: usize = 32;
/// The shortest token somebody may bring along: 128 bits as hex.
const LEAST: usize = 32;
/// How often an empty file is looked at again while another process fills it.
const LOOKS: u32 = 50;

/// A token and where it is kept.
#[derive(Clone)]
pub struct Token {
    /// The secret.
    pub secret: String,
    /// Where it lies.
    pub kept: Kept,
}

/// Where a token lies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kept {
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

/// Why there is no token.
#[derive(Debug, thiserror::Error)]
pub enum TokenError {
    /// The one brought along is weak.
    #[error("TECTUM_TOKEN must be at least {LEAST} hexadecimal characters")]
    Weak,
    /// Nowhere to keep one.
    #[error("there is no place for the token: neither XDG_STATE_HOME nor HOME is set to a whole path")]
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
        /// What the system said.
        source: io::Error,
    },
    /// No randomness.
    #[error("the system gives no random numbers: {0}")]
    Random(getrandom::Error),
}

impl TokenError {
    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Weak => Some("make one with: openssl rand -hex 32".into()),
            Self::Nowhere => Some("set TECTUM_TOKEN to 64 hexadecimal characters, or use --no-auth".into()),
            Self::Open { path, .. } => {
                let path = path.display();
                Some(format!(
                    "run: chmod 600 {path} (or delete it to get a new one, if somebody may have read it)"
                ))
            }
            Self::Garbled(path) => Some(format!("delete {} to get a new one", path.display())),
            Self::Io { .. } => Some(
                "Tectum keeps its token there: let this user write there, set XDG_STATE_HOME to another \
                 directory, or bring a token in TECTUM_TOKEN"
                    .into(),
            ),
            Self::Random(_) => None,
        }
    }
}

/// Where the token is kept below the user's state.
pub fn path(state: &Path) -> PathBuf {
    state.join("token")
}

/// The token of this user: the one in `TECTUM_TOKEN`, else the one in the state directory,
/// made there when it is absent.
pub fn obtain(given: Option<&str>, state: Option<&Path>) -> Result<Token, TokenError> {
    if let Some(secret) = given {
        if !is_token(secret) {
            return Err(TokenError::Weak);
        }
        return Ok(Token { secret: secret.to_owned(), kept: Kept::Environment });
    }
    let path = path(state.ok_or(TokenError::Nowhere)?);
    let broken = |source| TokenError::Io { path: path.clone(), source };
    let secret = match read(&path) {
        Err(TokenError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
            let secret = fresh()?;
            match create(&path, &secret) {
                Ok(()) => secret,
                // Another process was quicker; its token is as good.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => read(&path)?,
                Err(error) => return Err(broken(error)),
            }
        }
        found => found?,
    };
    Ok(Token { secret, kept: Kept::File(path) })
}

#[expect(clippy::disallowed_methods, reason = "our own state, not an agent's path")]
fn read(path: &Path) -> Result<String, TokenError> {
    let broken = |source| TokenError::Io { path: path.to_owned(), source };
    let mut text = String::new();
    for _ in 0..LOOKS {
        let file = std::fs::File::open(path).map_err(broken)?;
        let mode = file.metadata().map_err(broken)?.permissions().mode() & 0o777;
        if mode & 0o077 != 0 {
            return Err(TokenError::Open { path: path.to_owned(), mode });
        }
        text.clear();
        file.take(4096).read_to_string(&mut text).map_err(broken)?;
        if !text.is_empty() {
            break;
        }
        thread::sleep(Duration::from_millis(10));
    }
    match text.trim() {
        token if is_token(token) => Ok(token.to_owned()),
        _ => Err(TokenError::Garbled(path.to_owned())),
    }
}

#[expect(clippy::disallowed_methods, reason = "our own state, not an agent's path")]
fn create(path: &Path, secret: &str) -> io::Result<()> {
    if let Some(parent) = path.parent() {
        DirBuilder::new().recursive(true).mode(0o700).create(parent)?;
    }
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    // The mode above passes through the umask; this does not.
    file.set_permissions(Permissions::from_mode(0o600))?;
    file.write_all(format!("{secret}\n").as_bytes())?;
    file.sync_all()
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
        assert_eq!(obtain(Some(&strong), None).expect("taken").kept, Kept::Environment);
        for weak in ["", "secret", &strong[1..], &strong.replace('a', "z")] {
            assert!(matches!(obtain(Some(weak), None), Err(TokenError::Weak)), "{weak}");
        }
        assert!(matches!(obtain(None, None), Err(TokenError::Nowhere)));
    }
}

//! The store of logins: one file for each server, readable by its owner alone, replaced as a whole.

use std::{
    fmt,
    fs::File,
    io,
    path::{Path, PathBuf},
    sync::OnceLock,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use reqwest::header::HeaderValue;
use rmcp::transport::auth::StoredCredentials;
use serde::{Deserialize, Serialize};
use tectum_state::{self as state, Exposed, Lasts};

use crate::{spec::ServerName, wire::Loss};

/// A token is renewed this long before its end, so that it does not end on its way.
const EARLY: u64 = 30;
/// The time another process may hold the lock over a renewal; it may have died in a way that only looks
/// alive, and two renewals are better than none.
const PATIENCE: Duration = Duration::from_secs(30);
const LOOK_AGAIN: Duration = Duration::from_millis(50);

/// The file of one server. Without a path nothing outlives the process.
pub(super) struct Store {
    path: Option<PathBuf>,
    url: String,
}

/// A login as it is kept.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Kept {
    /// The server it is for: a name can come to mean another one.
    pub(super) url: String,
    /// The secret of the client that was registered for it.
    #[serde(default)]
    pub(super) client_secret: Option<String>,
    /// Scopes the server asked for since.
    #[serde(default)]
    pub(super) wanted: Vec<String>,
    /// Client, token and the issuer both came from.
    pub(super) credentials: StoredCredentials,
    /// Read out of them at the first use.
    #[serde(skip)]
    token: OnceLock<Option<Token>>,
}

/// A token to send.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Bearer(String);

/// The parts that are looked at before every request.
#[derive(Clone)]
struct Token {
    bearer: Bearer,
    /// When it ends, in seconds since 1970.
    ends: Option<u64>,
}

/// The parts of a token's answer that are looked at here.
#[derive(Deserialize)]
struct Answer {
    access_token: String,
    #[serde(default)]
    expires_in: Option<u64>,
}

impl Kept {
    pub(super) fn new(url: String, client_secret: Option<String>, credentials: StoredCredentials) -> Self {
        Self { url, client_secret, wanted: Vec::new(), credentials, token: OnceLock::new() }
    }

    /// The same login after a renewal.
    pub(super) fn renewed(&self, credentials: StoredCredentials) -> Self {
        let fresh = Self::new(self.url.clone(), self.client_secret.clone(), credentials);
        Self { wanted: self.wanted.clone(), ..fresh }
    }

    /// The token to send.
    pub(super) fn bearer(&self) -> Option<Bearer> {
        self.token().map(|token| token.bearer.clone())
    }

    /// The scopes it was granted.
    pub(super) fn granted(&self) -> Vec<String> {
        self.credentials.granted_scopes.clone()
    }

    /// True when it ends within moments, or has ended.
    pub(super) fn ends_soon(&self) -> bool {
        let Some(ends) = self.token().and_then(|token| token.ends) else { return false };
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        now.saturating_add(EARLY) >= ends
    }

    fn token(&self) -> Option<&Token> {
        self.token.get_or_init(|| self.read_token()).as_ref()
    }

    /// The SDK's type has its parts behind a trait of another crate; its JSON is the standard's.
    fn read_token(&self) -> Option<Token> {
        let answer = serde_json::to_value(self.credentials.token_response.as_ref()?).ok()?;
        let answer: Answer = serde_json::from_value(answer).ok()?;
        let since = self.credentials.token_received_at;
        let ends = answer.expires_in.zip(since).map(|(lasts, since)| since.saturating_add(lasts));
        Some(Token { bearer: Bearer(answer.access_token), ends })
    }
}

impl Store {
    pub(super) fn new(state: Option<&Path>, name: &ServerName, url: &str) -> Self {
        let hash = blake3::hash(url.as_bytes()).to_hex();
        let path = state.map(|state| state.join("tokens").join(format!("{name}-{}.json", &hash[..16])));
        Self { path, url: url.to_owned() }
    }

    /// False where nothing is kept.
    pub(super) fn keeps(&self) -> bool {
        self.path.is_some()
    }

    /// The login, if there is one. One that others can read is not used.
    pub(super) fn load(&self) -> Result<Option<Kept>, String> {
        let Some(path) = &self.path else { return Ok(None) };
        let shown = path.display();
        let text = state::read_private(path).map_err(|error| match Exposed::in_error(&error) {
            Some(_) => format!("{shown}: {error}, or log in again if somebody may have read it"),
            None => format!("{shown}: {error}"),
        })?;
        let Some(text) = text else { return Ok(None) };
        // What is garbled is as good as nothing: the next login replaces it.
        let kept: Option<Kept> = serde_json::from_str(&text).ok();
        Ok(kept.filter(|kept| kept.url == self.url))
    }

    /// Keeps a login in place of the one before. The disk is waited for beside whoever answers clients.
    pub(super) async fn save(&self, login: &Kept) -> Result<(), String> {
        let Some(path) = self.path.clone() else { return Ok(()) };
        let shown = path.display().to_string();
        let written = match serde_json::to_vec(login) {
            Ok(bytes) => {
                tokio::task::spawn_blocking(move || state::replace(&path, &bytes, Lasts::PowerCut)).await
            }
            Err(error) => return Err(format!("{shown}: {error}")),
        };
        written.map_err(io::Error::other).flatten().map_err(|error| format!("{shown}: {error}"))
    }

    /// Forgets the login. True when there was one.
    pub(super) fn clear(&self) -> Result<bool, String> {
        let Some(path) = &self.path else { return Ok(false) };
        // The lock stays: whoever holds a removed one and whoever makes a new one would both renew.
        state::remove(path).map_err(|error| format!("{}: {error}", path.display()))
    }

    /// Held over a renewal: a refresh token may be good for one use only.
    pub(super) async fn lock(&self) -> Option<File> {
        let path = self.path.as_ref()?.with_extension("lock");
        let until = tokio::time::Instant::now() + PATIENCE;
        loop {
            if let Some(held) = state::try_lock(&path).ok()? {
                return Some(held);
            }
            if tokio::time::Instant::now() > until {
                return None;
            }
            tokio::time::sleep(LOOK_AGAIN).await;
        }
    }
}

impl Bearer {
    /// As a header that is never shown.
    pub(crate) fn header(&self) -> Result<HeaderValue, Loss> {
        let mut value = HeaderValue::from_str(&format!("Bearer {}", self.0))
            .map_err(|_| Loss::Unauthorized("its token cannot stand in a header: log in again".into()))?;
        value.set_sensitive(true);
        Ok(value)
    }
}

impl fmt::Debug for Bearer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(hidden)")
    }
}

/// Both, each scope once, in the order they were first named.
pub(super) fn union(one: &[String], other: &[String]) -> Vec<String> {
    let mut all: Vec<String> = Vec::with_capacity(one.len() + other.len());
    for scope in one.iter().chain(other) {
        if !all.contains(scope) {
            all.push(scope.clone());
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_logout_leaves_the_lock_to_whoever_holds_it() {
        let scratch = tempfile::tempdir().expect("a scratch directory");
        let name = ServerName::parse("s").expect("a name");
        let store = Store::new(Some(scratch.path()), &name, "https://example.com/mcp");
        let held = store.lock().await.expect("locked");
        assert_eq!(store.clear(), Ok(false));
        let path = store.path.as_ref().expect("a path").with_extension("lock");
        assert!(state::try_lock(&path).expect("opened").is_none(), "two hold the same lock");
        drop(held);
        assert!(state::try_lock(&path).expect("opened").is_some(), "free again");
    }
}

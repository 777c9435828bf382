//! Logging in and out, for a person at a terminal.

use std::path::Path;

use super::{Flow, Store, callback::Callback, union};
use crate::spec::{Remote, ServerName};

/// The result of a login.
#[derive(Clone, Debug)]
pub struct Granted {
    /// The scopes it allows; empty where the server did not say.
    pub scopes: Vec<String>,
    /// The server that gave it, where that is known.
    pub issuer: Option<String>,
}

/// Logs in at a server: makes the address to go to, shows it, waits for the browser to come
/// back, and keeps what it brought below the state directory. The address shown is always an
/// `http://` or `https://` one.
pub async fn login(
    name: &ServerName,
    remote: &Remote,
    state: &Path,
    show: impl FnOnce(&str),
) -> Result<Granted, String> {
    let store = Store::new(Some(state), name, &remote.url);
    // What was granted before, and what the server asked for since, is asked for again.
    let scopes = match store.load() {
        Ok(Some(kept)) => union(&kept.granted(), &kept.wanted),
        // One that others can read is replaced, so it is no reason to stop.
        Ok(None) | Err(_) => Vec::new(),
    };
    let callback = Callback::listen().await?;
    let flow = Flow::begin(remote, None, &scopes, callback.address().as_str()).await?;
    let secret = flow.state().ok_or("the login's address has no state to recognise the answer by")?;
    show(flow.address.as_str());
    let answer = callback.answer(&secret).await?;
    let kept = flow.finish(&answer).await?;
    store.save(&kept).await?;
    Ok(Granted { scopes: kept.granted(), issuer: kept.credentials.issuer.clone() })
}

/// Forgets the login at a server. True when there was one.
pub fn logout(name: &ServerName, remote: &Remote, state: &Path) -> Result<bool, String> {
    Store::new(Some(state), name, &remote.url).clear()
}

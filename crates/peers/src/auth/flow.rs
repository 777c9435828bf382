//! One authorization from its discovery to its token, and the renewal of one that was given.

use std::{net::IpAddr, sync::Once};

use reqwest::{
    Client, Url,
    header::{HeaderValue, LOCATION},
};
use rmcp::transport::auth::{
    AuthError, AuthorizationCallback, AuthorizationManager, AuthorizationMetadata, CredentialStore as _,
    InMemoryCredentialStore, OAuthClientConfig,
};

use super::{Kept, union};
use crate::{
    spec::{Remote, Secret},
    wire::{origin::parse, same_origin},
};

/// Our name where clients are registered.
const CLIENT: &str = "Tectum";
/// The scope that brings a token for renewals, at servers that want it asked for.
const OFFLINE: &str = "offline_access";

/// An authorization under way.
pub(super) struct Flow {
    manager: AuthorizationManager,
    memory: InMemoryCredentialStore,
    url: String,
    redirect: Url,
    client_secret: Option<String>,
    /// The page that a person has to open.
    pub(super) address: Url,
}

/// The reasons why a token could not be renewed.
#[derive(Debug)]
pub(super) enum Renewal {
    /// A new login is needed.
    Needed,
    /// It may work another time.
    Failed(String),
}

impl Flow {
    /// Finds out where to log in, registers as a client where that is needed, and makes the
    /// address to go to. `scopes` come on top of those the configuration or the server names.
    pub(super) async fn begin(
        remote: &Remote,
        challenge: Option<&str>,
        scopes: &[String],
        redirect: &str,
    ) -> Result<Self, String> {
        let (mut manager, metadata) = discover(&remote.url, challenge).await.map_err(words)?;
        let memory = InMemoryCredentialStore::new();
        manager.set_credential_store(memory.clone());
        let first = if !remote.scopes.is_empty() {
            remote.scopes.clone()
        } else if scopes.is_empty() {
            manager.select_initial_scopes(&[]).await
        } else {
            Vec::new()
        };
        let mut scopes = union(&first, scopes);
        let offers = metadata.scopes_supported.iter().flatten().any(|scope| scope == OFFLINE);
        if offers && !scopes.is_empty() {
            scopes = union(&scopes, &[OFFLINE.to_owned()]);
        }
        let scopes: Vec<&str> = scopes.iter().map(String::as_str).collect();
        let client = match chosen(remote, &metadata, redirect) {
            Some(client) => client,
            None => manager.register_client(CLIENT, redirect, &scopes).await.map_err(words)?,
        };
        let client_secret = client.client_secret.clone();
        manager.configure_client(client).map_err(words)?;
        let address = manager.get_authorization_url(&scopes).await.map_err(words)?;
        // What is shown to a person, or opened for one, must be a page and nothing else.
        let address = parse(&address)?;
        let redirect = parse(redirect)?;
        Ok(Self { manager, memory, url: remote.url.clone(), redirect, client_secret, address })
    }

    /// The secret word that the answer has to repeat.
    pub(super) fn state(&self) -> Option<String> {
        let pairs = self.address.query_pairs();
        pairs.filter(|(key, _)| key == "state").map(|(_, value)| value.into_owned()).next()
    }

    /// Goes to the address as a person would who agrees at once, and gives back where that led.
    pub(super) async fn follow(&self, client: &Client) -> Result<Url, String> {
        let response = client.get(self.address.clone()).send().await;
        let response =
            response.map_err(|error| format!("the authorization page failed: {}", error.without_url()))?;
        let to = response.headers().get(LOCATION).map(HeaderValue::to_str);
        let Some(Ok(to)) = to else {
            return Err(format!("the authorization page answered HTTP {}, no redirect", response.status()));
        };
        let to = self.address.join(to).map_err(|error| format!("the redirect leads nowhere: {error}"))?;
        if !same_origin(&to, &self.redirect) || to.path() != self.redirect.path() {
            return Err("the authorization page redirects elsewhere".into());
        }
        Ok(to)
    }

    /// Exchanges the answer for a token. The issuer it names must be the one that was asked.
    pub(super) async fn finish(self, answer: &Url) -> Result<Kept, String> {
        if let Some(why) = refusal(answer) {
            return Err(why);
        }
        let answer = AuthorizationCallback::from_redirect_url(answer.as_str()).map_err(words)?;
        self.manager
            .exchange_code_for_token_with_issuer(&answer.code, &answer.csrf_token, answer.issuer.as_deref())
            .await
            .map_err(words)?;
        let credentials = self.memory.load().await.map_err(words)?;
        let credentials = credentials.ok_or("no token came back")?;
        Ok(Kept::new(self.url, self.client_secret, credentials))
    }
}

/// Renews a token at the issuer it came from.
pub(super) async fn renew(remote: &Remote, challenge: Option<&str>, kept: &Kept) -> Result<Kept, Renewal> {
    let failed = |error: AuthError| match error {
        AuthError::AuthorizationRequired | AuthError::TokenRefreshRejected(_) => Renewal::Needed,
        other => Renewal::Failed(words(other)),
    };
    let (mut manager, _) = discover(&remote.url, challenge).await.map_err(failed)?;
    let memory = InMemoryCredentialStore::new();
    memory.save(kept.credentials.clone()).await.map_err(failed)?;
    manager.set_credential_store(memory.clone());
    // Another issuer than the one the token came from has no business with it.
    if !manager.initialize_from_store().await.map_err(failed)? {
        return Err(Renewal::Needed);
    }
    if let Some(secret) = &kept.client_secret {
        let client =
            OAuthClientConfig::new(&kept.credentials.client_id, &remote.url).with_client_secret(secret);
        manager.configure_client(client).map_err(failed)?;
    }
    manager.refresh_token().await.map_err(failed)?;
    let credentials = memory.load().await.map_err(failed)?.ok_or(Renewal::Needed)?;
    Ok(kept.renewed(credentials))
}

/// Reads the metadata that the server and its authorization server publish.
async fn discover(
    url: &str,
    challenge: Option<&str>,
) -> Result<(AuthorizationManager, AuthorizationMetadata), AuthError> {
    install_tls();
    let mut manager = if is_private(url).await {
        AuthorizationManager::new_allowing_private_addresses(url).await?
    } else {
        AuthorizationManager::new(url).await?
    };
    let metadata = manager.resolve_metadata_from_challenge(challenge).await?.metadata;
    manager.set_metadata(metadata.clone());
    Ok((manager, metadata))
}

/// A server within somebody's own network usually has its logins there too. One outside must
/// not send us into it.
async fn is_private(url: &str) -> bool {
    let Ok(url) = parse(url) else { return false };
    let (Some(host), Some(port)) = (url.host_str(), url.port_or_known_default()) else { return false };
    let host = host.trim_start_matches('[').trim_end_matches(']').to_owned();
    let Ok(mut found) = tokio::net::lookup_host((host, port)).await else { return false };
    found.any(|address| match address.ip() {
        IpAddr::V4(ip) => ip.is_private(),
        IpAddr::V6(ip) => ip.is_unique_local(),
    })
}

/// The client the configuration names: one registered by hand, or the document that describes
/// us, where the server reads such documents.
fn chosen(remote: &Remote, metadata: &AuthorizationMetadata, redirect: &str) -> Option<OAuthClientConfig> {
    let id = remote.client_id.as_ref()?;
    let is_document = Url::parse(id).is_ok_and(|url| url.scheme() == "https" && url.path() != "/");
    let reads = metadata.additional_fields.get("client_id_metadata_document_supported");
    if is_document && reads.and_then(serde_json::Value::as_bool) != Some(true) {
        return None;
    }
    let client = OAuthClientConfig::new(id, redirect);
    Some(match remote.client_secret.as_ref().map(Secret::reveal) {
        Some(secret) => client.with_client_secret(secret),
        None => client,
    })
}

/// The reason why the authorization server said no, if it did.
fn refusal(answer: &Url) -> Option<String> {
    let find =
        |key: &str| answer.query_pairs().find(|(name, _)| name == key).map(|(_, value)| value.into_owned());
    let error = find("error")?;
    let why = find("error_description").map(|why| format!(" ({why})")).unwrap_or_default();
    Some(format!("the authorization server refused: {error}{why}").chars().take(500).collect())
}

fn words(error: AuthError) -> String {
    error.to_string().chars().take(500).collect()
}

/// Installs the one provider of cryptography that TLS uses here. Calling it again changes nothing.
pub fn install_tls() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // A host program that installed one before us keeps its own.
        let _ = rustls::crypto::ring::default_provider().install_default();
    });
}

//! Logins at remote servers: OAuth as the protocol wants it, with a store that only its owner
//! can read.
//!
//! The SDK's authorization manager finds the metadata, checks issuers and exchanges codes; what
//! is kept, when it is renewed and who is asked is decided here. A token goes to the server it
//! was made for and to nobody else.

mod browser;
mod callback;
mod flow;
mod login;
mod store;

use std::{path::Path, sync::Arc};

use parking_lot::Mutex;
use rmcp::transport::auth::WWWAuthenticateParams;

pub use browser::{open, open_file};
pub use flow::install_tls;
pub use login::{Granted, login, logout};

use self::{
    flow::{Flow, Renewal},
    store::{Bearer, Kept, Store, union},
};
use crate::{
    spec::{Remote, ServerName},
    wire::Loss,
};

/// The one who answers when a server wants a login.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Authorize {
    /// A person, with `tectum login`; until then requests fail and say so.
    #[default]
    Person,
    /// We follow the authorization server's redirect ourselves, as if somebody had agreed. For
    /// tests against servers that let everybody in.
    Follow,
}

impl Authorize {
    /// `TECTUM_AUTHORIZE=follow` is for tests only; anything else means a person.
    pub fn of_process() -> Self {
        match std::env::var("TECTUM_AUTHORIZE") {
            Ok(word) if word == "follow" => Self::Follow,
            _ => Self::Person,
        }
    }
}

/// A server's refusal of a request for want of a login.
#[derive(Debug)]
pub(crate) struct Challenge {
    /// Its challenge, where it gave one.
    pub(crate) text: Option<String>,
    /// The login is good, but does not reach far enough.
    pub(crate) rights: bool,
}

/// The login at one server.
pub(crate) struct Login(Arc<Account>);

struct Account {
    name: ServerName,
    remote: Remote,
    store: Store,
    authorize: Authorize,
    client: reqwest::Client,
    held: Mutex<Held>,
    /// One renewal at a time; whoever waited finds its result.
    turn: tokio::sync::Mutex<()>,
}

#[derive(Default)]
enum Held {
    #[default]
    Unread,
    Nothing,
    Kept(Box<Kept>),
}

impl Login {
    /// The login of this server, unread.
    pub(crate) fn new(
        name: &ServerName,
        remote: &Remote,
        state: Option<&Path>,
        authorize: Authorize,
        client: reqwest::Client,
    ) -> Self {
        Self(Arc::new(Account {
            name: name.clone(),
            remote: remote.clone(),
            store: Store::new(state, name, &remote.url),
            authorize,
            client,
            held: Mutex::default(),
            turn: tokio::sync::Mutex::new(()),
        }))
    }

    /// The token to send, renewed if it is about to end. Without one the server says whether it
    /// wants one.
    pub(crate) async fn bearer(&self) -> Result<Option<Bearer>, Loss> {
        let account = &self.0;
        if matches!(*account.held.lock(), Held::Unread) {
            account.reread()?;
        }
        match &*account.held.lock() {
            Held::Unread | Held::Nothing => return Ok(None),
            Held::Kept(kept) if !kept.ends_soon() => return Ok(kept.bearer()),
            Held::Kept(_) => {}
        }
        let account = account.clone();
        finished(async move { Ok(account.renewed().await) }).await
    }

    /// The server refused this token, or that there was none. Good when another try is worth it.
    pub(crate) async fn refused(&self, refusal: Challenge, used: Option<Bearer>) -> Result<(), Loss> {
        let account = self.0.clone();
        finished(async move { account.refused(&refusal, used.as_ref()).await }).await
    }
}

/// Runs to its end even when its caller leaves: a renewal that is given up half-way may have
/// used up the only token for it.
async fn finished<T: Send + 'static>(
    work: impl Future<Output = Result<T, Loss>> + Send + 'static,
) -> Result<T, Loss> {
    match tokio::spawn(work).await {
        Ok(outcome) => outcome,
        Err(_) => Err(Loss::Failed("its login was interrupted".into())),
    }
}

impl Account {
    /// The token after its renewal. Where that fails the old one goes: clocks differ, and the
    /// server's counts.
    async fn renewed(&self) -> Option<Bearer> {
        let _turn = self.turn.lock().await;
        let kept = self.kept()?;
        if !kept.ends_soon() {
            return kept.bearer();
        }
        self.renew(&kept, None).await.map_or_else(|_| kept.bearer(), |renewed| renewed.bearer())
    }

    async fn refused(&self, refusal: &Challenge, used: Option<&Bearer>) -> Result<(), Loss> {
        let _turn = self.turn.lock().await;
        // Somebody may have logged in, or another call renewed it meanwhile.
        if self.kept().and_then(|kept| kept.bearer()).as_ref() != used {
            return Ok(());
        }
        self.reread()?;
        let kept = self.kept();
        if kept.as_ref().and_then(Kept::bearer).as_ref() != used {
            return Ok(());
        }
        if !refusal.rights
            && let Some(kept) = &kept
        {
            match self.renew(kept, refusal.text.as_deref()).await {
                Ok(_) => return Ok(()),
                Err(Renewal::Needed) => {}
                Err(Renewal::Failed(why)) => {
                    return Err(Loss::Failed(format!("its login could not be renewed: {why}")));
                }
            }
        }
        let wanted = if refusal.rights { self.wanted(refusal.text.as_deref()) } else { Vec::new() };
        match self.authorize {
            Authorize::Follow => self.follow(refusal, kept, &wanted).await,
            Authorize::Person => Err(self.ask_for_login(refusal, kept, wanted).await),
        }
    }

    /// Goes through the authorization without anybody.
    async fn follow(&self, refusal: &Challenge, kept: Option<Kept>, wanted: &[String]) -> Result<(), Loss> {
        let fail =
            |why: String| Loss::Unauthorized(format!("{} wants a login, which failed: {why}", self.name));
        let granted = kept.map(|kept| kept.granted()).unwrap_or_default();
        if refusal.rights && wanted.iter().all(|scope| granted.contains(scope)) {
            return Err(fail("it asks for rights that were granted already".into()));
        }
        let scopes = if refusal.rights { union(&granted, wanted) } else { Vec::new() };
        // Nobody listens there: the answer is read from the redirect itself.
        let redirect = "http://127.0.0.1:1/callback";
        let challenge = refusal.text.as_deref();
        let flow = Flow::begin(&self.remote, challenge, &scopes, redirect).await.map_err(fail)?;
        let answer = flow.follow(&self.client).await.map_err(fail)?;
        let kept = flow.finish(&answer).await.map_err(fail)?;
        self.keep(kept).await
    }

    /// The error for the caller; the scopes that the server wants are noted for the next login.
    async fn ask_for_login(&self, refusal: &Challenge, kept: Option<Kept>, wanted: Vec<String>) -> Loss {
        let name = &self.name;
        let Some(mut kept) = kept else {
            return Loss::Unauthorized(format!("{name} wants a login: run `tectum login {name}`"));
        };
        if !refusal.rights {
            let what = "does not accept the login any more";
            return Loss::Unauthorized(format!("{name} {what}: run `tectum login {name}`"));
        }
        let scopes = wanted.join(" ");
        kept.wanted = union(&kept.wanted, &wanted);
        if let Err(why) = self.store.save(&kept).await {
            tracing::debug!(why, "what a server wants could not be noted");
        }
        *self.held.lock() = Held::Kept(Box::new(kept));
        Loss::Unauthorized(format!("{name} wants further rights ({scopes}): run `tectum login {name}`"))
    }

    /// Renews a token, once for all processes that share it.
    async fn renew(&self, kept: &Kept, challenge: Option<&str>) -> Result<Kept, Renewal> {
        let _lock = self.store.lock().await;
        if let Ok(Some(other)) = self.store.load()
            && other.bearer() != kept.bearer()
        {
            *self.held.lock() = Held::Kept(Box::new(other.clone()));
            return Ok(other);
        }
        let renewed = flow::renew(&self.remote, challenge, kept).await?;
        match self.keep(renewed.clone()).await {
            Ok(()) => Ok(renewed),
            Err(loss) => Err(Renewal::Failed(loss.to_string())),
        }
    }

    async fn keep(&self, kept: Kept) -> Result<(), Loss> {
        let saved = self.store.save(&kept).await;
        *self.held.lock() = Held::Kept(Box::new(kept));
        saved.map_err(Loss::Failed)
    }

    fn reread(&self) -> Result<(), Loss> {
        if !self.store.keeps() {
            return Ok(());
        }
        let found = self.store.load().map_err(Loss::Failed)?;
        *self.held.lock() = found.map_or(Held::Nothing, |kept| Held::Kept(Box::new(kept)));
        Ok(())
    }

    fn kept(&self) -> Option<Kept> {
        match &*self.held.lock() {
            Held::Kept(kept) => Some((**kept).clone()),
            Held::Unread | Held::Nothing => None,
        }
    }

    /// The scopes a challenge names.
    fn wanted(&self, challenge: Option<&str>) -> Vec<String> {
        let (Some(challenge), Ok(url)) = (challenge, reqwest::Url::parse(&self.remote.url)) else {
            return Vec::new();
        };
        let scope = WWWAuthenticateParams::parse(challenge, &url).scope.unwrap_or_default();
        scope.split_whitespace().map(str::to_owned).collect()
    }
}

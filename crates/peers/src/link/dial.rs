//! From an address to a connection that has been greeted: which transport, which era, and what
//! to try next when a server does not know the first.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, OnceLock},
};

use super::{
    Carrier, HttpCarrier, Inbox, Link, LooseMessages, Sse, greet,
    http::{self, Address, ClientKind},
};
use crate::{
    auth::{Authorize, Login, install_tls},
    spec::{EraChoice, Remote, ServerName},
    wire::{Loss, origin},
};

/// The state that all remote servers share: kept connections, and the place of logins.
pub(crate) struct Door {
    /// One for each kind of address, made for the first server that needs it.
    clients: [OnceLock<Result<reqwest::Client, String>>; ClientKind::COUNT],
    state: Option<PathBuf>,
    authorize: Authorize,
}

/// A greeted connection, and where its loose messages come out.
pub(crate) type ConnectedLink = (Arc<Link>, LooseMessages);

impl Door {
    /// Logins lie below this state directory; without one they last as long as the process.
    pub(crate) fn new(state: Option<&Path>, authorize: Authorize) -> Self {
        Self { clients: Default::default(), state: state.map(Path::to_owned), authorize }
    }

    fn address(&self, name: &ServerName, remote: &Remote) -> Result<Address, Loss> {
        install_tls();
        let kind = ClientKind::new(&origin::parse(&remote.url).map_err(Loss::Failed)?);
        let client = self.clients[kind.number()].get_or_init(|| http::client(kind));
        let client = client.clone().map_err(Loss::Failed)?;
        let login = Login::new(name, remote, self.state.as_deref(), self.authorize, client.clone());
        Address::new(client, remote, login).map_err(Loss::Failed)
    }
}

/// Connects to a server over streamable HTTP. One that does not know its handshake is tried
/// over the transport of 2024 at the same address, as the protocol wants it.
pub(crate) async fn connect(
    name: &ServerName,
    remote: &Remote,
    choice: EraChoice,
    capabilities: &str,
    door: &Door,
) -> Result<ConnectedLink, Loss> {
    let (inbox, loose) = Inbox::new();
    let carrier = HttpCarrier::new(door.address(name, remote)?, inbox.clone());
    let link = Link::new(Carrier::Http(carrier), inbox);
    let Err(unfit) = greet(&link, choice, capabilities).await else { return Ok((link, loose)) };
    let (loss, older) = (unfit.into_loss(), link.speaks_otherwise());
    link.stop().await;
    if !older || choice == EraChoice::Modern {
        return Err(loss);
    }
    match connect_sse(name, remote, capabilities, door).await {
        Ok(connected) => Ok(connected),
        Err(wants @ Loss::Unauthorized(_)) => Err(wants),
        // The first refusal says more about an address that speaks neither.
        Err(_) => Err(loss),
    }
}

/// Connects to a server over the transport of 2024, which only the older era knows.
pub(crate) async fn connect_sse(
    name: &ServerName,
    remote: &Remote,
    capabilities: &str,
    door: &Door,
) -> Result<ConnectedLink, Loss> {
    let (inbox, loose) = Inbox::new();
    let carrier = Sse::open(door.address(name, remote)?, inbox.clone()).await?;
    let link = Link::new(Carrier::Sse(carrier), inbox);
    let greeted = greet(&link, EraChoice::Legacy, capabilities).await;
    let Err(unfit) = greeted else { return Ok((link, loose)) };
    link.stop().await;
    Err(unfit.into_loss())
}

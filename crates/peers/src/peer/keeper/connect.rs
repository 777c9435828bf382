//! From a server's spec to a connection that has been greeted.

use std::sync::Arc;

use tokio::sync::mpsc;

use crate::{
    child::{self, Order},
    link::{self, Carrier, Inbox, Link, Loose, Loss, Pipes, Unfit, greet},
    peer::{Class, Peer, Surroundings},
    spec::{EraChoice, Transport},
};

/// Opens a connection. A server that dies at the question for its era is started again and
/// asked in the older way.
pub(super) async fn connect(
    peer: &Peer,
    around: &Surroundings,
    class: &Class,
) -> Result<(Arc<Link>, mpsc::Receiver<Loose>), Loss> {
    let abilities = if class.abilities.is_empty() { "{}" } else { &class.abilities };
    let era = peer.era();
    match &peer.spec.transport {
        Transport::Stdio(launch) => {
            let start = |era: EraChoice| async move {
                let (inbox, loose) = Inbox::new();
                let inbox = Arc::new(inbox);
                let order = Order { launch, directory: &around.directory, guard: around.guard.as_deref() };
                let child = child::start(&order, peer.stderr.clone())
                    .map_err(|error| Unfit::Lost(Loss::Gone(error.to_string())))?;
                let link = Link::new(Carrier::Stdio(Pipes::new(child, inbox.clone())), inbox);
                match greet(&link, era, abilities).await {
                    Ok(()) => Ok((link, loose)),
                    Err(unfit) => {
                        link.stop().await;
                        Err(unfit)
                    }
                }
            };
            match start(era).await {
                Ok(opened) => Ok(opened),
                Err(Unfit::DiedAtProbe(_)) => start(EraChoice::Legacy).await.map_err(Unfit::into_loss),
                Err(Unfit::Lost(loss)) => Err(loss),
            }
        }
        Transport::Http(remote) => link::connect(&peer.spec.name, remote, era, abilities, &around.door).await,
        Transport::Sse(remote) => link::connect_sse(&peer.spec.name, remote, abilities, &around.door).await,
    }
}

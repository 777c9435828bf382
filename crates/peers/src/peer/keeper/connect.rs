//! From a server's spec to a connection that has been greeted.

use std::time::Duration;

use tokio::time::{Instant, timeout, timeout_at};

use crate::{
    child::{self, Order},
    link::{self, Carrier, ConnectedLink, Inbox, Link, Loss, Pipes, Unfit, greet},
    peer::{Class, Peer, Surroundings},
    spec::{EraChoice, Launch, Transport},
};

/// The time the end of a server may take to be known, once its pipes are closed.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// Opens a connection, within the time a start may take. A program that dies at the question for its
/// era is started again and asked in the older way.
pub(super) async fn connect(
    peer: &Peer,
    around: &Surroundings,
    class: &Class,
) -> Result<ConnectedLink, Loss> {
    let abilities = if class.abilities.is_empty() { "{}" } else { &class.abilities };
    let (era, name) = (peer.era(), &peer.spec.name);
    let until = Instant::now() + peer.spec.start_timeout;
    let opened = match &peer.spec.transport {
        Transport::Stdio(launch) => {
            let start = |era| start(peer, around, launch, era, abilities, until);
            let opened = match start(era).await {
                Err(Unfit::DiedAtProbe(first)) => match start(EraChoice::Legacy).await {
                    // A second start that had no time left tells nothing.
                    Err(_) if Instant::now() >= until => Err(Unfit::Lost(first)),
                    again => again,
                },
                opened => opened,
            };
            return opened.map_err(Unfit::into_loss);
        }
        Transport::Http(remote) => {
            timeout_at(until, link::connect(name, remote, era, abilities, &around.door)).await
        }
        Transport::Sse(remote) => {
            timeout_at(until, link::connect_sse(name, remote, abilities, &around.door)).await
        }
    };
    opened.unwrap_or_else(|_| Err(late(peer)))
}

/// Starts a program and greets it.
async fn start(
    peer: &Peer,
    around: &Surroundings,
    launch: &Launch,
    era: EraChoice,
    abilities: &str,
    until: Instant,
) -> Result<ConnectedLink, Unfit> {
    let (inbox, loose) = Inbox::new();
    let order = Order { launch, directory: &around.directory, guard: around.guard.as_deref() };
    let child = child::start(&order, peer.stderr.clone())
        .map_err(|error| Unfit::Lost(Loss::Gone(error.to_string())))?;
    let link = Link::new(Carrier::Stdio(Pipes::new(child, inbox.clone())), inbox);
    let greeted = timeout_at(until, greet(&link, era, abilities)).await;
    let unfit = match greeted.unwrap_or_else(|_| Err(Unfit::Lost(late(peer)))) {
        Ok(()) => return Ok((link, loose)),
        Err(Unfit::DiedAtProbe(loss)) => Unfit::DiedAtProbe(told(&link, loss).await),
        Err(Unfit::Lost(loss)) => Unfit::Lost(told(&link, loss).await),
    };
    link.stop().await;
    Err(unfit)
}

/// The reason why a program was not greeted, with what it did instead. A closed pipe is only the first
/// sign of its end: how it ended is waited for.
async fn told(link: &Link, loss: Loss) -> Loss {
    let loss = match loss {
        Loss::Gone(sign) => {
            let _ = timeout(LAST_WORDS, link.closed().cancelled()).await;
            let how = link.inbox.lost().map_or(sign, |lost| lost.to_string());
            Loss::Gone(format!("{how} before it answered"))
        }
        other => other,
    };
    match (loss, link.inbox.noise()) {
        (Loss::Gone(why), Some(noise)) => Loss::Gone(format!("{why}; {noise}")),
        (Loss::Failed(why), Some(noise)) => Loss::Failed(format!("{why}; {noise}")),
        (loss, _) => loss,
    }
}

fn late(peer: &Peer) -> Loss {
    Loss::Failed(format!("it was not ready within {} s of its start", peer.spec.start_timeout.as_secs()))
}

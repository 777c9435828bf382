//! Asking servers that were never met whether they are observers. One that cannot be reached, or does
//! not say what it offers, is asked again; nobody waits for it.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use parking_lot::Mutex;
use tokio::{
    task::JoinHandle,
    time::{sleep, timeout},
};

use super::sink::DISCOVERY;
use crate::{federation::Federation, peer::Peer, spec::ServerName};

/// Before a server is asked again; each further time doubles it. Five failures within a minute would
/// have it left alone, and who calls its tools would be refused for our sake.
const FIRST_PAUSE: Duration = Duration::from_secs(5);
/// The longest such pause: a server that was started late is found within a minute.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// The servers that are being asked.
#[derive(Debug, Default)]
pub(super) struct Asking(Mutex<BTreeMap<ServerName, Asked>>);

/// One of them, and the task that asks.
type Asked = (Arc<Peer>, JoinHandle<()>);

impl Asking {
    /// Asks those of these servers that never said what they offer, and no others any more.
    pub(super) fn follow<'p>(
        &self,
        federation: &Arc<Federation>,
        peers: impl Iterator<Item = (&'p ServerName, &'p Arc<Peer>)>,
    ) {
        let mut asked = self.0.lock();
        let mut before = std::mem::take(&mut *asked);
        for (name, peer) in peers.filter(|(_, peer)| !peer.offer().known) {
            let entry = match before.remove(name) {
                Some((held, task)) if Arc::ptr_eq(&held, peer) => (held, task),
                other => {
                    end(other);
                    (peer.clone(), tokio::spawn(ask(federation.clone(), peer.clone())))
                }
            };
            asked.insert(name.clone(), entry);
        }
        end(before.into_values());
    }

    /// Asks nobody any more.
    pub(super) fn stop(&self) {
        end(std::mem::take(&mut *self.0.lock()).into_values());
    }
}

fn end(tasks: impl IntoIterator<Item = Asked>) {
    tasks.into_iter().for_each(|(_, task)| task.abort());
}

/// Starts a server to learn what it offers, until it is known.
async fn ask(federation: Arc<Federation>, peer: Arc<Peer>) {
    let mut pause = FIRST_PAUSE;
    while !peer.offer().known {
        let (abilities, client) = federation.roster.first_client();
        let class = peer.class(&abilities, client);
        let turn = federation.roster.starts.turn().await;
        if peer.offer().known {
            return;
        }
        match timeout(DISCOVERY, peer.link(&class)).await {
            Ok(Ok(_)) => {}
            Ok(Err(fault)) => {
                tracing::debug!(server = %peer.spec.name, why = fault.message, "is no observer for now");
            }
            Err(_) => {
                tracing::debug!(server = %peer.spec.name, "has not said in 5 s whether it is an observer");
            }
        }
        drop(turn);
        sleep(pause).await;
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

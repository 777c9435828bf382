//! The clients of the older era that are there, for what belongs to no call of theirs.

use std::{
    collections::BTreeMap,
    sync::{Arc, Weak},
};

use parking_lot::Mutex;

use super::{Conversation, SeenFile};

/// All clients with a handshake, by their numbers. It keeps none of them alive.
#[derive(Debug, Default)]
pub(crate) struct Clients(Mutex<BTreeMap<u64, Weak<Conversation>>>);

impl Clients {
    /// Adds a client after its handshake. Gives back those that left without a word; they are removed.
    pub(crate) fn join(&self, client: &Arc<Conversation>) -> Vec<u64> {
        let mut clients = self.0.lock();
        let gone: Vec<u64> =
            clients.iter().filter(|(_, client)| client.strong_count() == 0).map(|(key, _)| *key).collect();
        clients.retain(|_, client| client.strong_count() > 0);
        clients.insert(client.key(), Arc::downgrade(client));
        gone
    }

    /// One left.
    pub(crate) fn leave(&self, key: u64) {
        self.0.lock().remove(&key);
    }

    /// What they say they are: name and version.
    pub(crate) fn introduced(&self) -> Vec<(String, String)> {
        let clients: Vec<_> = self.0.lock().values().filter_map(Weak::upgrade).collect();
        clients.iter().map(|client| client.client()).map(|it| (it.name.clone(), it.version.clone())).collect()
    }

    /// The files that the models of each know, by the client's name.
    pub(crate) fn known_files(&self) -> Vec<(String, Vec<SeenFile>)> {
        let clients: Vec<_> = self.0.lock().values().filter_map(Weak::upgrade).collect();
        clients.iter().map(|client| (client.client().name.clone(), client.known_files())).collect()
    }

    /// The one client of which this is true; none when it is true of several.
    pub(crate) fn only(&self, fits: impl Fn(&Conversation) -> bool) -> Option<Arc<Conversation>> {
        let clients = self.0.lock();
        let mut fitting = clients.values().filter_map(Weak::upgrade).filter(|client| fits(client));
        let first = fitting.next()?;
        fitting.next().is_none().then_some(first)
    }
}

#[cfg(test)]
mod tests {
    use tectum_core::SessionId;

    use super::*;
    use crate::client::unheard::Unheard;

    #[test]
    fn only_one_is_ever_meant() {
        let (clients, client) =
            (Clients::default(), || Conversation::new(SessionId::new("test"), Unheard::default()));
        let (one, two) = (client(), client());
        assert!(clients.only(|_| true).is_none());
        assert!(clients.join(&one).is_empty());
        assert!(clients.join(&one).is_empty());
        assert_eq!(clients.only(|_| true).map(|found| found.key()), Some(one.key()));
        assert!(clients.join(&two).is_empty());
        assert!(clients.only(|_| true).is_none(), "two could be meant");
        assert_eq!(clients.only(|some| some.key() == two.key()).map(|found| found.key()), Some(two.key()));
        clients.leave(one.key());
        assert_eq!(clients.only(|_| true).map(|found| found.key()), Some(two.key()));
        let key = two.key();
        drop(two);
        assert!(clients.only(|_| true).is_none(), "who is gone cannot be asked");
        assert_eq!(clients.join(&one), [key], "and is told when the next one comes");
    }
}

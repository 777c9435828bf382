//! Who was told of what, and who has seen it.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};
use tectum_attention::{News, NewsId};

use crate::{
    line::Line,
    reader::{Audience, Reader, ReaderKey},
};

/// News that are remembered; the oldest that somebody has seen make room, then the oldest.
const MOST_NEWS: usize = 256;
/// Models that are remembered; the one that called least lately makes room.
const MOST_READERS: usize = 64;

/// One model was told.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Telling {
    /// Who was told.
    pub reader: ReaderKey,
    /// The name of its client.
    pub client: String,
    /// The way, such as `result` or `hook`.
    pub how: String,
    /// When.
    pub at: f64,
    /// When the model showed that it arrived.
    pub seen: Option<f64>,
}

/// A piece of news, and who was told of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Told {
    /// The news.
    pub news: News,
    /// What it is about, such as a file.
    pub subject: Option<String>,
    /// Whom it concerns.
    pub audience: Audience,
    /// Who was told.
    pub told: Vec<Telling>,
}

impl Told {
    /// True if any model has seen it.
    pub fn seen(&self) -> bool {
        self.told.iter().any(|telling| telling.seen.is_some())
    }

    fn is_due(&self, reader: &Reader) -> bool {
        // What was there before the reader, and was seen by another one, is no news to it.
        let open = self.news.at >= reader.since || !self.seen();
        open && self.audience.includes(&reader.key)
            && self.told.iter().all(|telling| telling.reader != reader.key)
    }
}

/// The news that there were, and who knows of them.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Ledger {
    news: VecDeque<Told>,
    readers: Vec<Reader>,
    /// News that made room before anybody was told.
    untold: u64,
}

impl Ledger {
    /// There is a new one.
    pub(crate) fn add(&mut self, news: News, subject: Option<String>, audience: Audience) {
        if self.news.len() >= MOST_NEWS {
            let goes = self.news.iter().position(Told::seen).unwrap_or(0);
            self.untold += u64::from(self.news.remove(goes).is_some_and(|gone| gone.told.is_empty()));
        }
        self.news.push_back(Told { news, subject, audience, told: Vec::new() });
    }

    /// A model is there. What it was told before has arrived: it would not have gone on without it.
    /// Returns what was not known to have arrived.
    pub(crate) fn heard(&mut self, key: &ReaderKey, client: &str, now: f64) -> Vec<NewsId> {
        self.meet(key, client, now);
        let mut seen = Vec::new();
        for told in &mut self.news {
            for telling in told.told.iter_mut().filter(|telling| telling.reader == *key) {
                if telling.seen.is_none() {
                    telling.seen = Some(now);
                    seen.push(told.news.id);
                }
            }
        }
        seen
    }

    fn meet(&mut self, key: &ReaderKey, client: &str, now: f64) -> usize {
        if let Some(at) = self.readers.iter().position(|reader| reader.key == *key) {
            self.readers[at].last = now;
            if !client.is_empty() {
                self.readers[at].client = client.to_owned();
            }
            return at;
        }
        // Its hooks may have spoken before its first call: it is the same model.
        let name = client.to_lowercase();
        let met = |reader: &Reader| reader.key.is_of_hook() && name.contains(&reader.client);
        if let Some(at) = self.readers.iter().rposition(met).filter(|_| !key.is_of_hook()) {
            let before = std::mem::replace(&mut self.readers[at].key, key.clone());
            let tellings = self.news.iter_mut().flat_map(|told| &mut told.told);
            tellings
                .filter(|telling| telling.reader == before)
                .for_each(|telling| telling.reader = key.clone());
            (self.readers[at].last, self.readers[at].client) = (now, client.to_owned());
            return at;
        }
        if self.readers.len() >= MOST_READERS {
            let least = self.readers.iter().enumerate().min_by(|(_, a), (_, b)| a.last.total_cmp(&b.last));
            if let Some(at) = least.map(|(at, _)| at) {
                self.readers.remove(at);
            }
        }
        let (key, client) = (key.clone(), client.to_owned());
        self.readers.push(Reader { key, client, since: now, last: now, hook_session: None });
        self.readers.len() - 1
    }

    /// The model that a client's hook speaks for: one that this hook spoke for before, or the one of that
    /// client that called last and that no other hook speaks for; else one of the hook's own. `client` is a
    /// word of the client's name, in lower case.
    pub(crate) fn hooked(
        &mut self,
        is_client: impl Fn(&str) -> bool,
        client: &str,
        hook_session: &str,
        now: f64,
    ) -> ReaderKey {
        let known = |reader: &&mut Reader| reader.hook_session.as_deref() == Some(hook_session);
        let its = |reader: &Reader| is_client(&reader.client) || reader.client == client;
        if let Some(reader) = self.readers.iter_mut().filter(|reader| its(reader)).find(known) {
            reader.last = now;
            return reader.key.clone();
        }
        let free = self.readers.iter_mut().filter(|reader| reader.hook_session.is_none());
        let free = free.filter(|reader| is_client(&reader.client));
        if let Some(reader) = free.max_by(|a, b| a.last.total_cmp(&b.last)) {
            reader.hook_session = Some(hook_session.to_owned());
            return reader.key.clone();
        }
        let key = ReaderKey::of_hook(client, hook_session);
        let at = self.meet(&key, client, now);
        self.readers[at].hook_session = Some(hook_session.to_owned());
        key
    }

    /// The next line for a model, which counts as told from now on. Urgent ones come first, then the oldest.
    pub(crate) fn tell(&mut self, key: &ReaderKey, how: &str, urgent_only: bool, now: f64) -> Option<Line> {
        let reader = self.readers.iter().find(|reader| reader.key == *key)?;
        let due = self.news.iter_mut().filter(|told| told.is_due(reader));
        let due = due.filter(|told| told.news.urgent || !urgent_only);
        let told = due.min_by_key(|told| (!told.news.urgent, told.news.id))?;
        told.told.push(Telling {
            reader: key.clone(),
            client: reader.client.clone(),
            how: how.to_owned(),
            at: now,
            seen: None,
        });
        Some(Line { id: told.news.id.to_string(), sentence: told.news.sentence.clone() })
    }

    /// True if a model has not been told of something yet.
    pub(crate) fn is_due(&self, key: &ReaderKey) -> bool {
        let reader = self.readers.iter().find(|reader| reader.key == *key);
        reader.is_some_and(|reader| self.news.iter().any(|told| told.is_due(reader)))
    }

    /// News that are not true any more go, unless somebody was told of them.
    pub(crate) fn drop_untold(&mut self, gone: impl Fn(&News) -> bool) {
        self.news.retain(|told| !told.told.is_empty() || !gone(&told.news));
    }

    /// All of them, the oldest first.
    pub fn news(&self) -> impl DoubleEndedIterator<Item = &Told> {
        self.news.iter()
    }

    /// The models that were met.
    pub fn readers(&self) -> &[Reader] {
        &self.readers
    }

    /// News that made room before anybody was told of them.
    pub fn untold(&self) -> u64 {
        self.untold
    }

    /// After a restart nobody is there, and what nobody has seen is news to the next one.
    pub(crate) fn restart(&mut self) {
        self.readers.clear();
    }
}

#[cfg(test)]
#[path = "ledger_tests.rs"]
mod tests;

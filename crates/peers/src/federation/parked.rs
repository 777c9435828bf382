//! The requests that wait for the next try of a modern client. A call at a legacy server stays open
//! here while the client makes up its mind; a question of our own rules waits for its answer.
//!
//! They live in this process only. What the client carries between its tries is a handle it can
//! neither make nor change, good for one use, for the same request and for a limited time.

use std::{
    collections::HashMap,
    sync::Arc,
    time::{Duration, Instant},
};

use base64::Engine as _;
use parking_lot::Mutex;
use subtle::ConstantTimeEq as _;
use tectum_core::{Fault, FaultKind};

use crate::link::{self, Exchange};

/// The time a server's call waits for the client's next try.
const PATIENCE: Duration = Duration::from_secs(10 * 60);
/// Calls that may wait at once; beyond that the next one is refused.
const MOST: usize = 1024;
/// The beginning of the handles of servers' calls; servers' own states pass through.
const MARK: &str = "tectum1.";

/// A question of a server's that waits for its answer.
#[derive(Debug)]
pub(crate) struct ParkedQuestion {
    /// The name that the client knows it by.
    pub(crate) key: String,
    /// The server's question.
    pub(crate) asked: link::Question,
}

/// A call that waits.
#[derive(Debug)]
pub(crate) struct Parked {
    /// The server's side of it.
    pub(crate) exchange: Exchange,
    /// The server's questions.
    pub(crate) questions: Vec<ParkedQuestion>,
}

/// The waiting things of one kind.
#[derive(Debug)]
pub(crate) struct Shelf<T = Parked> {
    mark: &'static str,
    key: [u8; 32],
    waiting: Arc<Mutex<HashMap<[u8; 16], ShelfPlace<T>>>>,
}

#[derive(Debug)]
struct ShelfPlace<T> {
    parked: T,
    digest: blake3::Hash,
    until: Instant,
}

impl ParkedQuestion {
    /// The `number`th question of a call. A server that names its questions keeps its names.
    pub(crate) fn new(number: usize, asked: link::Question) -> Self {
        let named = serde_json::from_str::<String>(&asked.id).ok().filter(|name| !name.is_empty());
        Self { key: named.unwrap_or_else(|| format!("question_{number}")), asked }
    }
}

impl Default for Shelf {
    fn default() -> Self {
        Self::new(MARK)
    }
}

impl<T: Send + 'static> Shelf<T> {
    /// An empty one, whose handles begin with this mark.
    pub(crate) fn new(mark: &'static str) -> Self {
        let mut key = [0; 32];
        // Without random numbers nothing can be signed; then no handle is ever good.
        let _ = getrandom::fill(&mut key);
        Self { mark, key, waiting: Arc::default() }
    }

    /// True for a state that was handed out here, or that pretends to be one.
    pub(crate) fn is_ours(&self, state: &str) -> bool {
        state.starts_with(self.mark)
    }

    /// Lets something wait, and gives the handle for it.
    pub(crate) fn park(&self, parked: T, digest: blake3::Hash) -> Result<String, Fault> {
        let mut handle = [0; 16];
        getrandom::fill(&mut handle).map_err(|_| Fault::internal("no random numbers for a handle"))?;
        let until = Instant::now() + PATIENCE;
        let mut waiting = self.waiting.lock();
        waiting.retain(|_, place| place.until > Instant::now());
        if waiting.len() >= MOST {
            return Err(Fault::new(FaultKind::Upstream, "too many calls wait for answers of their clients")
                .hint("answer or give up some of them first"));
        }
        waiting.insert(handle, ShelfPlace { parked, digest, until });
        drop(waiting);
        self.sweep_later();
        Ok(self.sealed(&handle))
    }

    /// The parked value of a handle, if the handle is whole, unused, in time and comes with the
    /// same request. Whoever may call here showed the one token there is, so a handle need not name its
    /// owner.
    pub(crate) fn take(&self, state: &str, digest: &blake3::Hash) -> Result<T, String> {
        let refuse = |why: &str| Err(format!("requestState: {why}"));
        let engine = base64::engine::general_purpose::URL_SAFE_NO_PAD;
        let bytes = state.strip_prefix(self.mark).and_then(|text| engine.decode(text).ok());
        let Some(handle) = bytes.as_deref().and_then(|bytes| bytes.get(..16)?.try_into().ok()) else {
            return refuse("it is not one that was given here");
        };
        let handle: [u8; 16] = handle;
        if !bool::from(self.sealed(&handle).as_bytes().ct_eq(state.as_bytes())) {
            return refuse("it was changed");
        }
        let mut waiting = self.waiting.lock();
        match waiting.get(&handle) {
            Some(place) if place.until <= Instant::now() => {}
            Some(place) if place.digest != *digest => {
                return refuse("it belongs to another request");
            }
            Some(_) => match waiting.remove(&handle) {
                Some(place) => return Ok(place.parked),
                None => return refuse("it was used before"),
            },
            None => {}
        }
        refuse("it was used before, or nobody answered in time; start again without it")
    }

    fn sealed(&self, handle: &[u8; 16]) -> String {
        let seal = blake3::keyed_hash(&self.key, handle);
        let mut bytes = handle.to_vec();
        bytes.extend_from_slice(&seal.as_bytes()[..16]);
        format!("{}{}", self.mark, base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(bytes))
    }

    /// Lets go of requests that nobody comes back for: a call is cancelled at its server, a question
    /// taken back.
    fn sweep_later(&self) {
        let waiting = Arc::downgrade(&self.waiting);
        tokio::spawn(async move {
            tokio::time::sleep(PATIENCE + Duration::from_secs(1)).await;
            if let Some(waiting) = waiting.upgrade() {
                let mut waiting = waiting.lock();
                waiting.retain(|_, place| place.until > Instant::now());
            }
        });
    }
}

//! The houses that a call has passed through. Their names travel in `_meta` to servers and
//! observers, and a call that comes back to one of them is refused before it does anything. Calls
//! that an observer makes by itself are known by its process, and are not copied to it.

use std::{borrow::Cow, collections::VecDeque, sync::Arc};

use parking_lot::Mutex;
use serde_json::value::RawValue;
use tectum_core::CallId;

/// The member of `_meta` that holds the names, the first house first.
pub(crate) const KEY: &str = "tectum/lineage";
/// Houses that a call may pass through, this one included: more serve no purpose.
const MOST_HOUSES: usize = 8;
/// The longest list that is read; ours are far shorter.
const MOST_BYTES: usize = 1024;
/// Calls whose lineage is kept for their copies: more than there are copies at once.
const MOST_CALLS: usize = 1024;

tokio::task_local! {
    /// The observer whose process sent the request that is being handled.
    pub(crate) static SENDER: Arc<str>;
}

/// The name of this house, and the lineages of the latest calls that came from other houses or from
/// observers.
#[derive(Debug)]
pub(crate) struct Lineage {
    house: String,
    /// The lineage of what begins here, as JSON.
    own: String,
    calls: Mutex<VecDeque<Known>>,
}

/// One call of another house or of an observer.
#[derive(Debug)]
struct Known {
    call: CallId,
    passed: Option<String>,
    sender: Option<Arc<str>>,
}

impl Default for Lineage {
    fn default() -> Self {
        let house = format!("h-{:016x}", getrandom::u64().unwrap_or_default());
        Self { own: format!("[\"{house}\"]"), house, calls: Mutex::default() }
    }
}

impl Lineage {
    /// The reason why a request with this lineage goes no further, if it does not.
    pub(crate) fn refusal(&self, passed: Option<&RawValue>) -> Option<String> {
        let Some(houses) = houses(passed?.get()) else {
            return Some(format!("`{KEY}` in `_meta` must be a list of names: pass it on as it came"));
        };
        if houses.contains(&self.house.as_str().into()) {
            return Some(
                "this call came back to a Tectum that it already passed through: it is a circle and goes no \
                 further. An observer or a server that reacts to a call must not make that call again here"
                    .into(),
            );
        }
        (houses.len() >= MOST_HOUSES)
            .then(|| format!("this call passed through {} other Tectums: it goes no further", houses.len()))
    }

    /// The lineage of what a request with this lineage causes, as JSON.
    pub(crate) fn extended(&self, passed: Option<&str>) -> String {
        let Some(mut all) = passed.and_then(houses) else { return self.own.clone() };
        all.push(self.house.as_str().into());
        serde_json::to_string(&all).unwrap_or_default()
    }

    /// Keeps the lineage of the call that is being handled for its copies, if it has one.
    pub(crate) fn keep(&self, call: CallId, passed: Option<&RawValue>) {
        let sender = SENDER.try_with(Arc::clone).ok();
        if passed.is_none() && sender.is_none() {
            return;
        }
        let mut calls = self.calls.lock();
        if calls.len() == MOST_CALLS {
            calls.pop_front();
        }
        calls.push_back(Known { call, passed: passed.map(|raw| raw.get().to_owned()), sender });
    }

    /// True if this observer made the call itself.
    pub(crate) fn is_from(&self, call: CallId, observer: &str) -> bool {
        let known = |known: &Known| known.call == call && known.sender.as_deref() == Some(observer);
        self.calls.lock().iter().any(known)
    }

    /// The lineage of a call's copies, as JSON.
    pub(crate) fn copied(&self, call: CallId) -> String {
        let calls = self.calls.lock();
        let known = calls.iter().rev().find(|known| known.call == call);
        self.extended(known.and_then(|known| known.passed.as_deref()))
    }
}

fn houses(json: &str) -> Option<Vec<Cow<'_, str>>> {
    (json.len() <= MOST_BYTES).then(|| serde_json::from_str(json).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(json: &str) -> Box<RawValue> {
        RawValue::from_string(json.into()).expect("JSON")
    }

    #[test]
    fn a_call_that_comes_back_is_refused_and_others_pass() {
        let (one, two) = (Lineage::default(), Lineage::default());
        assert_eq!(one.refusal(None), None);
        let sent = one.extended(None);
        assert_eq!(two.refusal(Some(&raw(&sent))), None);
        assert!(one.refusal(Some(&raw(&sent))).is_some_and(|why| why.contains("circle")));
        let further = two.extended(Some(&sent));
        for house in [&one, &two] {
            assert!(house.refusal(Some(&raw(&further))).is_some_and(|why| why.contains("circle")));
        }
        assert_eq!(Lineage::default().refusal(Some(&raw(&further))), None);
    }

    #[test]
    fn a_chain_of_ever_new_houses_ends() {
        let mut passed = "[]".to_owned();
        let length = (0..100)
            .take_while(|_| {
                let next = Lineage::default();
                let goes_on = next.refusal(Some(&raw(&passed))).is_none();
                passed = next.extended(Some(&passed));
                goes_on
            })
            .count();
        assert_eq!(length, MOST_HOUSES);
    }

    #[test]
    fn what_is_no_lineage_is_refused() {
        let long = format!("[\"{}\"]", "x".repeat(MOST_BYTES));
        for wrong in ["1", "{}", "\"h\"", "[1]", "null", &long] {
            assert!(Lineage::default().refusal(Some(&raw(wrong))).is_some(), "{wrong}");
        }
    }

    #[test]
    fn copies_have_the_lineage_of_their_call() {
        let (one, two) = (Lineage::default(), Lineage::default());
        let (known, unknown) = (CallId::fresh(), CallId::fresh());
        two.keep(known, Some(&raw(&one.extended(None))));
        assert!(two.copied(known).contains(&one.house) && two.copied(known).contains(&two.house));
        assert_eq!(two.copied(unknown), two.extended(None));
        for _ in 0..MOST_CALLS {
            two.keep(CallId::fresh(), Some(&raw("[]")));
        }
        assert_eq!(two.copied(known), two.extended(None), "the oldest make room");
    }

    #[test]
    fn calls_of_an_observer_are_known_as_its_own() {
        let (house, own, other) = (Lineage::default(), CallId::fresh(), CallId::fresh());
        SENDER.sync_scope("diary".into(), || house.keep(own, None));
        house.keep(other, None);
        assert!(house.is_from(own, "diary") && !house.is_from(own, "eye") && !house.is_from(other, "diary"));
    }
}

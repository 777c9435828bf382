//! Signs of life of a call: a note of progress whenever nothing else was told for a while, so that a
//! client that counts silence does not give up. Numbers of progress only ever rise.

use std::{pin::pin, time::Duration};

use parking_lot::Mutex;
use tokio::time::Instant;

use super::Outbox;
use crate::wire::{Members, Object, frame};

/// The longest silence.
const BEAT: Duration = Duration::from_secs(15);
/// The progress of a sign of life: far less than anything a tool counts.
const STEP: f64 = 1e-6;

/// The progress of one call whose client wants to hear of it.
#[derive(Debug)]
pub(crate) struct Pulse {
    /// The client's token, as it was written.
    token: String,
    outbox: Outbox,
    began: Instant,
    told: Mutex<LastNote>,
}

#[derive(Debug)]
struct LastNote {
    /// The last number.
    progress: Option<f64>,
    at: Instant,
}

impl Pulse {
    /// The pulse of a call whose client brought this token.
    pub(crate) fn new(token: &str, outbox: Outbox) -> Self {
        let now = Instant::now();
        Self {
            token: token.to_owned(),
            outbox,
            began: now,
            told: Mutex::new(LastNote { progress: None, at: now }),
        }
    }

    /// A note of progress as its client takes it. `params` are as the server wrote them; its number
    /// stays as it is unless a sign of life has overtaken it.
    pub(crate) fn note(&self, params: &Members<'_>) -> Vec<u8> {
        let number = params.get("progress").and_then(|raw| raw.get().parse::<f64>().ok());
        let mut told = self.told.lock();
        let overtaken = number.is_some_and(|number| told.progress.is_some_and(|last| number <= last));
        let next = if overtaken { Some(told.next()) } else { number };
        *told = LastNote { progress: next.or(told.progress), at: Instant::now() };
        drop(told);
        let mut object = Object::new();
        object.raw("progressToken", &self.token);
        for (name, value) in params.0.iter().filter(|(name, _)| name != "progressToken") {
            match (&**name, next) {
                ("progress", Some(next)) if overtaken => object.raw(name, &next.to_string()),
                _ => object.raw(name, value.get()),
            };
        }
        frame::notification("notifications/progress", &object.end())
    }

    /// Tells of progress of our own tools.
    pub(crate) fn tell(&self, params: &str) {
        if let Some(members) = Members::of(params) {
            self.outbox.offer(self.note(&members));
        }
    }

    /// Does some work, with signs of life beside it.
    pub(crate) async fn beside<F: Future>(&self, work: F) -> F::Output {
        let mut work = pin!(work);
        loop {
            let next = self.told.lock().at + BEAT;
            tokio::select! {
                biased;
                done = &mut work => return done,
                () = tokio::time::sleep_until(next) => self.beat(),
            }
        }
    }

    fn beat(&self) {
        let (now, mut told) = (Instant::now(), self.told.lock());
        // Something else was told meanwhile.
        if now < told.at + BEAT {
            return;
        }
        let progress = told.next();
        *told = LastNote { progress: Some(progress), at: now };
        drop(told);
        let seconds = now.duration_since(self.began).as_secs();
        let mut object = Object::new();
        object.raw("progressToken", &self.token).raw("progress", &progress.to_string());
        let params = object.text("message", &format!("still running after {seconds} s")).end();
        self.outbox.offer(frame::notification("notifications/progress", &params));
    }
}

impl LastNote {
    /// The least number that is clearly more than the last.
    fn next(&self) -> f64 {
        let last = self.progress.unwrap_or(0.0);
        (last + STEP).max(last.next_up())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::{
        super::{
            outbox::{Bounds, Queue, queue},
            unheard::Unheard,
        },
        *,
    };

    fn pulse() -> (Pulse, Queue) {
        let (outbox, queue) = queue(Bounds { messages: 100, bytes: 100_000 }, Unheard::default(), None);
        (Pulse::new("\"t\"", outbox), queue)
    }

    fn heard(queue: &mut Queue) -> Vec<(f64, String)> {
        let mut notes = Vec::new();
        while let Ok(message) = queue.try_recv() {
            let note: Value = serde_json::from_slice(&message.bytes).expect("JSON");
            assert_eq!(note["params"]["progressToken"], "t");
            let message = note["params"]["message"].as_str().unwrap_or_default().to_owned();
            notes.push((note["params"]["progress"].as_f64().expect("a number"), message));
        }
        notes
    }

    #[tokio::test(start_paused = true)]
    async fn a_silent_call_gives_signs_of_life_until_it_ends() {
        let (pulse, mut queue) = pulse();
        pulse.beside(tokio::time::sleep(Duration::from_secs(50))).await;
        let notes = heard(&mut queue);
        assert_eq!(notes.len(), 3, "{notes:?}");
        assert!(notes.is_sorted_by(|one, other| one.0 < other.0), "{notes:?}");
        assert_eq!(notes[0].1, "still running after 15 s");
        pulse.beside(async {}).await;
        assert!(heard(&mut queue).is_empty(), "what ends at once says nothing");
    }

    #[tokio::test(start_paused = true)]
    async fn what_a_server_tells_stays_and_numbers_only_rise() {
        let (pulse, mut queue) = pulse();
        let work = async {
            tokio::time::sleep(Duration::from_secs(20)).await;
            for progress in ["0", "1", "1e15", "1000000000000001"] {
                pulse.tell(&format!(r#"{{"progress":{progress},"total":5,"progressToken":9}}"#));
                tokio::time::sleep(Duration::from_secs(10)).await;
            }
            tokio::time::sleep(Duration::from_secs(30)).await;
        };
        pulse.beside(work).await;
        let notes = heard(&mut queue);
        assert!(notes.is_sorted_by(|one, other| one.0 < other.0), "{notes:?}");
        let said = |number: f64| notes.iter().any(|(progress, _)| *progress == number);
        assert!(said(1.0) && said(1e15) && said(1e15 + 1.0), "{notes:?}");
        assert_eq!(notes.iter().filter(|(_, message)| !message.is_empty()).count(), 3, "{notes:?}");
    }
}

//! The health of a server, and the time of its next start.

use std::{
    collections::VecDeque,
    time::{Duration, Instant, SystemTime},
};

/// Deaths within this time count together.
const WINDOW: Duration = Duration::from_secs(60);
/// Deaths that are kept for people to look at.
const MOST_KEPT: usize = 50;
/// So many deaths open the breaker.
const MOST_DEATHS: usize = 5;
/// The first pause before a restart; each further death doubles it.
const FIRST_PAUSE: Duration = Duration::from_millis(250);
/// The longest pause before a restart.
const LONGEST_PAUSE: Duration = Duration::from_secs(4);
/// The longest pause before a server is started that nobody has ever met: whoever mends it finds it
/// there within two seconds of its next use.
const LONGEST_FIRST_PAUSE: Duration = Duration::from_secs(1);
/// The time the breaker stays open at first; each further time doubles it.
const FIRST_BREAK: Duration = Duration::from_secs(30);
/// The longest the breaker stays open.
const LONGEST_BREAK: Duration = Duration::from_secs(300);

/// The greatest deviation of a pause from its nominal length, as a part of it: servers that died
/// together do not come back in step, and what people are told is about right.
const SPREAD: f64 = 0.25;

/// The state of a server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum State {
    /// Not started; it will be when somebody needs it.
    #[default]
    Idle,
    /// On its way.
    Starting,
    /// There.
    Ready,
    /// Gone; it will be started at its next use.
    Down,
    /// It died too often and is left alone for a while.
    Broken,
    /// Ended for good.
    Stopped,
}

impl State {
    /// The word for people and programs.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::Starting => "starting",
            Self::Ready => "ready",
            Self::Down => "down",
            Self::Broken => "broken",
            Self::Stopped => "stopped",
        }
    }
}

/// The state of a server.
#[derive(Clone, Debug)]
pub(crate) struct Status {
    /// Its state.
    pub(crate) state: State,
    /// Since when.
    pub(crate) since: SystemTime,
    /// The number of times it was started.
    pub(crate) starts: u64,
    /// The reason why it is not there, or the last problem.
    pub(crate) error: Option<String>,
    /// When it died, and how; the last ones.
    pub(crate) deaths: Vec<(SystemTime, String)>,
}

impl Status {
    /// Keeps a death; the oldest makes room.
    pub(super) fn died(&mut self, how: &str) {
        let surplus = (self.deaths.len() + 1).saturating_sub(MOST_KEPT);
        self.deaths.drain(..surplus);
        self.deaths.push((SystemTime::now(), how.to_owned()));
    }
}

impl Default for Status {
    fn default() -> Self {
        Self { state: State::Idle, since: SystemTime::now(), starts: 0, error: None, deaths: Vec::new() }
    }
}

/// Remembers deaths and says when the next start may be.
#[derive(Debug, Default)]
pub(super) struct Deaths {
    recent: VecDeque<Instant>,
    breaks: u32,
    /// Nothing is started before this.
    until: Option<Instant>,
    open: bool,
}

impl Deaths {
    /// One more, of a server that never said what it offers: it is left alone between two uses, but
    /// not for long. `spread` is as below.
    pub(super) fn count_unmet(&mut self, now: Instant, spread: f64) {
        self.recent.push_back(now);
        let count = self.recent.len();
        let pause = match count {
            1 => Duration::ZERO,
            _ => FIRST_PAUSE.saturating_mul(1 << (count - 2).min(8)).min(LONGEST_FIRST_PAUSE),
        };
        // What is counted is enough for the longest pause.
        self.recent.truncate(MOST_DEATHS - 1);
        self.until = Some(now + spread_out(pause, spread));
    }

    /// One more. `spread` in 0..1 keeps several servers from coming back in step.
    pub(super) fn count(&mut self, now: Instant, spread: f64) {
        while self.recent.front().is_some_and(|first| now.duration_since(*first) > WINDOW) {
            self.recent.pop_front();
        }
        self.recent.push_back(now);
        let count = self.recent.len();
        let pause = if count >= MOST_DEATHS || self.open {
            let pause = FIRST_BREAK.saturating_mul(1 << self.breaks.min(8)).min(LONGEST_BREAK);
            self.breaks += 1;
            self.open = true;
            self.recent.clear();
            pause
        } else if count == 1 {
            // A first death says little: the next use starts it at once.
            Duration::ZERO
        } else {
            FIRST_PAUSE.saturating_mul(1 << (count - 2).min(8)).min(LONGEST_PAUSE)
        };
        self.until = Some(now + spread_out(pause, spread));
    }

    /// It has been there for a while: what was, is forgotten.
    pub(super) fn forget(&mut self) {
        *self = Self::default();
    }

    /// The time until it may be started.
    pub(super) fn pause(&self, now: Instant) -> Duration {
        self.until.map_or(Duration::ZERO, |until| until.saturating_duration_since(now))
    }

    /// True while it is left alone.
    pub(super) fn is_open(&self, now: Instant) -> bool {
        self.open && self.until.is_some_and(|until| until > now)
    }
}

fn spread_out(pause: Duration, spread: f64) -> Duration {
    pause.mul_f64(1.0 - SPREAD + 2.0 * SPREAD * spread.clamp(0.0, 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_was_never_met_is_never_left_alone_for_two_seconds() {
        let (mut deaths, now) = (Deaths::default(), Instant::now());
        let mut pauses = Vec::new();
        for _ in 0..8 {
            deaths.count_unmet(now, 1.0);
            assert!(!deaths.is_open(now));
            pauses.push(deaths.pause(now).as_millis());
        }
        assert_eq!(pauses, [0, 312, 625, 1250, 1250, 1250, 1250, 1250]);
        // Once it was met, its deaths count as those of others do.
        deaths.count(now, 0.5);
        assert!(deaths.is_open(now));
    }

    #[test]
    fn deaths_make_longer_pauses_and_then_a_break() {
        let (mut deaths, now) = (Deaths::default(), Instant::now());
        let mut pauses = Vec::new();
        for _ in 0..4 {
            deaths.count(now, 0.5);
            assert!(!deaths.is_open(now));
            pauses.push(deaths.pause(now).as_millis());
        }
        assert_eq!(pauses, [0, 250, 500, 1000]);
        deaths.count(now, 0.5);
        assert!(deaths.is_open(now));
        assert_eq!(deaths.pause(now), FIRST_BREAK);
        // When its time is over one attempt is free; if that fails, the next break is longer.
        let later = now + FIRST_BREAK;
        assert!(!deaths.is_open(later));
        deaths.count(later, 0.5);
        assert_eq!(deaths.pause(later), FIRST_BREAK * 2);
        deaths.forget();
        assert_eq!(deaths.pause(later), Duration::ZERO);
    }

    #[test]
    fn pauses_are_spread_but_about_what_is_said() {
        for (spread, factor) in [(0.0, 0.75), (1.0, 1.25)] {
            let (mut deaths, now) = (Deaths::default(), Instant::now());
            for _ in 0..MOST_DEATHS {
                deaths.count(now, spread);
            }
            assert_eq!(deaths.pause(now), FIRST_BREAK.mul_f64(factor));
        }
    }

    #[test]
    fn old_deaths_do_not_count() {
        let (mut deaths, now) = (Deaths::default(), Instant::now());
        for minute in 0..20_u32 {
            let at = now + WINDOW * 2 * minute;
            deaths.count(at, 0.5);
            assert_eq!(deaths.pause(at), Duration::ZERO);
        }
    }
}

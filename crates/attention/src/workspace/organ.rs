//! One organ: its memory, its content, and the facts of it that wait.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{kept::Kept, shown::OrganView};
use crate::{
    input::{Direction, Event, Reading, Seconds, Severity},
    settings::{Change, OrganConfig, Settings, Source},
    signal::{Leaf, Noticed, ResourceMemory, Signal, SignalKind, walk},
    theory::{encoder, ignition, vector},
};

/// Totals that are kept for a person to see.
const TRACE: usize = 60;
/// Facts of different subjects of one organ that wait at once.
const WAITING: usize = 64;

/// One organ.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Organ {
    pub(crate) config: OrganConfig,
    memory: ResourceMemory,
    encoded: Vec<f32>,
    pub(crate) latent: Vec<f32>,
    pub(crate) standing: Vec<f32>,
    pub(crate) phase: f64,
    pub(crate) trust: f64,
    read_at: Option<Seconds>,
    pub(crate) readable: bool,
    readings: u64,
    changes: u64,
    /// How often something broke lately, and when that was reckoned; then the same for numbers.
    heard: [(f64, Seconds); 2],
    /// The tick in which it won last.
    pub(crate) last_won: f64,
    pub(crate) wins: u64,
    pub(crate) pinned: bool,
    pub(crate) muted: bool,
    pub(crate) kept: Vec<Kept>,
    pub(crate) trace: VecDeque<(u64, f32)>,
    pub(crate) total: f64,
    last_signal: Option<Signal>,
    /// The host that the state is about, if it says so.
    pub(crate) cause: Option<String>,
}

/// What a reading did to the facts that wait.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Intake {
    pub(crate) changed: bool,
    pub(crate) kept: u64,
    pub(crate) returned: u64,
    pub(crate) merged: u64,
    pub(crate) dropped: u64,
    /// The path of told news whose value no longer stands.
    pub(crate) news_over: bool,
}

impl Organ {
    pub(crate) fn new(config: OrganConfig) -> Self {
        let dim = config.latent_dim;
        Self {
            config,
            memory: ResourceMemory::default(),
            encoded: Vec::new(),
            latent: Vec::new(),
            standing: vec![0.0; dim],
            phase: 0.0,
            trust: 0.75,
            read_at: None,
            readable: true,
            readings: 0,
            changes: 0,
            heard: [(0.0, 0.0); 2],
            last_won: ignition::NEVER,
            wins: 0,
            pinned: false,
            muted: false,
            kept: Vec::new(),
            trace: VecDeque::new(),
            total: 0.0,
            last_signal: None,
            cause: None,
        }
    }

    /// Takes in a state. `doubted` says of a cause whether others of it were told lately, until when.
    pub(crate) fn read(
        &mut self,
        reading: &Reading,
        tick: u64,
        settings: &Settings,
        doubted: impl Fn(&str) -> Option<Seconds>,
    ) -> Intake {
        let (at, state) = (reading.at, &reading.state);
        self.read_at = Some(at);
        self.readable = true;
        self.readings += 1;
        self.trust = reading.trust;
        self.cause = cause(state);
        let noticed = self.notice(at, state, settings);
        let mut intake =
            Intake { changed: noticed.signal.is_some(), dropped: noticed.dropped, ..Intake::default() };
        self.forget_returned(noticed.signal.as_ref(), &mut intake);
        let Some(signal) = noticed.signal else { return intake };
        self.changes += 1;
        self.last_signal = Some(signal.clone());
        let mut haystack = String::new();
        walk(state, &mut |_, leaf| {
            if let Leaf::Text(text) = leaf {
                Kept::add_text(&mut haystack, text);
            }
        });
        let lately = if noticed.temporary { Some(at + settings.doubt) } else { None };
        let doubted_until = lately.or_else(|| self.cause.as_deref().and_then(doubted));
        let fact = Kept {
            habituation: self.habituation(at, settings.habituation_half_life, signal.kind),
            subject: None,
            touches: None,
            details: None,
            at,
            tick,
            base: self.config.base_salience,
            freshness: 1.0,
            doubted_until,
            change: 0.0,
            salience: 0.0,
            pinned: self.pinned,
            haystack,
            touched: None,
            signal,
        };
        self.keep(fact, settings, &mut intake);
        intake
    }

    /// Takes in a finished fact.
    pub(crate) fn happen(&mut self, event: Event, tick: u64, settings: &Settings) -> Intake {
        self.read_at = Some(event.at);
        self.readings += 1;
        self.changes += 1;
        self.trust = 1.0;
        let mut intake = Intake { changed: true, ..Intake::default() };
        let same =
            |kept: &Kept| kept.subject.as_deref() == Some(&event.subject) && kept.signal.path == event.path;
        if let Some(at) =
            self.kept.iter().position(|kept| same(kept) && kept.signal.old.as_deref() == Some(&event.new))
        {
            self.kept.remove(at);
            intake.returned += 1;
            return intake;
        }
        let signal = Signal {
            organ: self.config.organ_id.clone(),
            path: event.path,
            kind: SignalKind::Event,
            old: event.old,
            new: Some(event.new),
            surprise: 1.0,
            severity: event.severity,
            direction: event.direction,
            rarity_readings: 0,
            rarity_span: 0.0,
            seen_before: 0,
        };
        self.last_signal = Some(signal.clone());
        let fact = Kept {
            // Internal organs say a thing once; their own bound is the round's and the hour's.
            habituation: 0.0,
            haystack: event.subject.clone(),
            subject: Some(event.subject),
            touches: event.touches,
            details: event.details,
            at: event.at,
            tick,
            base: self.config.base_salience,
            freshness: 1.0,
            doubted_until: None,
            change: 0.0,
            salience: 0.0,
            pinned: self.pinned,
            touched: None,
            signal,
        };
        self.keep(fact, settings, &mut intake);
        intake
    }

    fn notice(&mut self, at: Seconds, state: &Value, settings: &Settings) -> Noticed {
        let encoded = encoder::encode(state, self.config.latent_dim);
        let mut noticed = self.memory.read(&self.config.organ_id, at, state, settings.paths);
        if settings.change == Change::Raw {
            let change =
                if self.encoded.is_empty() { 0.0 } else { encoder::raw_change(&self.encoded, &encoded) };
            noticed.signal = noticed.signal.filter(|_| change > 0.0).map(|signal| Signal {
                kind: SignalKind::Raw,
                surprise: change,
                severity: Severity::None,
                direction: Direction::Neutral,
                ..signal
            });
        }
        self.latent = encoded.iter().map(|x| x.tanh()).collect();
        self.encoded = encoded;
        noticed
    }

    /// Drops what waits and no longer stands, unless a worse value took its place.
    fn forget_returned(&mut self, signal: Option<&Signal>, intake: &mut Intake) {
        let memory = &self.memory;
        self.kept.retain_mut(|kept| {
            if kept.signal.kind == SignalKind::Event || memory.still(&kept.signal) {
                return true;
            }
            match signal {
                Some(signal)
                    if signal.path == kept.signal.path && signal.direction != Direction::Recovering =>
                {
                    kept.signal.new.clone_from(&signal.new);
                    kept.signal.severity = kept.signal.severity.max(signal.severity);
                    intake.merged += 1;
                    true
                }
                _ => {
                    intake.returned += 1;
                    false
                }
            }
        });
    }

    /// Keeps the fact beside those of other subjects; of one subject only the one that matters more.
    fn keep(&mut self, mut fact: Kept, settings: &Settings, intake: &mut Intake) {
        if fact.signal.direction == Direction::Breaking || fact.signal.kind == SignalKind::Number {
            let level = self.habituation(fact.at, settings.habituation_half_life, fact.signal.kind);
            self.heard[usize::from(fact.signal.kind == SignalKind::Number)] = (level + 1.0, fact.at);
        }
        fact.weigh();
        let room = self.kept.len() < WAITING;
        match self.kept.iter_mut().find(|kept| kept.subject == fact.subject) {
            Some(kept) if fact.subject.is_some() || fact.salience >= kept.salience => {
                intake.merged += 1;
                if kept.signal.path == fact.signal.path {
                    fact.signal.old.clone_from(&kept.signal.old);
                }
                *kept = fact;
            }
            Some(_) => intake.merged += 1,
            None if room => {
                intake.kept += 1;
                self.kept.push(fact);
            }
            None => {
                intake.merged += 1;
                let least = self.kept.iter_mut().min_by(|a, b| a.salience.total_cmp(&b.salience));
                if let Some(least) = least.filter(|least| least.salience < fact.salience) {
                    *least = fact;
                }
            }
        }
    }

    /// How often it was heard of such things lately.
    pub(crate) fn habituation(&self, now: Seconds, half_life: Seconds, kind: SignalKind) -> f64 {
        let (level, at) = self.heard[usize::from(kind == SignalKind::Number)];
        level * (-((now - at).max(0.0)) / half_life.max(1.0)).exp2()
    }

    /// As if nothing had been heard of it.
    pub(crate) fn rest(&mut self) {
        self.heard = [(0.0, 0.0); 2];
    }

    /// 1 for known now. A subscribed state ages only while its source cannot be read.
    pub(crate) fn freshness(&self, now: Seconds) -> f64 {
        match (self.read_at, self.config.source) {
            (None, _) => 0.0,
            (Some(_), Source::Subscribed) if self.readable => 1.0,
            (Some(at), _) => (1.0 - (now - at) / self.config.poll_stale_after.max(1e-9)).clamp(0.0, 1.0),
        }
    }

    /// Whether what the news said still is so.
    pub(crate) fn still(&self, signal: &Signal) -> bool {
        signal.kind == SignalKind::Event || self.memory.still(signal)
    }

    /// The fact that is worth most.
    pub(crate) fn best(&self) -> Option<usize> {
        let order = |(a, one): &(usize, &Kept), (b, other): &(usize, &Kept)| {
            one.salience.total_cmp(&other.salience).then(b.cmp(a))
        };
        self.kept.iter().enumerate().max_by(order).map(|(at, _)| at)
    }

    pub(crate) fn record(&mut self, tick: u64, total: f64) {
        self.total = total;
        if self.trace.len() == TRACE {
            self.trace.pop_front();
        }
        self.trace.push_back((tick, total as f32));
    }

    pub(crate) fn accept(&mut self, broadcast: &[f32]) {
        vector::follow(&mut self.standing, broadcast, 0.9);
    }

    pub(crate) fn paths(&self) -> usize {
        self.memory.paths()
    }

    pub(crate) fn forget_unseen(&mut self) -> u64 {
        self.memory.forget_unseen()
    }

    pub(crate) fn view(&self, now: Seconds, tick: u64, settings: &Settings) -> OrganView {
        let best = self.best().map(|at| &self.kept[at]);
        OrganView {
            organ: self.config.organ_id.clone(),
            readings: self.readings,
            changes: self.changes,
            read_at: self.read_at,
            freshness: self.freshness(now),
            salience: best
                .map_or(0.3 * self.config.base_salience * self.freshness(now), |kept| kept.salience),
            total: self.total,
            trace: self.trace.iter().copied().collect(),
            habituation: self.habituation(now, settings.habituation_half_life, SignalKind::Category),
            readiness: ignition::readiness(tick as f64, self.last_won),
            wins: self.wins,
            waiting: self.kept.len(),
            last_signal: self.last_signal.clone(),
            pinned: self.pinned,
            muted: self.muted,
        }
    }
}

/// The site that a state is about: its `url` or `host`, if that names a host and nothing on it. Services
/// of one site tend to fail together.
fn cause(state: &Value) -> Option<String> {
    let names = ["url", "host", "hostname", "domain"];
    let text = names.iter().find_map(|name| state.get(name)?.as_str())?;
    let host = text.trim_start_matches("https://").trim_start_matches("http://").trim_end_matches('/');
    if host.len() > 253 || host.contains(['/', ' ', '?']) {
        return None;
    }
    let labels: Vec<&str> = host.rsplit('.').take(2).collect();
    (labels.len() == 2).then(|| format!("{}.{}", labels[1], labels[0]).to_ascii_lowercase())
}

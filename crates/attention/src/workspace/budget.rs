//! How much the agent is told: so many news a round, so many an hour, and no server all of them.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use crate::{
    input::{AgentRhythm, Seconds},
    settings::Settings,
};

const HOUR: Seconds = 3600.0;

/// What is left of the hour and the round.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Budget {
    tokens: f64,
    filled: Option<Seconds>,
    /// The round of the last news, and how many it had.
    round: Option<(u64, u32)>,
    /// Who had news in the last hour.
    servers: VecDeque<(Seconds, String)>,
}

impl Budget {
    pub(crate) fn new(hourly: u32) -> Self {
        Self { tokens: f64::from(hourly), filled: None, round: None, servers: VecDeque::new() }
    }

    /// News that the hour still has.
    pub(crate) fn left(&self) -> f64 {
        self.tokens
    }

    /// Lets time pass.
    pub(crate) fn refill(&mut self, now: Seconds, settings: &Settings) {
        let passed = self.filled.map_or(0.0, |filled| (now - filled).max(0.0));
        let hourly = f64::from(settings.hourly);
        self.tokens = (self.tokens + passed * hourly / HOUR).min(hourly);
        self.filled = Some(now);
        while self.servers.front().is_some_and(|(at, _)| now - at > HOUR) {
            self.servers.pop_front();
        }
    }

    /// Whether one more may be told.
    pub(crate) fn allows(&self, rhythm: AgentRhythm, settings: &Settings) -> bool {
        let used = self.round.filter(|(round, _)| *round == rhythm.round).map_or(0, |(_, used)| used);
        self.tokens >= 1.0 && used < settings.per_round
    }

    /// Whether the server had more than its share of the last hour. One alone is never too much.
    pub(crate) fn is_loud(&self, server: &str, settings: &Settings) -> bool {
        let all = self.servers.len();
        let own = self.servers.iter().filter(|(_, name)| name == server).count();
        own > 1 && own as f64 >= settings.server_share * all as f64
    }

    pub(crate) fn spend(&mut self, now: Seconds, rhythm: AgentRhythm, server: &str) {
        self.tokens -= 1.0;
        self.round = match self.round {
            Some((round, used)) if round == rhythm.round => Some((round, used + 1)),
            _ => Some((rhythm.round, 1)),
        };
        self.servers.push_back((now, server.to_owned()));
    }
}

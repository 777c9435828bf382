//! Diversity: who seldom wins is helped, so that one organ cannot own the workspace.

use std::collections::{BTreeMap, VecDeque};

use serde::{Deserialize, Serialize};

/// The most that helps.
const PRESSURE: f64 = 0.1;
/// Wins that are remembered.
const WINDOW: usize = 50;

/// The last winners.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Diversity {
    wins: VecDeque<String>,
    counts: BTreeMap<String, u32>,
}

impl Diversity {
    /// An organ won.
    pub fn won(&mut self, organ: &str) {
        if self.wins.len() == WINDOW
            && let Some(oldest) = self.wins.pop_front()
            && let Some(count) = self.counts.get_mut(&oldest)
        {
            *count -= 1;
        }
        self.wins.push_back(organ.to_owned());
        *self.counts.entry(organ.to_owned()).or_default() += 1;
    }

    /// The share of the last wins.
    pub fn share(&self, organ: &str) -> f64 {
        let won = self.counts.get(organ).copied().unwrap_or(0);
        if self.wins.is_empty() { 0.0 } else { f64::from(won) / self.wins.len() as f64 }
    }

    /// 0.1 · max(0, 1 − 2 · share).
    pub fn boost(&self, organ: &str) -> f64 {
        PRESSURE * (1.0 - 2.0 * self.share(organ)).max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::theory::close;

    #[test]
    fn boost_falls_with_the_share_of_the_last_fifty() {
        let mut diversity = Diversity::default();
        close(diversity.boost("a"), 0.1);
        diversity.won("a");
        close(diversity.boost("a"), 0.0);
        for _ in 0..3 {
            diversity.won("b");
        }
        close(diversity.boost("a"), 0.05);
        for _ in 0..WINDOW {
            diversity.won("b");
        }
        close(diversity.share("a"), 0.0);
    }
}

//! The beads that wait for each other: who is ready, and what would close a circle.

use std::collections::{HashMap, HashSet};

use tectum_state::Moment;

use super::bead::Bead;

/// Beads by what they wait for.
#[derive(Debug)]
pub(super) struct Graph<'b> {
    beads: HashMap<&'b str, &'b Bead>,
    waits: HashMap<&'b str, Vec<&'b str>>,
}

impl<'b> Graph<'b> {
    pub(super) fn new(beads: &'b [Bead]) -> Self {
        let mut waits: HashMap<&str, Vec<&str>> = HashMap::new();
        for bead in beads {
            let own = bead.depends_on.iter().map(String::as_str);
            waits.entry(&bead.id).or_default().extend(own);
            for blocked in &bead.blocks {
                waits.entry(blocked).or_default().push(&bead.id);
            }
        }
        Self { beads: beads.iter().map(|bead| (bead.id.as_str(), bead)).collect(), waits }
    }

    /// The beads that can be worked on, the oldest first: open, and nothing they wait for is open.
    pub(super) fn ready(&self, beads: &'b [Bead]) -> Vec<&'b Bead> {
        let now = Moment::now();
        let due = |bead: &Bead| bead.not_before.is_none_or(|moment| moment <= now);
        let ready = beads.iter().filter(|bead| bead.status == "open" && due(bead) && !self.is_held(&bead.id));
        let mut ready: Vec<&Bead> = ready.collect();
        // Those without a date last; those of one moment as they stand in the file.
        ready.sort_by_key(|bead| (bead.created.is_none(), bead.created));
        ready
    }

    /// True if it, or what it waits with, waits for something that is not closed or not there.
    fn is_held(&self, id: &str) -> bool {
        let (mut seen, mut way) = (HashSet::new(), vec![id]);
        while let Some(id) = way.pop() {
            if !seen.insert(id) {
                continue;
            }
            let open = |other: &&str| self.beads.get(*other).is_none_or(|other| !other.is_closed());
            if self.waits.get(id).is_some_and(|waits| waits.iter().any(open)) {
                return true;
            }
            way.extend(self.beads.get(id).iter().flat_map(|bead| bead.under.iter().map(String::as_str)));
        }
        false
    }

    /// The way on which `from` waits for `to`, both named; `None` if it does not.
    pub(super) fn way(&self, from: &'b str, to: &str) -> Option<Vec<&'b str>> {
        let mut before: HashMap<&str, Option<&'b str>> = HashMap::from([(from, None)]);
        let mut open = vec![from];
        while let Some(id) = open.pop() {
            if id == to {
                let mut way = vec![id];
                while let Some(Some(id)) = way.last().and_then(|id| before.get(id)) {
                    way.push(id);
                }
                way.reverse();
                return Some(way);
            }
            for next in self.waits.get(id).into_iter().flatten() {
                if !before.contains_key(next) {
                    before.insert(next, Some(id));
                    open.push(next);
                }
            }
        }
        None
    }
}

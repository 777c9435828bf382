//! Interleaved rounds: each round visits every contender in turn, and the order rotates.

use anyhow::Result;

use crate::load::Moment;
use crate::record::Entry;

/// A server in a case, with the state that the case keeps between visits.
pub(crate) struct Contender<S> {
    pub(crate) entry: Entry,
    /// The state; `None` once it has failed: the others go on without it.
    state: Option<S>,
}

impl<S> Contender<S> {
    /// Prepares a contender. One that fails is left out, and the record says why.
    pub(crate) fn ready(name: &str, prepare: impl FnOnce(&mut Entry) -> Result<S>) -> Self {
        let mut contender = Self { entry: Entry::new(name), state: None };
        match prepare(&mut contender.entry) {
            Ok(state) => contender.state = Some(state),
            Err(error) => contender.leave("absent", &error),
        }
        contender
    }

    fn leave(&mut self, how: &str, error: &anyhow::Error) {
        eprintln!("  {} {how}: {error:#}", self.entry.server);
        self.entry.remarks.push(format!("{how}: {error:#}"));
        self.state = None;
    }
}

/// Runs all rounds and returns, for each round, the share of the machine that others used. `process`
/// returns the processes of a state that outlives the visit.
pub(crate) fn interleave<S, P: IntoIterator<Item = u32>>(
    contenders: &mut [Contender<S>],
    rounds: usize,
    process: fn(&S) -> P,
    mut visit: impl FnMut(&mut S, &mut Entry) -> Result<()>,
) -> Vec<f64> {
    let mut others = Vec::with_capacity(rounds);
    for round in 0..rounds {
        let processes: Vec<u32> =
            contenders.iter().filter_map(|contender| contender.state.as_ref()).flat_map(process).collect();
        let before = Moment::now(&processes);
        for place in order(round, contenders.len()) {
            let contender = &mut contenders[place];
            let Some(state) = &mut contender.state else { continue };
            if let Err(error) = visit(state, &mut contender.entry) {
                contender.leave(&format!("left in round {}", round + 1), &error);
            }
        }
        let after = Moment::now(&processes);
        let share = before.zip(after).and_then(|(before, after)| after.others_since(&before));
        others.extend(share.map(|share| (share * 1000.0).round() / 1000.0));
    }
    others
}

fn order(round: usize, contenders: usize) -> impl Iterator<Item = usize> {
    (0..contenders).map(move |place| (round + place) % contenders)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_rotates() {
        let order = |round| order(round, 3).collect::<Vec<_>>();
        assert_eq!([order(0), order(1), order(2), order(3)], [[0, 1, 2], [1, 2, 0], [2, 0, 1], [0, 1, 2]]);
    }

    #[test]
    fn one_that_fails_leaves_and_the_others_stay() {
        let mut contenders = [
            Contender::ready("good", |_| Ok(true)),
            Contender::ready("bad", |_| Ok(false)),
            Contender::ready("absent", |_| anyhow::bail!("not installed")),
        ];
        interleave(
            &mut contenders,
            3,
            |_| None,
            |good, entry| {
                anyhow::ensure!(*good, "fell over");
                entry.note("p50_us", 1.0);
                Ok(())
            },
        );
        let [good, bad, absent] = contenders.map(|contender| contender.entry);
        assert_eq!(good.figure("p50_us"), [1.0; 3]);
        assert_eq!(bad.remarks, ["left in round 1: fell over"]);
        assert_eq!(absent.remarks, ["absent: not installed"]);
    }
}

//! Every number that decides what of a conversation is kept, in one place, checked once.

use tectum_core::Fault;

/// When the window is looked after, and how much of a result is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    /// Per cent of the budget from which the model is told that room gets scarce.
    pub warn: u8,
    /// Per cent of the budget from which the conversation is compacted.
    pub compact: u8,
    /// A result that is so many iterations old becomes a stub.
    pub prune_after: u64,
    /// Bytes of one result that the model is shown.
    pub result: usize,
    /// Characters that are left of a result when the next round begins.
    pub old_result: usize,
}

impl Default for Policy {
    fn default() -> Self {
        Self { warn: 60, compact: 75, prune_after: 10, result: 16_384, old_result: 8_000 }
    }
}

/// Less than this of a result says nothing, and leaves no room for the note about what was cut.
pub const LEAST_RESULT: usize = 256;

impl Policy {
    /// Refuses numbers that contradict each other.
    pub fn check(&self) -> Result<(), Fault> {
        if self.warn >= self.compact {
            return Err(Fault::invalid(format!(
                "the warning at {} % must come before the compaction at {} %",
                self.warn, self.compact
            ))
            .hint("the usual numbers are 60 and 75"));
        }
        if self.compact > 100 {
            return Err(Fault::invalid(format!("compaction at {} % would come too late", self.compact))
                .hint("choose at most 100 %"));
        }
        if self.result < LEAST_RESULT || self.old_result < LEAST_RESULT {
            return Err(Fault::invalid(format!("less than {LEAST_RESULT} of a result says nothing"))
                .hint("the usual numbers are 16384 bytes, and 8000 characters of older results"));
        }
        if self.prune_after == 0 {
            return Err(Fault::invalid("a result that is pruned at once is never read")
                .hint("prune after 10 iterations, or after one at least"));
        }
        Ok(())
    }

    /// So many per cent of a budget.
    pub(crate) fn share(budget: usize, per_cent: u8) -> usize {
        // In wide numbers, since a budget may be anything.
        (budget as u128 * u128::from(per_cent) / 100) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(change: impl Fn(&mut Policy), expect: Option<&str>) {
        let mut policy = Policy::default();
        change(&mut policy);
        let said = policy.check().err().map(|fault| fault.message);
        match expect {
            None => assert_eq!(said, None),
            Some(words) => assert!(said.as_deref().is_some_and(|said| said.contains(words)), "{said:?}"),
        }
    }

    #[test]
    fn the_numbers_must_fit_together() {
        check(|_| (), None);
        check(|policy| policy.warn = 75, Some("must come before"));
        check(|policy| policy.compact = 101, Some("too late"));
        check(|policy| policy.result = 10, Some("says nothing"));
        check(|policy| policy.old_result = 10, Some("says nothing"));
        check(|policy| policy.prune_after = 0, Some("never read"));
    }

    #[test]
    fn a_share_of_any_budget_is_a_number() {
        assert_eq!((Policy::share(1000, 60), Policy::share(usize::MAX, 100)), (600, usize::MAX));
    }
}

//! Order statistics and ratios; the only arithmetic behind the reports.

use serde::Serialize;

/// A median with the quartiles around it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) struct Spread {
    pub(crate) low: f64,
    pub(crate) median: f64,
    pub(crate) high: f64,
}

impl Spread {
    /// The spread of values; `None` if there are none.
    pub(crate) fn of(values: &[f64]) -> Option<Self> {
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        Some(Self {
            low: quantile(&sorted, 0.25)?,
            median: quantile(&sorted, 0.5)?,
            high: quantile(&sorted, 0.75)?,
        })
    }
}

pub(crate) fn median(values: &[f64]) -> Option<f64> {
    Spread::of(values).map(|spread| spread.median)
}

/// The quantile `q` of sorted values, interpolated between neighbours.
pub(crate) fn quantile(sorted: &[f64], q: f64) -> Option<f64> {
    let last = sorted.len().checked_sub(1)?;
    let place = q * last as f64;
    let below = place.floor() as usize;
    let above = (below + 1).min(last);
    Some(sorted[below] + (sorted[above] - sorted[below]) * (place - below as f64))
}

/// `ours / theirs`, each round against the same round: what disturbed the machine during a round
/// disturbed both. A round that only one of them finished is left out.
pub(crate) fn ratios(ours: &[f64], theirs: &[f64]) -> Vec<f64> {
    ours.iter().zip(theirs).filter(|(_, theirs)| **theirs > 0.0).map(|(ours, theirs)| ours / theirs).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_of_an_odd_number_is_the_middle_one() {
        assert_eq!(median(&[9.0, 1.0, 5.0]), Some(5.0));
    }

    #[test]
    fn the_median_of_an_even_number_lies_between_the_middle_two() {
        assert_eq!(median(&[4.0, 1.0, 3.0, 2.0]), Some(2.5));
    }

    #[test]
    fn quartiles_are_interpolated() {
        let spread = Spread::of(&[1.0, 2.0, 3.0, 4.0]);
        assert_eq!(spread, Some(Spread { low: 1.75, median: 2.5, high: 3.25 }));
    }

    #[test]
    fn one_value_is_its_own_quartiles() {
        assert_eq!(Spread::of(&[7.0]), Some(Spread { low: 7.0, median: 7.0, high: 7.0 }));
    }

    #[test]
    fn nothing_has_no_median() {
        assert_eq!(Spread::of(&[]), None);
    }

    #[test]
    fn the_last_quantile_is_the_largest_value() {
        assert_eq!(quantile(&[1.0, 2.0, 8.0], 1.0), Some(8.0));
    }

    #[test]
    fn ratios_pair_the_rounds() {
        // The second round was twice as slow for both, which the ratio does not show.
        assert_eq!(ratios(&[10.0, 20.0], &[5.0, 10.0]), [2.0, 2.0]);
    }

    #[test]
    fn a_ratio_needs_both_sides_of_a_round() {
        assert_eq!(ratios(&[10.0, 20.0, 30.0], &[5.0]), [2.0]);
        assert_eq!(ratios(&[10.0, 20.0], &[0.0, 10.0]), [2.0]);
    }
}

//! Ignition: whether a total is enough, given how long ago the organ was heard.

use super::sigmoid;

/// The tick of an organ that was never heard.
pub const NEVER: f64 = -1000.0;

/// r = σ((t − last − 5) / 2): readiness after the last ignition, in ticks.
pub fn readiness(tick: f64, last: f64) -> f64 {
    sigmoid((tick - last - 5.0) / 2.0)
}

/// p = σ((s − 0.5) / 0.1) · r. More than one half ignites.
pub fn probability(total: f64, readiness: f64) -> f64 {
    sigmoid((total - 0.5) / 0.1) * readiness
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::theory::close;

    #[test]
    fn the_refractory_period_is_seven_ticks() {
        for (gap, r) in
            [(0.0, 0.075_858_180_021), (1.0, 0.119_202_922_022), (5.0, 0.5), (6.0, 0.622_459_331_202)]
        {
            close(readiness(gap, 0.0), r);
        }
        assert!(probability(10.0, readiness(5.0, 0.0)) <= 0.5, "not even the strongest");
        assert!(probability(0.64, readiness(6.0, 0.0)) < 0.5);
        assert!(probability(0.65, readiness(6.0, 0.0)) > 0.5);
        close(probability(0.5, 1.0), 0.5);
        close(probability(0.6, readiness(0.0, NEVER)), 0.731_058_578_630);
    }
}

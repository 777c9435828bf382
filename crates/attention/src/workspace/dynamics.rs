//! The optional parts of the theory together. None of them decides whether something is told: they act
//! on the order of what ignited, on what is broadcast, and on what is shown.

use serde::{Deserialize, Serialize};

use crate::{
    settings::{Dynamics, Settings},
    theory::{
        adapter::Adapter,
        bus,
        energy::{Energy, Spent},
        ensemble::Ensemble,
        heads::{self, Heads},
        phase,
        prior::Prior,
        vector::Projection,
    },
};

/// What the parts that are on remember.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Theatre {
    heads: Option<Heads>,
    /// Trained weights, if some were handed in.
    pub(crate) adapter: Option<Adapter>,
    ensemble: Ensemble,
    pub(crate) energy: Energy,
    pub(crate) prior: Prior,
    /// The moving coherence of the phases.
    coherence: f64,
    /// The coupling, steered to the coherence that is wished for.
    pub(crate) coupling: f64,
    #[serde(skip)]
    projection: Option<Projection>,
}

/// A proposal as the optional parts see it.
pub(crate) struct Seen<'a> {
    pub(crate) organ: &'a str,
    pub(crate) content: &'a [f32],
    pub(crate) total: f64,
    pub(crate) cost: f64,
    pub(crate) novelty: f64,
}

impl Theatre {
    pub(crate) fn new(workspace_dim: usize) -> Self {
        Self {
            heads: None,
            adapter: None,
            ensemble: Ensemble::new(2, workspace_dim),
            energy: Energy::default(),
            prior: Prior::default(),
            coherence: bus::START,
            coupling: phase::COUPLING,
            projection: None,
        }
    }

    /// Follows the coherence of the phases, and steers the coupling to the target.
    pub(crate) fn hear_phases(&mut self, coherence: f64, target: f64) {
        self.coherence = bus::follow(self.coherence, coherence);
        let steer = if self.coherence < target { 1.01 } else { 0.99 };
        self.coupling = (self.coupling * steer * self.energy.coupling()).clamp(0.01, 0.5);
    }

    /// The factor of each proposal in the competition; 0 keeps it out of this round.
    pub(crate) fn factors(&mut self, seen: &[Seen<'_>], settings: &Settings) -> Vec<f64> {
        let dynamics = &settings.dynamics;
        let mut factors = vec![1.0; seen.len()];
        let mut each = |by: Vec<f64>| factors.iter_mut().zip(by).for_each(|(factor, by)| *factor *= by);
        if dynamics.oscillators {
            each(vec![bus::factor(self.coherence); seen.len()]);
        }
        if dynamics.heads || dynamics.precision {
            each(self.by_content(seen, settings));
        }
        if dynamics.prior {
            let organs: Vec<_> = seen.iter().map(|one| (one.organ, one.total, one.cost)).collect();
            let novelty = seen.iter().map(|one| one.novelty).fold(0.0, f64::max);
            each(self.prior.factors(&organs, 0.5, novelty, self.coherence));
        }
        if dynamics.energy {
            let mut order: Vec<usize> = (0..seen.len()).collect();
            order.sort_by(|a, b| seen[*b].total.total_cmp(&seen[*a].total).then(a.cmp(b)));
            let costs: Vec<f64> = order.iter().map(|at| seen[*at].cost).collect();
            let mut admitted = vec![1.0; seen.len()];
            for (at, admit) in order.into_iter().zip(self.energy.admitted(&costs)) {
                admitted[at] = f64::from(u8::from(admit));
            }
            each(admitted);
        }
        factors
    }

    /// 1 + what the heads make of content and context, which is near 1 for weights nobody trained.
    fn by_content(&mut self, seen: &[Seen<'_>], settings: &Settings) -> Vec<f64> {
        let dim = seen.first().map_or(0, |one| one.content.len());
        let contents: Vec<Vec<f64>> =
            seen.iter().map(|one| one.content.iter().map(|x| f64::from(*x)).collect()).collect();
        let heads = self.heads.get_or_insert_with(|| Heads::new(dim, settings.seed));
        let salience = |(one, content): (&Seen<'_>, &Vec<f64>)| {
            let precision = if settings.dynamics.precision { heads::precision(0.5 + one.total) } else { 1.0 };
            let context = if settings.dynamics.heads { contents.as_slice() } else { &[] };
            (1.0 + heads.salience(content, context, precision)).clamp(0.5, 2.0)
        };
        seen.iter().zip(&contents).map(salience).collect()
    }

    /// What the winner's content is in the workspace.
    pub(crate) fn broadcast(&mut self, content: &[f32], settings: &Settings) -> Vec<f32> {
        let trained = self.adapter.as_ref().filter(|_| settings.dynamics.adapter);
        let mut vector = match trained {
            Some(adapter) => {
                let content: Vec<f64> = content.iter().map(|x| f64::from(*x)).collect();
                adapter.encode(&content).into_iter().map(|x| x as f32).collect()
            }
            None => {
                let (dim, seed) = (settings.workspace_dim, settings.seed);
                self.projection
                    .get_or_insert_with(|| Projection::new(content.len(), dim, seed))
                    .widen(content)
            }
        };
        if settings.dynamics.ensemble {
            let bled = self.ensemble.context(0, self.coherence);
            vector.iter_mut().zip(bled).for_each(|(x, bled)| *x += bled);
            self.ensemble.broadcast(1, &vector);
        }
        vector
    }

    /// Ends the tick.
    pub(crate) fn spend(&mut self, won: bool, dynamics: &Dynamics) {
        if dynamics.energy {
            let spent = Spent {
                coherence: self.coherence,
                winners: usize::from(won),
                ensemble: dynamics.ensemble,
                ..Spent::default()
            };
            self.energy.tick(spent);
        }
    }

    pub(crate) fn bleed(&self) -> Vec<Vec<f64>> {
        self.ensemble.bleed_matrix(self.coherence)
    }
}

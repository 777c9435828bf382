//! One competition: proposals, gate, ignition, inhibition, and at most one winner.

use super::{Workspace, dynamics::Seen, organ::Organ, shown::Outcome};
use crate::{
    news::{Factors, GateFactors, News, NewsId, Rival},
    sentence::{Parts, sentence},
    theory::{competition, diversity::Diversity, gate, ignition, phase, vector},
};

/// Rivals that `why` shows.
const RIVALS: usize = 5;

/// One organ's proposal.
struct Proposal {
    organ: String,
    fact: usize,
    urgent: bool,
    gate: GateFactors,
    boost: f64,
    relevance: f64,
    total: f64,
    readiness: f64,
    ignition: f64,
    win_share: f64,
}

impl Workspace {
    pub(super) fn round(&mut self, passed: f64) -> Vec<News> {
        self.budget.refill(self.now, &self.settings);
        self.swing(passed);
        self.modulation.workspace_winner_id = None;
        self.modulation.workspace_broadcast = None;
        self.modulation.workspace_winner_confidence = 0.0;
        self.modulation.workspace_winner_source_trust = 1.0;
        let mut proposals: Vec<Proposal> = Vec::with_capacity(self.live.len());
        for name in &self.live {
            let Some(organ) = self.organs.get_mut(name) else { continue };
            let Some(proposal) =
                propose(organ, self.rhythm.phase(), self.tick, &self.standing, &self.diversity)
            else {
                continue;
            };
            organ.record(self.tick, proposal.total);
            proposals.push(proposal);
        }
        let factors = self.factors(&proposals);
        let totals: Vec<f64> =
            proposals.iter().zip(&factors).map(|(proposal, factor)| proposal.total * factor).collect();
        let ignitions: Vec<f64> = proposals.iter().map(|proposal| proposal.ignition).collect();
        let found = competition::compete(&totals, &ignitions, self.settings.dynamics.temperature);
        self.last_round = Outcome {
            competitors: proposals.len(),
            ignited: ignitions.iter().filter(|p| **p > 0.5).count(),
            winner: None,
            share: 0.0,
            energy: found.energy,
        };
        let winner = self.choose(&proposals, &found.activation, &factors);
        let allowed = winner.filter(|_| self.budget.allows(self.rhythm, &self.settings));
        self.counters.held_back += u64::from(winner.is_some() && allowed.is_none());
        self.theatre.spend(allowed.is_some(), &self.settings.dynamics);
        self.modulation.energy_budget = self.theatre.energy.left;
        self.modulation.energy_ratio = self.theatre.energy.ratio();
        self.modulation.gating_winner_id.clone_from(&self.theatre.prior.selected);
        self.modulation.gating_stn_active = self.theatre.prior.suspended > 0;
        let Some(winner) = allowed else {
            // Nobody won: the standing broadcast fades.
            vector::follow(&mut self.standing, &[], 0.9);
            return Vec::new();
        };
        let rivals = rivals(&proposals, &found.activation, winner);
        let share = competition::winners(&found.activation, 1)[winner].min(found.activation[winner]);
        self.crown(&proposals[winner], share, rivals)
    }

    /// The organs' phases, which follow the agent's.
    fn swing(&mut self, passed: f64) {
        if !self.settings.dynamics.oscillators {
            return;
        }
        let (global, coupling) = (self.rhythm.phase(), self.theatre.coupling);
        for organ in self.organs.values_mut() {
            organ.phase = phase::step(organ.phase, organ.config.frequency, passed, Some(global), coupling);
        }
        let (_, coherence) = phase::mean(self.organs.values().map(|organ| organ.phase));
        self.theatre.hear_phases(coherence, self.settings.dynamics.coherence_target);
    }

    /// What the optional parts make of the proposals.
    fn factors(&mut self, proposals: &[Proposal]) -> Vec<f64> {
        let seen: Vec<Seen<'_>> = proposals
            .iter()
            .filter_map(|proposal| {
                let organ = self.organs.get(&proposal.organ)?;
                Some(Seen {
                    organ: &proposal.organ,
                    content: &organ.latent,
                    total: proposal.total,
                    cost: organ.config.cost,
                    novelty: proposal.gate.novelty,
                })
            })
            .collect();
        self.theatre.factors(&seen, &self.settings)
    }

    /// The best that ignited: urgent ones first, then by activation, then who won less, then by name. A
    /// server that had its share of the hour waits while others have something to say.
    fn choose(&self, proposals: &[Proposal], activation: &[f64], factors: &[f64]) -> Option<usize> {
        let loud = |proposal: &Proposal| {
            let organ = self.organs.get(&proposal.organ);
            organ.is_some_and(|organ| self.budget.is_loud(organ.config.server(), &self.settings))
        };
        let candidates = (0..proposals.len()).filter(|at| {
            let open = !self.rhythm.in_call || proposals[*at].urgent;
            open && proposals[*at].ignition > 0.5 && factors[*at] > 0.0
        });
        candidates.min_by(|a, b| {
            let (one, other) = (&proposals[*a], &proposals[*b]);
            other
                .urgent
                .cmp(&one.urgent)
                .then_with(|| loud(one).cmp(&loud(other)))
                .then_with(|| activation[*b].total_cmp(&activation[*a]))
                .then_with(|| one.win_share.total_cmp(&other.win_share))
                .then_with(|| one.organ.cmp(&other.organ))
        })
    }

    fn crown(&mut self, proposal: &Proposal, share: f64, rivals: Vec<Rival>) -> Vec<News> {
        let Some(organ) = self.organs.get_mut(&proposal.organ) else { return Vec::new() };
        let kept = organ.kept.remove(proposal.fact);
        if organ.kept.is_empty() {
            self.live.remove(&proposal.organ);
        }
        organ.last_won = self.tick as f64;
        organ.wins += 1;
        if let Some(cause) = &organ.cause {
            self.causes.insert(cause.clone(), self.now);
        }
        let broadcast = organ.latent.clone();
        let trust = organ.trust;
        let sentence = sentence(&Parts {
            signal: &kept.signal,
            subject: kept.subject.as_deref(),
            touches: kept.touches.as_deref(),
            touched: kept.touched.as_ref(),
            details: kept.details.as_deref(),
            now: self.now,
        });
        let news = News {
            id: NewsId(self.next_id),
            organ: proposal.organ.clone(),
            at: self.now,
            sentence,
            urgent: proposal.urgent,
            told: None,
            acknowledged: None,
            factors: Factors {
                changed_at: kept.at,
                waited: self.tick - kept.tick,
                habituation: kept.habituation,
                base: kept.base,
                change: kept.change,
                freshness: kept.freshness,
                salience: kept.salience,
                gate: proposal.gate,
                boost: proposal.boost,
                relevance: proposal.relevance,
                trust,
                total: proposal.total,
                readiness: proposal.readiness,
                ignition: proposal.ignition,
                share,
                rivals,
                pinned: kept.pinned,
                tokens_left: self.budget.left(),
                signal: kept.signal,
            },
        };
        self.next_id += 1;
        self.counters.offered += 1;
        self.budget.spend(self.now, self.rhythm, organ.config.server());
        self.diversity.won(&proposal.organ);
        // Decoding by the transpose of the projection gives the content back, for every organ.
        for organ in self.organs.values_mut() {
            organ.accept(&broadcast);
        }
        self.standing.resize(self.standing.len().max(broadcast.len()), 0.0);
        vector::follow(&mut self.standing, &broadcast, 0.9);
        self.last_round.winner = Some(proposal.organ.clone());
        self.last_round.share = share;
        self.modulation.workspace_winner_id = Some(proposal.organ.clone());
        self.modulation.workspace_broadcast = Some(self.theatre.broadcast(&broadcast, &self.settings));
        self.modulation.workspace_winner_confidence = proposal.ignition;
        self.modulation.workspace_winner_source_trust = trust;
        self.news.push(news.clone());
        vec![news]
    }
}

/// total = (clamp(salience) · gate + boost + 0.25 · relevance) · trust.
fn propose(
    organ: &Organ,
    global: f64,
    tick: u64,
    standing: &[f32],
    diversity: &Diversity,
) -> Option<Proposal> {
    let fact = organ.best()?;
    let kept = &organ.kept[fact];
    let name = &organ.config.organ_id;
    let salience = kept.salience.clamp(0.0, 1.0);
    let urgent = kept.is_urgent(organ.config.tags.contains("urgent"));
    let novelty = salience;
    let open = gate::gate(organ.phase, global, novelty, organ.config.cost, 1.0);
    let value = if urgent { open.max(gate::URGENT_FLOOR) } else { open };
    let gate =
        GateFactors { phase: organ.phase, global_phase: global, novelty, cost: organ.config.cost, value };
    let boost = diversity.boost(name);
    let relevance = if kept.touched.is_some() { 1.0 } else { vector::relevance(&organ.latent, standing) };
    let total = total(salience, value, boost, relevance, organ.trust);
    let readiness = ignition::readiness(tick as f64, organ.last_won);
    Some(Proposal {
        organ: name.clone(),
        fact,
        urgent,
        gate,
        boost,
        relevance,
        total,
        readiness,
        ignition: ignition::probability(total, readiness),
        win_share: diversity.share(name),
    })
}

pub(crate) fn total(salience: f64, gate: f64, boost: f64, relevance: f64, trust: f64) -> f64 {
    (salience * gate + boost + 0.25 * relevance) * trust
}

fn rivals(proposals: &[Proposal], activation: &[f64], winner: usize) -> Vec<Rival> {
    let mut others: Vec<usize> = (0..proposals.len()).filter(|at| *at != winner).collect();
    others.sort_by(|a, b| activation[*b].total_cmp(&activation[*a]).then(a.cmp(b)));
    others.truncate(RIVALS);
    let rival = |at: usize| Rival {
        organ: proposals[at].organ.clone(),
        total: proposals[at].total,
        share: activation[at],
    };
    others.into_iter().map(rival).collect()
}

//! What directives do to a conversation: one handler for each, in the order they came. What they
//! do to the house (anchors, notes) it has done already.

use serde_json::Value;
use tectum_core::{Directive, Fault, directives};

use crate::{Event, LoopContext, Message, Role, Source, Tiers};

/// The outcome of a batch of directives.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Processed {
    /// True if the run is to end.
    pub stop: bool,
    /// True if another tier works now.
    pub tier_changed: bool,
    /// The messages that are appended after all results.
    pub injected: Vec<Message>,
}

/// Carries out directives on one conversation.
pub struct Processor<'p> {
    /// The conversation.
    pub ctx: &'p mut LoopContext,
    /// The tiers there are.
    pub tiers: &'p Tiers,
    /// The listener.
    pub tell: &'p mut (dyn FnMut(Event<'_>) + Send),
}

impl std::fmt::Debug for Processor<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Processor").field("tier", &self.ctx.tier).finish_non_exhaustive()
    }
}

impl Processor<'_> {
    /// Carries out all of them, whatever one of them says: a batch is finished before it stops.
    pub fn process(mut self, directives: &[Directive]) -> Processed {
        let mut done = Processed::default();
        for directive in directives {
            match directive {
                Directive::StopProcessing => done.stop = true,
                Directive::TierChange { target_tier, reason } => {
                    self.change_tier(target_tier, reason, &mut done);
                }
                Directive::ContextAnchor { key, .. } => self.anchored(key),
                Directive::TodoStateChanged { .. } => self.anchored(directives::TODO_ANCHOR),
                Directive::InjectContext { content, role } => self.inject(content, *role, &mut done),
                Directive::PruneMessages { keep_recent } => self.prune(*keep_recent),
                Directive::NotifyPresenter { key, data } => self.notify(key, data),
            }
        }
        done
    }

    /// A refused hand-over is told to the model, which would otherwise wait for somebody else.
    fn change_tier(&mut self, to: &str, reason: &str, done: &mut Processed) {
        match self.tiers.hand_over(&self.ctx.tier, to) {
            Ok(tier) => {
                self.ctx.set_system(&tier.prompt);
                let from = std::mem::replace(&mut self.ctx.tier, to.to_owned());
                done.tier_changed = true;
                (self.tell)(Event::Tier { from: &from, to, reason });
            }
            Err(fault) => {
                tracing::warn!(from = %self.ctx.tier, to, why = fault.message, "a hand-over was not made");
                (self.tell)(Event::Kept { to, why: &fault.message });
                done.injected.push(self.note(Role::User, Source::Notice, refused(&fault)));
            }
        }
    }

    /// The anchor itself is the house's; it is put at the end of the next prompt.
    fn anchored(&self, key: &str) {
        tracing::debug!(key, "an anchor was set");
    }

    fn inject(&mut self, content: &str, role: directives::Role, done: &mut Processed) {
        if content.trim().is_empty() {
            return;
        }
        let role = match role {
            directives::Role::User => Role::User,
            directives::Role::System => Role::System,
            directives::Role::Assistant => Role::Assistant,
        };
        done.injected.push(self.note(role, Source::Injected, content.to_owned()));
    }

    fn prune(&mut self, keep_recent: usize) {
        let pruned = self.ctx.prune(keep_recent);
        if pruned > 0 {
            (self.tell)(Event::Pruned(pruned));
        }
    }

    fn notify(&mut self, key: &str, data: &Value) {
        (self.tell)(Event::Note { key, data });
    }

    fn note(&self, role: Role, source: Source, content: String) -> Message {
        Message { role, ..Message::notice(source, content) }.at(self.ctx.iteration)
    }
}

fn refused(fault: &Fault) -> String {
    let hint = fault.hint.as_deref().unwrap_or_default();
    format!("[The hand-over was not made: {}; {hint}]", fault.message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tiers::tests::two;

    fn process(ctx: &mut LoopContext, directives: &[Directive]) -> (Processed, Vec<String>) {
        let mut told = Vec::new();
        let mut tell = |event: Event<'_>| told.push(format!("{event:?}"));
        let done = Processor { ctx, tiers: &two(), tell: &mut tell }.process(directives);
        (done, told)
    }

    fn to(tier: &str) -> Directive {
        Directive::TierChange { target_tier: tier.into(), reason: "because".into() }
    }

    fn inject(content: &str, role: directives::Role) -> Directive {
        Directive::InjectContext { content: content.into(), role }
    }

    #[test]
    fn a_batch_is_finished_although_it_stops() {
        let mut ctx = LoopContext::new("plan", 100);
        let (done, _) = process(
            &mut ctx,
            &[
                Directive::StopProcessing,
                inject("a", directives::Role::User),
                to("code"),
                Directive::StopProcessing,
            ],
        );
        assert!(done.stop && done.tier_changed && done.injected.len() == 1);
    }

    #[test]
    fn a_valid_hand_over_changes_tier_and_prompt_and_is_told() {
        let mut ctx = LoopContext::new("plan", 100);
        ctx.set_system("You plan.");
        let (done, told) = process(&mut ctx, &[to("code")]);
        assert_eq!((ctx.tier.as_str(), ctx.messages[0].content.as_str()), ("code", "You code."));
        assert!(done.tier_changed && done.injected.is_empty());
        assert_eq!(told, [r#"Tier { from: "plan", to: "code", reason: "because" }"#]);
    }

    #[test]
    fn a_refused_one_changes_nothing_and_the_model_hears_why() {
        for (tier, expect) in [("boss", "no tier `boss`; there are: code, plan"), ("plan", "works already")] {
            let mut ctx = LoopContext::new("plan", 100);
            ctx.set_system("You plan.");
            let (done, told) = process(&mut ctx, &[to(tier)]);
            assert_eq!((ctx.tier.as_str(), ctx.messages[0].content.as_str()), ("plan", "You plan."));
            assert!(!done.tier_changed && done.injected[0].content.contains(expect), "{:?}", done.injected);
            assert!(told[0].starts_with("Kept"), "{told:?}");
        }
    }

    #[test]
    fn who_speaks_is_honoured_and_nothing_is_not_said() {
        let mut ctx = LoopContext::new("plan", 100);
        let directives = [
            inject("u", directives::Role::User),
            inject(" \n", directives::Role::User),
            inject("s", directives::Role::System),
            inject("a", directives::Role::Assistant),
        ];
        let (done, _) = process(&mut ctx, &directives);
        let said: Vec<(Role, &str)> =
            done.injected.iter().map(|one| (one.role, one.content.as_str())).collect();
        assert_eq!(said, [(Role::User, "u"), (Role::System, "s"), (Role::Assistant, "a")]);
        assert_eq!(ctx.messages, [], "they wait for the end of the batch");
    }

    #[test]
    fn presenters_hear_their_notes() {
        let mut ctx = LoopContext::new("plan", 100);
        let note = Directive::NotifyPresenter { key: "k".into(), data: serde_json::json!({ "n": 1 }) };
        let (_, told) = process(&mut ctx, &[note]);
        assert!(told[0].contains("\"k\"") && told[0].contains("Number(1)"), "{told:?}");
    }
}

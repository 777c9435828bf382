//! Asking the model: the tools of its tier, room for them in the window, and the prompt, with what
//! stays in sight at its end.

use tectum_core::Fault;
use tokio_util::sync::CancellationToken;

use crate::{
    Answer, Engine, Event, LoopContext, Model, Offer, Policy, Prompt, context, message, order::distinguish,
};

impl<M: Model> Engine<M> {
    /// The tools of a tier, as they are now.
    pub(super) fn offers(&self, tier: &str) -> Result<Vec<Offer>, Fault> {
        let tools = self.settings.tiers.get(tier)?.globs()?;
        let snapshot = self.house.registry().snapshot();
        let offered = snapshot.tools().filter(|info| info.listed && tools.is_match(&*info.name));
        Ok(offered.map(Offer::of).collect())
    }

    /// Compacts the conversation where it fills too much of the window.
    pub(super) fn make_room(&mut self, ctx: &mut LoopContext, offers: &[Offer]) {
        let most = Policy::share(ctx.budget, self.settings.policy.compact);
        let around = self.around(offers);
        let before = ctx.tokens();
        if before + around > most && ctx.compact(most.saturating_sub(around)) {
            (self.tell)(Event::Compacted { before, after: ctx.tokens() });
        }
    }

    /// About how many tokens stand around the history: tools and anchors.
    fn around(&self, offers: &[Offer]) -> usize {
        let size =
            |offer: &Offer| offer.name.len() + offer.description.len() + offer.schema.to_string().len();
        let tools: usize = offers.iter().map(|offer| message::tokens(size(offer))).sum();
        tools + context::tail_tokens(self.house.effects().anchors.rendered().as_deref())
    }

    /// Asks the model; `None` when nobody wants its answer any more.
    pub(super) async fn ask(
        &mut self,
        ctx: &LoopContext,
        offers: &[Offer],
        may_call: bool,
        cancel: &CancellationToken,
    ) -> Result<Option<Answer>, Fault> {
        let used = ctx.tokens() + self.around(offers);
        let scarce = used > Policy::share(ctx.budget, self.settings.policy.warn);
        if scarce {
            (self.tell)(Event::Scarce { used, budget: ctx.budget });
        }
        let warning = scarce.then(|| {
            let (used, most) = (used.saturating_mul(100) / ctx.budget.max(1), self.settings.policy.compact);
            format!("[{used} % of the context is used. From {most} % on earlier messages are dropped and summed up: note what you still need, and ask for small parts]")
        });
        let tail = context::tail(self.house.effects().anchors.rendered(), warning);
        let prompt = Prompt {
            model: self.settings.tiers.get(&ctx.tier)?.model.as_deref(),
            messages: ctx.messages.iter().chain(&tail).collect(),
            tools: offers,
            may_call,
        };
        let tell = &mut self.tell;
        let mut said = |text: &str| tell(Event::Said(text));
        tokio::select! {
            biased;
            () = cancel.cancelled() => Ok(None),
            answer = self.model.answer(prompt, &mut said) => {
                let mut answer = answer?;
                distinguish(&mut answer.calls);
                Ok(Some(answer))
            }
        }
    }
}

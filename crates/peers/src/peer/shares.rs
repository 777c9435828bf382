//! The offers of a server to clients of different abilities, kept across restarts.
//!
//! A server of the older era is told once what its client can do and may offer more to one that can
//! do more, so each class of abilities has a share of its own. What clients see is all shares
//! together: nobody loses a tool because somebody else came.

use std::{
    collections::{BTreeSet, HashSet},
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::{Item, Offer};
use crate::{
    client::ability_names,
    spec::{ServerSpec, Transport},
    wire::Era,
};

/// Shares of one server: clients differ in a handful of ways. Beyond that the oldest that nobody
/// uses makes room.
const MOST_SHARES: usize = 8;

/// All shares, those that came first in front: where two define a thing otherwise the first counts,
/// so that a definition does not change with who is there.
#[derive(Clone, Debug, Default)]
pub(super) struct Shares(Vec<Share>);

#[derive(Clone, Debug)]
struct Share {
    /// The class: a digest of its abilities, since clients write those as long as they like.
    class: String,
    offer: Offer,
}

impl Shares {
    /// The offer to one class.
    pub(super) fn offer(&self, abilities: &str) -> Offer {
        let unknown = || Offer { abilities: ability_names(abilities), ..Offer::default() };
        self.find(abilities).map_or_else(unknown, |share| share.offer.clone())
    }

    /// Takes the new offer to one class. `live` tells which other classes have a connection.
    pub(super) fn put(&mut self, abilities: &str, now: Offer, live: &dyn Fn(&str) -> bool) {
        let class = class(abilities);
        let before = self.offer(abilities);
        // Nobody of another era comes back to what was known of that era.
        self.0.retain(|share| share.offer.era == now.era);
        for share in self.0.iter_mut().filter(|share| share.class != class && !live(&share.class)) {
            share.offer.follow(&before, &now);
        }
        // What somebody sees who can do more replaces the memory of what others saw.
        let covered = |share: &Share| now.fresh && share.offer.abilities.is_subset(&now.abilities);
        self.0.retain(|share| share.class == class || live(&share.class) || !covered(share));
        if self.0.len() >= MOST_SHARES
            && let Some(oldest) = self.0.iter().position(|share| share.class != class && !live(&share.class))
        {
            self.0.remove(oldest);
        }
        match self.0.iter_mut().find(|share| share.class == class) {
            Some(share) => share.offer = now,
            None => self.0.push(Share { class, offer: now }),
        }
    }

    /// Marks the offer to one class as a memory. False when it was one already.
    pub(super) fn grow_stale(&mut self, abilities: &str) -> bool {
        let class = class(abilities);
        let share = self.0.iter_mut().find(|share| share.class == class);
        share.is_some_and(|share| std::mem::take(&mut share.offer.fresh))
    }

    /// All of it.
    pub(super) fn together(&self) -> Offer {
        let mut all = Offer::default();
        // What the server said itself, where it did, tells better who it is.
        let (fresh, old): (Vec<_>, Vec<_>) =
            self.0.iter().map(|share| &share.offer).partition(|offer| offer.fresh);
        if let Some(speaks) = fresh.last().or(old.last()) {
            all.era = speaks.era;
            all.instructions.clone_from(&speaks.instructions);
            all.extensions.clone_from(&speaks.extensions);
        }
        let offers = || self.0.iter().map(|share| &share.offer);
        all.tools = union(offers().map(|offer| &offer.tools));
        all.resources = union(offers().map(|offer| &offer.resources));
        all.templates = union(offers().map(|offer| &offer.templates));
        all.prompts = union(offers().map(|offer| &offer.prompts));
        for offer in offers() {
            all.abilities.extend(offer.abilities.iter().cloned());
            let new: Vec<_> =
                offer.left_out.iter().filter(|why| !all.left_out.contains(why)).cloned().collect();
            all.left_out.extend(new);
            all.fresh |= offer.fresh;
            all.known |= offer.known;
        }
        all
    }

    fn find(&self, abilities: &str) -> Option<&Share> {
        let class = class(abilities);
        self.0.iter().find(|share| share.class == class)
    }
}

impl Offer {
    /// Gives an offer that was the same for somebody else before its new value for them too: a server
    /// that changed has changed for those who are away as well.
    fn follow(&mut self, before: &Self, now: &Self) {
        follow(&mut self.tools, &before.tools, &now.tools);
        follow(&mut self.resources, &before.resources, &now.resources);
        follow(&mut self.templates, &before.templates, &now.templates);
        follow(&mut self.prompts, &before.prompts, &now.prompts);
    }
}

fn follow(items: &mut Vec<Item>, before: &[Item], now: &[Item]) {
    let by_key = |items: &[Item]| -> std::collections::HashMap<_, _> {
        items.iter().map(|item| (item.key.clone(), item.clone())).collect()
    };
    let (before, now) = (by_key(before), by_key(now));
    *items = std::mem::take(items)
        .into_iter()
        .filter_map(|item| match before.get(&item.key) {
            Some(old) if old.json.get() == item.json.get() => now.get(&item.key).cloned(),
            _ => Some(item),
        })
        .collect();
}

fn union<'a>(lists: impl Iterator<Item = &'a Vec<Item>>) -> Vec<Item> {
    let mut seen = HashSet::new();
    lists.flatten().filter(|item| seen.insert(item.key.clone())).cloned().collect()
}

/// The name of a class.
pub(super) fn class(abilities: &str) -> String {
    blake3::hash(abilities.as_bytes()).to_hex()[..16].to_owned()
}

/// The form on the disk.
#[derive(Serialize, Deserialize)]
struct KeptShares {
    digest: String,
    modern: bool,
    shares: Vec<KeptShare>,
}

#[derive(Serialize, Deserialize)]
struct KeptShare {
    class: String,
    abilities: BTreeSet<String>,
    tools: Vec<Box<RawValue>>,
    resources: Vec<Box<RawValue>>,
    templates: Vec<Box<RawValue>>,
    prompts: Vec<Box<RawValue>>,
    instructions: Option<String>,
    extensions: Option<String>,
}

impl Shares {
    /// Reads what an earlier run learned from the same server.
    pub(super) fn kept(state: &Path, spec: &ServerSpec) -> Self {
        // Without it the server is asked; what was approved of it is kept elsewhere.
        let kept = tectum_state::read(&file(state, spec)).ok().flatten();
        let kept: Option<KeptShares> = kept.and_then(|bytes| serde_json::from_slice(&bytes).ok());
        let Some(kept) = kept.filter(|kept| kept.digest == digest(spec)) else { return Self::default() };
        let era = if kept.modern { Era::Modern } else { Era::Legacy };
        let share = |kept: KeptShare| {
            // What cannot be used was left out when it was listed.
            let items = |raw: Vec<Box<RawValue>>, key: &str| {
                raw.into_iter().filter_map(|json| Item::read(json, key, &mut Vec::new())).collect()
            };
            let offer = Offer {
                era: Some(era),
                abilities: kept.abilities,
                tools: items(kept.tools, "name"),
                resources: items(kept.resources, "uri"),
                templates: items(kept.templates, "uriTemplate"),
                prompts: items(kept.prompts, "name"),
                instructions: kept.instructions,
                extensions: kept.extensions,
                left_out: Vec::new(),
                fresh: false,
                known: true,
            };
            Share { class: kept.class, offer }
        };
        Self(kept.shares.into_iter().take(MOST_SHARES).map(share).collect())
    }

    /// The number of things it offers to all classes together, counted once for each.
    pub(super) fn count(&self) -> usize {
        let count = |offer: &Offer| {
            offer.tools.len() + offer.resources.len() + offer.templates.len() + offer.prompts.len()
        };
        self.0.iter().map(|share| count(&share.offer)).sum()
    }

    /// This for the next run: where it is kept, and what.
    pub(super) fn to_keep(&self, state: &Path, spec: &ServerSpec) -> Option<(PathBuf, Vec<u8>)> {
        let raw = |items: &[Item]| items.iter().map(|item| (*item.json).to_owned()).collect();
        let share = |Share { class, offer }: &Share| KeptShare {
            class: class.clone(),
            abilities: offer.abilities.clone(),
            tools: raw(&offer.tools),
            resources: raw(&offer.resources),
            templates: raw(&offer.templates),
            prompts: raw(&offer.prompts),
            instructions: offer.instructions.clone(),
            extensions: offer.extensions.clone(),
        };
        let known = self.0.iter().filter(|share| share.offer.known);
        let modern = self.0.iter().any(|share| share.offer.era == Some(Era::Modern));
        let form = KeptShares { digest: digest(spec), modern, shares: known.map(share).collect() };
        Some((file(state, spec), serde_json::to_vec(&form).ok()?))
    }
}

fn file(state: &Path, spec: &ServerSpec) -> PathBuf {
    state.join(format!("{}.json", spec.name))
}

/// A digest of everything that must be the same for a memory to be of the same server. Secrets do not
/// enter: a new token does not change what is offered, and no trace of one belongs on the disk.
fn digest(spec: &ServerSpec) -> String {
    let text = match &spec.transport {
        Transport::Stdio(launch) => {
            let names: Vec<&String> = launch.env.keys().collect();
            format!("stdio {:?} {:?} {names:?} {:?}", launch.command, launch.args, launch.cwd)
        }
        Transport::Http(remote) => format!("http {}", remote.url),
        Transport::Sse(remote) => format!("sse {}", remote.url),
    };
    blake3::hash(text.as_bytes()).to_hex()[..32].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::object::Members;

    const RICH: &str = r#"{"sampling":{},"roots":{}}"#;
    const POOR: &str = "{}";

    /// Says these things in turn, to whom, as words of a name and a digit, and compares what is
    /// then seen by all.
    fn check(steps: &[(&str, &str, &str)], live: &[&str]) -> Shares {
        let mut shares = Shares::default();
        let live = |one: &str| live.iter().any(|abilities| class(abilities) == one);
        for (abilities, said, expect) in steps {
            let item = |word: &str| {
                let json =
                    format!(r#"{{"name":"{}","says":"{word}"}}"#, word.trim_end_matches(char::is_numeric));
                Item::read(RawValue::from_string(json).expect("JSON"), "name", &mut Vec::new()).expect("read")
            };
            let tools = said.split_whitespace().map(item).collect();
            let now =
                Offer { era: Some(Era::Legacy), tools, fresh: true, known: true, ..shares.offer(abilities) };
            shares.put(abilities, now, &live);
            let says = |item: &Item| Members::of(item.json.get()).and_then(|item| item.text("says"));
            let seen: Vec<String> = shares.together().tools.iter().filter_map(says).collect();
            assert_eq!(seen.join(" "), *expect, "{steps:?} after {abilities} {said}");
        }
        shares
    }

    #[test]
    fn a_poorer_client_takes_nothing_away() {
        for live in [&[][..], &[POOR, RICH]] {
            check(&[(RICH, "a1 s1", "a1 s1"), (POOR, "a1", "a1 s1"), (RICH, "a1 s1", "a1 s1")], live);
            check(&[(POOR, "a1", "a1"), (RICH, "a1 s1", "a1 s1"), (POOR, "a1", "a1 s1")], live);
        }
    }

    #[test]
    fn what_changes_for_one_changes_for_those_who_are_away() {
        // `a` is gone and `b` is another; of `s` nobody has heard.
        let steps = [(RICH, "a1 b1 s1", "a1 b1 s1"), (POOR, "a1 b1", "a1 b1 s1"), (POOR, "b2", "b2 s1")];
        check(&steps, &[]);
        // Who is there says so himself, and what came first counts until then.
        let steps = [(RICH, "a1 b1", "a1 b1"), (POOR, "a1 b1", "a1 b1"), (POOR, "b2", "a1 b1")];
        check(&steps, &[RICH, POOR]);
    }

    #[test]
    fn who_can_do_more_replaces_the_memory_of_who_can_do_less() {
        check(&[(POOR, "a1 old1", "a1 old1"), (RICH, "a2 s1", "a2 s1")], &[RICH]);
    }

    #[test]
    fn there_are_not_ever_more_shares() {
        let abilities: Vec<String> = (0..40).map(|n| format!(r#"{{"roots":{{"x{n}":1}}}}"#)).collect();
        let steps: Vec<_> = abilities.iter().map(|abilities| (&**abilities, "a1", "a1")).collect();
        assert_eq!(check(&steps, &[]).0.len(), MOST_SHARES);
    }
}

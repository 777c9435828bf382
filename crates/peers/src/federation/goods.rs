//! The resources and prompts of all servers together: one list of each, and the way back from
//! a name to the server that has it.

use std::{collections::HashMap, sync::Arc};

use super::{
    OwnEntries, Peers, names,
    own::{decoded, encoded},
};
use crate::{
    peer::{Item, Peer},
    spec::ServerName,
    wire::{Members, Pages, quoted},
};

/// The beginning of an address that names its server: always understood, and used to list a resource
/// whose own address another server has too.
const OURS: &str = "tectum://server/";

/// Everything but tools, of all servers.
#[derive(Debug, Default)]
pub(crate) struct Goods {
    /// The resources' list.
    pub(crate) resources: Pages,
    /// The templates' list.
    pub(crate) templates: Pages,
    /// The prompts' list.
    pub(crate) prompts: Pages,
    by_uri: HashMap<String, Source>,
    by_template: Vec<(String, Source)>,
    by_prompt: HashMap<String, Source>,
    peers: Arc<Peers>,
}

/// The server that has something, and its name there.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    /// The server.
    pub(crate) peer: Arc<Peer>,
    /// Its own name for it.
    pub(crate) own: Arc<str>,
}

impl Goods {
    /// Gathers what is our own and what these servers offer, in the order of their names.
    pub(super) fn gather(peers: &Arc<Peers>, own: OwnEntries) -> Self {
        let mut goods = Self { peers: peers.clone(), ..Self::default() };
        let (mut resources, mut templates, mut prompts) = (own.resources, own.templates, Vec::new());
        let (mut stale, mut whole) = (Vec::new(), true);
        for (name, peer) in peers.iter() {
            let offer = peer.offer();
            whole &= offer.known;
            let source = |item: &Item| Source { peer: peer.clone(), own: item.key.clone() };
            for item in &offer.resources {
                let taken = goods.by_uri.contains_key(&*item.key);
                let uri = if taken { explicit(name, &item.key) } else { item.key.to_string() };
                resources.push(if taken { renamed(item, "uri", &uri) } else { item.json.get().to_owned() });
                goods.by_uri.insert(uri, source(item));
            }
            for item in &offer.templates {
                templates.push(item.json.get().to_owned());
                goods.by_template.push((item.key.to_string(), source(item)));
            }
            for item in &offer.prompts {
                let exposed = names::exposed(name, &item.key, peer.spec.prefix);
                if goods.by_prompt.contains_key(&exposed) {
                    tracing::warn!(prompt = exposed, "offered twice; the first server keeps the name");
                    continue;
                }
                prompts.push(renamed(item, "name", &exposed));
                goods.by_prompt.insert(exposed, source(item));
            }
            let has_goods = !(offer.resources.is_empty() && offer.prompts.is_empty());
            if has_goods && !offer.fresh {
                stale.push(name.as_str());
            }
        }
        goods.resources = Pages::new("resources", &resources, &stale, whole);
        goods.templates = Pages::new("resourceTemplates", &templates, &stale, whole);
        goods.prompts = Pages::new("prompts", &prompts, &stale, whole);
        goods
    }

    /// A prompt by its name.
    pub(crate) fn prompt(&self, name: &str) -> Option<&Source> {
        self.by_prompt.get(name)
    }

    /// A template as it was listed.
    pub(crate) fn template(&self, template: &str) -> Option<&Source> {
        self.by_template.iter().find(|(known, _)| known == template).map(|(_, source)| source)
    }

    /// The servers that may have a resource, the likeliest first. An address that nobody listed may
    /// still be right: of a template, or named in a tool's result.
    pub(crate) fn resource(&self, uri: &str) -> Vec<Source> {
        if let Some(source) = self.by_uri.get(uri) {
            return vec![source.clone()];
        }
        if let Some((server, own)) = uri.strip_prefix(OURS).and_then(|rest| rest.split_once('/')) {
            let peer = self.peers.iter().find(|(name, _)| name.as_str() == server).map(|(_, peer)| peer);
            let source =
                peer.zip(decoded(own)).map(|(peer, own)| Source { peer: peer.clone(), own: own.into() });
            return source.into_iter().collect();
        }
        let own: Arc<str> = uri.into();
        let matching = self.by_template.iter().filter(|(template, _)| fits(template, uri));
        let mut found: Vec<Source> =
            matching.map(|(_, source)| Source { peer: source.peer.clone(), own: own.clone() }).collect();
        if found.is_empty() {
            let offers = self.peers.values().filter(|peer| {
                let offer = peer.offer();
                !(offer.resources.is_empty() && offer.templates.is_empty())
            });
            found = offers.map(|peer| Source { peer: peer.clone(), own: own.clone() }).collect();
        }
        found.dedup_by(|one, other| Arc::ptr_eq(&one.peer, &other.peer));
        found
    }
}

/// A definition under another name; everything else as it was written.
pub(crate) fn renamed(item: &Item, key: &str, name: &str) -> String {
    let members = Members::of(item.json.get());
    members.map_or_else(|| item.json.get().to_owned(), |members| members.replaced(key, &quoted(name)))
}

fn explicit(server: &ServerName, uri: &str) -> String {
    format!("{OURS}{server}/{}", encoded(uri))
}

/// True when an address could be made from a template: its fixed parts stand in it in order.
fn fits(template: &str, uri: &str) -> bool {
    let mut parts = template.split('{').map(|part| part.split_once('}').map_or(part, |(_, fixed)| fixed));
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = uri.strip_prefix(first) else { return false };
    if !template.contains('{') {
        return rest.is_empty();
    }
    let fixed: Vec<&str> = parts.collect();
    for (index, part) in fixed.iter().enumerate() {
        if index + 1 == fixed.len() {
            return rest.ends_with(part);
        }
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates_are_recognised_by_their_fixed_parts() {
        for (template, uri, expect) in [
            ("test://t/{id}/data", "test://t/7/data", true),
            ("test://t/{id}/data", "test://t/7/other", false),
            ("test://t/{id}/data", "x://t/7/data", false),
            ("a://{x}-{y}", "a://1-2", true),
            ("a://{x}-{y}", "a://12", false),
            ("a://b", "a://b", true),
            ("a://b", "a://bc", false),
            ("a://{+path}", "a://x/y/z", true),
        ] {
            assert_eq!(fits(template, uri), expect, "{template} {uri}");
        }
    }

    #[test]
    fn explicit_addresses_can_be_read_back() {
        let name = ServerName::parse("s").expect("a name");
        for uri in ["a://b/c?d#e", "mem://ü %", ""] {
            let text = explicit(&name, uri);
            assert_eq!(decoded(text.strip_prefix("tectum://server/s/").expect("ours")).as_deref(), Some(uri));
        }
        assert_eq!(decoded("%"), None);
        assert_eq!(decoded("%f0"), None);
    }
}

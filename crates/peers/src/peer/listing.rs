//! Asking a server what it offers, page by page; one bad item never costs the others.

use std::{collections::HashSet, sync::Arc};

use serde_json::value::RawValue;

use super::{Item, Offer, What};
use crate::{
    link::{Ask, Link, Loss, error_parts, modern_meta},
    wire::{
        era::Era,
        object::{Members, Object, quoted},
    },
};

/// Pages of one list; a server that never ends its list is cut there.
const MOST_PAGES: usize = 1000;
/// Items of one list.
const MOST_ITEMS: usize = 10_000;
/// Bytes of one list.
const MOST_BYTES: usize = 64 * 1024 * 1024;

/// Brings an offer up to date in one of its parts.
pub(super) async fn update(link: &Arc<Link>, offer: &mut Offer, what: What) -> Result<(), Loss> {
    let can = |capability: &str| link.hello().can(capability);
    match what {
        What::Tools if can("tools") => offer.tools = list(link, "tools/list", "tools", "name", offer).await?,
        What::Tools => offer.tools = Vec::new(),
        What::Prompts if can("prompts") => {
            offer.prompts = list(link, "prompts/list", "prompts", "name", offer).await?;
        }
        What::Prompts => offer.prompts = Vec::new(),
        What::Resources if can("resources") => {
            offer.resources = list(link, "resources/list", "resources", "uri", offer).await?;
            let templates =
                list(link, "resources/templates/list", "resourceTemplates", "uriTemplate", offer).await;
            offer.templates = templates.unwrap_or_default();
        }
        What::Resources => (offer.resources, offer.templates) = (Vec::new(), Vec::new()),
    }
    Ok(())
}

async fn list(
    link: &Arc<Link>,
    method: &'static str,
    key: &str,
    name: &str,
    offer: &mut Offer,
) -> Result<Vec<Item>, Loss> {
    let (mut items, mut bytes): (Vec<Item>, usize) = (Vec::new(), 0);
    let mut seen = HashSet::new();
    let mut cursor: Option<String> = None;
    for _ in 0..MOST_PAGES {
        let ask = Ask { method, name: None, headers: Vec::new(), owner: None };
        let exchange = link.request(ask, |_| params(link, cursor.as_deref()))?;
        let page = exchange.answer().await?.map_err(|error| {
            let (code, message) = error_parts(&error);
            Loss::Failed(format!("{method}: MCP {code}: {message}"))
        })?;
        bytes += page.get().len();
        let members = Members::of(page.get());
        let found = members.as_ref().and_then(|members| members.get(key));
        let Some(found) = found.and_then(|found| serde_json::from_str::<Vec<&RawValue>>(found.get()).ok())
        else {
            return Err(Loss::Failed(format!("{method}: its answer holds no list `{key}`")));
        };
        for json in found {
            match Item::read(json.to_owned(), name, &mut offer.left_out) {
                Some(item) if !seen.insert(item.key.clone()) => {
                    offer.left_out.push(format!("`{}` stands twice in {method}; the first counts", item.key));
                }
                Some(item) => items.push(item),
                None => {}
            }
        }
        cursor =
            members.as_ref().and_then(|members| members.text("nextCursor")).filter(|text| !text.is_empty());
        if cursor.is_none() || items.len() > MOST_ITEMS || bytes > MOST_BYTES {
            break;
        }
    }
    if items.len() > MOST_ITEMS || bytes > MOST_BYTES || cursor.is_some() {
        offer
            .left_out
            .push(format!("{method} has no end: the first {} are taken", items.len().min(MOST_ITEMS)));
        items.truncate(MOST_ITEMS);
    }
    Ok(items)
}

fn params(link: &Link, cursor: Option<&str>) -> String {
    let mut params = Object::new();
    if let Some(cursor) = cursor {
        params.raw("cursor", &quoted(cursor));
    }
    if link.hello().era == Era::Modern {
        let mut meta = Object::new();
        modern_meta(&mut meta, "{}");
        params.raw("_meta", &meta.end());
    }
    params.end()
}

//! Asking a server what it offers, page by page; one bad item never costs the others.

use std::{collections::HashSet, fmt, sync::Arc};

use serde::{
    Deserializer as _,
    de::{IgnoredAny, SeqAccess, Visitor},
};
use serde_json::value::RawValue;

use super::{Item, Offer, What};
use crate::{
    link::{Ask, Link, Loss, error_parts, own_meta},
    wire::{Era, Members, Object, quoted},
};

/// Pages of one list; a server that never ends its list is cut there.
const MOST_PAGES: usize = 1000;
/// Entries of one list, those that cannot be used among them.
const MOST_ITEMS: usize = 10_000;
/// The same of a list of tools: each is kept with its schema and can be searched for.
const MOST_TOOLS: usize = 5000;
/// Bytes of one list, over all its pages.
const MOST_BYTES: usize = 8 * 1024 * 1024;
/// Entries that are told one by one why they are left out.
const MOST_TOLD: usize = 50;
/// A page over this many bytes is read beside those who call something.
const LARGE: usize = 64 * 1024;

/// Brings an offer up to date in one of its parts.
pub(super) async fn update(link: &Arc<Link>, offer: &mut Offer, what: What) -> Result<(), Loss> {
    match what {
        What::Tools => offer.tools = list(link, "tools/list", "tools", "name", offer).await?,
        What::Prompts => offer.prompts = list(link, "prompts/list", "prompts", "name", offer).await?,
        What::Resources => {
            offer.resources = list(link, "resources/list", "resources", "uri", offer).await?;
            let templates =
                list(link, "resources/templates/list", "resourceTemplates", "uriTemplate", offer).await;
            offer.templates = templates.unwrap_or_default();
        }
    }
    Ok(())
}

/// One list; empty where the server does not declare that it has such things.
async fn list(
    link: &Arc<Link>,
    method: &'static str,
    key: &'static str,
    name: &'static str,
    offer: &mut Offer,
) -> Result<Vec<Item>, Loss> {
    if method.split('/').next().is_none_or(|capability| !link.hello().can(capability)) {
        return Ok(Vec::new());
    }
    let most = if method == "tools/list" { MOST_TOOLS } else { MOST_ITEMS };
    let mut listed = ListReader { method, key, name, most, ..ListReader::default() };
    let mut cursor: Option<String> = None;
    let mut whole = false;
    for _ in 0..MOST_PAGES {
        let exchange = link.request(Ask::of(method), |_| params(link, cursor.as_deref()))?;
        let page = exchange.answer().await?.map_err(|error| {
            let (code, message) = error_parts(&error);
            Loss::Failed(format!("{method}: MCP {code}: {message}"))
        })?;
        let (taken, read) = if page.get().len() > LARGE {
            let reading = tokio::task::spawn_blocking(move || listed.take(&page));
            reading.await.map_err(|_| Loss::Failed(format!("{method}: its answer could not be read")))?
        } else {
            listed.take(&page)
        };
        (listed, cursor) = (taken, read?);
        whole = cursor.is_none() && !listed.is_full();
        if cursor.is_none() || listed.is_full() {
            break;
        }
    }
    if !whole {
        let count = listed.items.len();
        listed.left_out.push(format!("{method} has no end: the first {count} are taken"));
    }
    if listed.untold > 0 {
        listed.left_out.push(format!("{} more entries of {method} cannot be used", listed.untold));
    }
    offer.left_out.append(&mut listed.left_out);
    Ok(listed.items)
}

/// The entries of a list that were read so far, never more than are kept.
#[derive(Default)]
struct ListReader {
    method: &'static str,
    /// The member that holds the list, and the one that names an entry.
    key: &'static str,
    name: &'static str,
    /// Entries that are taken.
    most: usize,
    items: Vec<Item>,
    seen: HashSet<Arc<str>>,
    /// Entries and bytes that came.
    count: usize,
    bytes: usize,
    left_out: Vec<String>,
    untold: usize,
}

impl ListReader {
    /// Takes the entries of one more page, as far as there is room, and gives the next page's cursor.
    fn take(mut self, page: &RawValue) -> (Self, Result<Option<String>, Loss>) {
        self.bytes += page.get().len();
        let members = Members::of(page.get()).unwrap_or_default();
        let read = members.get(self.key).map(|list| {
            serde_json::Deserializer::from_str(list.get()).deserialize_seq(Entries(&mut self)).is_ok()
        });
        if read != Some(true) {
            let why = format!("{}: its answer holds no list `{}`", self.method, self.key);
            return (self, Err(Loss::Failed(why)));
        }
        (self, Ok(members.text("nextCursor").filter(|text| !text.is_empty())))
    }

    fn is_full(&self) -> bool {
        self.count > self.most || self.bytes > MOST_BYTES
    }

    fn add(&mut self, json: &RawValue) {
        let mut why = Vec::new();
        match Item::read(json.to_owned(), self.name, &mut why) {
            Some(item) if !self.seen.insert(item.key.clone()) => {
                let key: String = item.key.chars().take(120).collect();
                self.leave_out(format!("`{key}` stands twice in {}; the first counts", self.method));
            }
            Some(item) => self.items.push(item),
            None => why.into_iter().for_each(|why| self.leave_out(why)),
        }
    }

    fn leave_out(&mut self, why: String) {
        if self.left_out.len() < MOST_TOLD {
            self.left_out.push(why);
        } else {
            self.untold += 1;
        }
    }
}

/// Reads the entries of a list one by one. Those beyond the bound are passed over.
struct Entries<'l>(&'l mut ListReader);

impl<'de> Visitor<'de> for Entries<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        while self.0.count < self.0.most {
            let Some(json) = list.next_element::<&RawValue>()? else { return Ok(()) };
            self.0.count += 1;
            self.0.add(json);
        }
        if list.next_element::<IgnoredAny>()?.is_some() {
            self.0.count += 1;
            while list.next_element::<IgnoredAny>()?.is_some() {}
        }
        Ok(())
    }
}

fn params(link: &Link, cursor: Option<&str>) -> String {
    let mut params = Object::new();
    if let Some(cursor) = cursor {
        params.raw("cursor", &quoted(cursor));
    }
    if link.hello().era == Era::Modern {
        params.raw("_meta", &own_meta("{}"));
    }
    params.end()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::object::raw;

    fn taken(page: &str) -> (ListReader, Result<Option<String>, Loss>) {
        ListReader {
            method: "tools/list",
            key: "tools",
            name: "name",
            most: MOST_TOOLS,
            ..ListReader::default()
        }
        .take(&raw(page.to_owned()))
    }

    #[test]
    fn a_list_is_read_as_far_as_there_is_room() {
        let tools: Vec<String> = (0..12_000).map(|number| format!(r#"{{"name":"t{number}"}}"#)).collect();
        let (listed, next) = taken(&format!(r#"{{"tools":[{}],"nextCursor":"c"}}"#, tools.join(",")));
        assert_eq!((listed.items.len(), listed.is_full(), next), (MOST_TOOLS, true, Ok(Some("c".into()))));
        let (listed, _) = taken(&format!(r#"{{"tools":[{}]}}"#, tools[..MOST_TOOLS].join(",")));
        assert!(!listed.is_full());
    }

    #[test]
    fn what_cannot_be_used_is_counted_and_not_told_without_end() {
        let (listed, next) = taken(&format!(r#"{{"tools":[{{"name":"a"}},{}2]}}"#, "1,".repeat(1_000_000)));
        assert_eq!((listed.items.len(), next), (1, Ok(None)));
        assert_eq!((listed.left_out.len(), listed.untold), (MOST_TOLD, MOST_TOOLS - 1 - MOST_TOLD));
        for page in ["{}", r#"{"tools":{}}"#, "[]", r#"{"tools":[1"#] {
            assert!(taken(page).1.is_err(), "{page}");
        }
    }
}

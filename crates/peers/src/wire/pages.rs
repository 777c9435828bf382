//! Lists cut into pages, as bytes that are ready to be sent, for both eras.

use super::{Era, Object, quoted, server_meta};

/// Items on one page.
const PAGE: usize = 200;
/// The time a client may keep a list before asking again, in milliseconds.
pub(crate) const TTL_MS: u64 = 60_000;

/// One list.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Pages {
    legacy: Vec<String>,
    modern: Vec<String>,
}

impl Pages {
    /// Cuts items into pages. Servers named in `stale` have not confirmed their part since they
    /// were last away, and a list that is not `whole` misses what servers offer that were never met;
    /// neither is to be kept by clients.
    pub(crate) fn new(key: &str, items: &[String], stale: &[&str], whole: bool) -> Self {
        let mut pages: Vec<String> = items.chunks(PAGE).map(|chunk| chunk.join(",")).collect();
        if pages.is_empty() {
            pages.push(String::new());
        }
        let last = pages.len() - 1;
        // Who asks for tools decides what is listed, so nobody may show the answer to others.
        let scope = if key == "tools" { "private" } else { "public" };
        let render = |era: Era| {
            let tail = tail(era, stale, whole, scope);
            let page = |(index, items): (usize, &String)| {
                let next =
                    if index < last { format!(r#","nextCursor":"{}""#, index + 1) } else { String::new() };
                format!(r#"{{"{key}":[{items}]{next}{tail}}}"#)
            };
            pages.iter().enumerate().map(page).collect()
        };
        Self { legacy: render(Era::Legacy), modern: render(Era::Modern) }
    }

    /// One page; `None` for a cursor we never gave.
    pub(crate) fn page(&self, era: Era, cursor: Option<&str>) -> Option<&str> {
        let pages = match era {
            Era::Legacy => &self.legacy,
            Era::Modern => &self.modern,
        };
        let index = match cursor {
            None => 0,
            Some(text) => text.parse().ok().filter(|index| *index > 0)?,
        };
        pages.get(index).map(String::as_str)
    }
}

/// The end of every list: cache hints and our name, where the era has them.
fn tail(era: Era, stale: &[&str], whole: bool, scope: &str) -> String {
    let mut meta = Object::new();
    if !stale.is_empty() {
        let names: Vec<String> = stale.iter().map(|name| quoted(name)).collect();
        meta.raw("tectum/stale", &format!("[{}]", names.join(",")));
    }
    match era {
        Era::Legacy if stale.is_empty() => String::new(),
        Era::Legacy => format!(r#","_meta":{}"#, meta.end()),
        Era::Modern => {
            let (key, info) = server_meta();
            let meta = meta.raw(key, &info).end();
            let ttl = if whole && stale.is_empty() { TTL_MS } else { 0 };
            format!(r#","resultType":"complete","ttlMs":{ttl},"cacheScope":"{scope}","_meta":{meta}"#)
        }
    }
}

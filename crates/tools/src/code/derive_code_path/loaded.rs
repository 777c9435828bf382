//! Sources that the tree of calls has reached, read once: their calls and their imports.

use std::{collections::HashMap, sync::Arc};

use parking_lot::Mutex;
use tectum_core::{Ctx, Fault};
use tectum_syntax::{CallSite, Detail, Import, Outline, Shadow, Span};

use super::index::{Index, SymbolId};
use crate::code::{Only, project::Sources};

/// Calls of one function that are followed; more are a table, not a function.
const MOST_CALLS: usize = 500;

/// A call as it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Call {
    pub(super) name: String,
    /// The text before the name; empty for a plain call.
    pub(super) receiver: String,
    /// The place of the name.
    pub(super) place: Span,
    separator: &'static str,
}

impl Call {
    /// The call as the tree shows it when it leads nowhere.
    pub(super) fn written(&self) -> String {
        /// A receiver can be a whole chain of calls.
        const MOST: usize = 60;
        if self.receiver.is_empty() {
            return self.name.clone();
        }
        let receiver: String = self.receiver.split_whitespace().collect::<Vec<_>>().join(" ");
        let cut = receiver.floor_char_boundary(MOST.min(receiver.len()));
        let dots = if cut < receiver.len() { "…" } else { "" };
        format!("{}{dots}{}{}", &receiver[..cut], self.separator, self.name)
    }
}

/// The facts about one file.
#[derive(Debug, Default)]
pub(super) struct LoadedSource {
    calls: HashMap<u32, Vec<Call>>,
    pub(super) imports: Vec<Import>,
}

/// Reads files as they are reached.
pub(super) struct Loader<'l> {
    ctx: &'l Ctx,
    sources: &'l Sources<'l>,
    index: &'l Index,
    loaded: Mutex<HashMap<usize, Arc<LoadedSource>>>,
}

impl<'l> Loader<'l> {
    pub(super) fn new(ctx: &'l Ctx, sources: &'l Sources<'l>, index: &'l Index) -> Self {
        Self { ctx, sources, index, loaded: Mutex::default() }
    }

    /// The calls of a function in the order they are written.
    pub(super) fn calls(&self, id: SymbolId) -> Result<Vec<Call>, Fault> {
        let loaded = self.file(id.file)?;
        Ok(loaded.calls.get(&id.symbol).cloned().unwrap_or_default())
    }

    /// The facts about a file.
    pub(super) fn file(&self, file: usize) -> Result<Arc<LoadedSource>, Fault> {
        if let Some(known) = self.loaded.lock().get(&file) {
            return Ok(known.clone());
        }
        let indexed = &self.index.files[file];
        let entry = std::slice::from_ref(&indexed.entry);
        let found = self.sources.each(entry, |entry, content| {
            let text = content.text()?;
            let language = self.sources.language(entry, &text, Only::Any)?;
            let stop = || self.ctx.cancel.is_cancelled();
            let source = self.sources.languages().shelf.source(&language, &text);
            let outline = source.outline(Detail::Outline, &stop).ok()?;
            // A file that changed since it was indexed has other symbols in its places.
            if outline.symbols.len() != indexed.facts.symbols.len() {
                return None;
            }
            let imports = language.imports(&text, &stop).unwrap_or_default();
            let separator = language.pack().style.separator;
            let mut calls: HashMap<u32, Vec<Call>> = HashMap::new();
            let mut add = |symbol: u32, site: &CallSite| {
                let list = calls.entry(symbol).or_default();
                let name = site.name.slice(&text);
                if list.len() < MOST_CALLS && !name.is_empty() {
                    let receiver = site.receiver.slice(&text).trim().to_owned();
                    list.push(Call { name: name.to_owned(), receiver, place: site.name, separator });
                }
            };
            if language.pack().front.calls.is_some() {
                let callable = (0u32..).zip(&outline.symbols).filter(|(_, symbol)| symbol.kind.is_callable());
                for (at, symbol) in callable.filter(|(_, symbol)| !symbol.body.is_empty()) {
                    let sites = language.calls(&text, symbol.body, &outline, &stop).unwrap_or_default();
                    sites.iter().for_each(|site| add(at, site));
                }
            } else {
                // One parse for the whole file; each call belongs to the innermost function.
                let whole = Span::new(0, text.len());
                let sites = language.calls(&text, whole, &Outline::default(), &stop).unwrap_or_default();
                owners(&outline, &sites, add);
            }
            Some(LoadedSource { calls, imports })
        })?;
        let loaded = Arc::new(found.into_iter().next().map(|(_, loaded)| loaded).unwrap_or_default());
        self.loaded.lock().insert(file, loaded.clone());
        Ok(loaded)
    }

    /// True if a plain call means something that its function binds itself: a parameter, a
    /// variable. Nobody knows what that is.
    pub(super) fn is_local(&self, file: usize, call: &Call) -> Result<bool, Fault> {
        let entry = std::slice::from_ref(&self.index.files[file].entry);
        let found = self.sources.each(entry, |entry, content| {
            let text = content.text()?;
            let language = self.sources.language(entry, &text, Only::Any)?;
            let shadows = language.shadows(&text, &call.name, &|| self.ctx.cancel.is_cancelled()).ok()?;
            Some(Shadow::over(&shadows, call.place).is_some())
        })?;
        Ok(found.into_iter().any(|(_, local)| local))
    }
}

/// Shows every call with the innermost function around it. Both lists are in the order of the
/// text, so one pass is enough.
fn owners(outline: &Outline, sites: &[CallSite], mut show: impl FnMut(u32, &CallSite)) {
    let mut symbols =
        (0u32..).zip(&outline.symbols).filter(|(_, symbol)| symbol.kind.is_callable()).peekable();
    let mut open: Vec<(u32, u32)> = Vec::new();
    for site in sites {
        let at = site.name.start;
        while let Some((index, symbol)) = symbols.next_if(|(_, symbol)| symbol.whole.start <= at) {
            open.push((index, symbol.whole.end));
        }
        open.retain(|(_, end)| at < *end);
        if let Some((index, _)) = open.last() {
            show(*index, site);
        }
    }
}

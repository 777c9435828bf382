//! The values that an entry waits for: the variables and inputs it names that nobody gave.

use super::{
    Entry,
    contradictions::texts,
    variables::{Scope, Unfilled, fill},
};

/// The reasons why variables of an entry cannot be filled in, each told once. A variable that is handed
/// on under its own name counts, too: whoever names it means that the server gets it.
pub fn missing(entry: &Entry, scope: Scope<'_>) -> Vec<Unfilled> {
    let handed_on = entry.forward.iter().map(|name| format!("${{{name}}}"));
    let written = texts(&entry.values).into_iter().map(|templated| templated.text.to_owned());
    let mut found: Vec<Unfilled> = Vec::new();
    for text in written.chain(handed_on) {
        if let Err(unfilled) = fill(&text, entry.source.dialect, scope)
            && !found.contains(&unfilled)
        {
            found.push(unfilled);
        }
    }
    found
}

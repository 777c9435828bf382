//! The senses of the house itself. Each turns something that the house already knows into facts.

mod commands;
mod diagnostics;
mod files;
mod head;
mod questions;
mod repeats;
mod sense;
mod servers;
mod space;
mod todos;

pub(super) use self::sense::{Calls, House, Sense};

/// All of them.
pub(super) fn all() -> Vec<Box<dyn Sense>> {
    vec![
        Box::new(files::FilesSense::default()),
        Box::new(head::Head::default()),
        Box::new(commands::Commands::default()),
        Box::new(diagnostics::DiagnosticsSense::default()),
        Box::new(questions::Questions::default()),
        Box::new(servers::Servers::default()),
        Box::new(repeats::Repeats::default()),
        Box::new(todos::Todos::default()),
        Box::new(space::Space::default()),
    ]
}

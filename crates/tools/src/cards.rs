//! The values that the cards of most tools share; each tool's own card changes what differs.

use std::time::Duration;

use tectum_core::{Card, Effect, ToolRole, World};

/// A tool that reads the project.
pub(crate) const READS: Card = Card {
    name: "",
    title: "",
    effect: Effect::Read,
    world: World::Project,
    idempotent: true,
    primary: "path",
    deadline: Duration::from_secs(30),
    max_output: 256 * 1024,
    role: ToolRole::Usual,
};

/// A tool that searches the project.
pub(crate) const SEARCHES: Card =
    Card { deadline: Duration::from_secs(60), max_output: 1024 * 1024, role: ToolRole::Basic, ..READS };

/// A tool that changes the project.
pub(crate) const CHANGES: Card = Card { effect: Effect::Change, idempotent: false, ..READS };

/// A tool for beads. The program that keeps them may run, so it reaches beyond the project.
pub(crate) const BEADS: Card = Card {
    world: World::Open,
    primary: "",
    deadline: Duration::from_secs(45),
    role: ToolRole::Alias,
    ..READS
};

/// A tool for the session of a command; the deadline leaves room for the longest wait.
pub(crate) const SESSION: Card = Card {
    primary: "session",
    deadline: Duration::from_secs(620),
    max_output: 48 * 1024,
    role: ToolRole::Alias,
    ..CHANGES
};

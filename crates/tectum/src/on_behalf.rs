//! Commands that a house runs for a person at its console.

/// The variable that tells a command which process runs it for a person, by its number: the command is the person's
/// own, and no Tectum below another one.
pub const ON_BEHALF: &str = "TECTUM_ON_BEHALF";

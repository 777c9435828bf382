//! What a command may do to the machine it runs on, and that the kernel holds it to that.
//!
//! A [`SandboxPlan`] is data. It goes to a fork server with each command. The command's guard enters it in a
//! thread that then starts the command, so that the command inherits it and the guard itself stays able to
//! end the tree. A plan is held whole or nothing is started; who wants less says so by having none.
//!
//! Files are held by Landlock (`rules.rs`), which only knows what is allowed. A closed path outside the
//! places that may be written is left out of what is allowed; one inside of them is covered in a mount
//! namespace (`cover.rs`). Sockets and the few calls that would go around files are held by a seccomp
//! filter (`calls.rs`).

#[cfg(target_os = "linux")]
mod calls;
#[cfg(target_os = "linux")]
mod cover;
#[cfg(target_os = "linux")]
mod enter;
#[cfg(not(target_os = "linux"))]
#[path = "enter_elsewhere.rs"]
mod enter;
mod plan;
#[cfg(target_os = "linux")]
mod rules;
mod scratch;

use std::io;

pub(crate) use self::{
    enter::{ConfinedThread, Entered},
    scratch::Abandoned,
};
pub use self::{
    plan::{CLOSED_AT_HOME, CLOSED_ON_MACHINE, SandboxPlan},
    scratch::Scratch,
};

/// Each costs a mount, and every command a look.
const MOST_CLOSED: usize = 4_000;

/// What held for a command, as results and records say it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sandboxed {
    /// All of a plan.
    Enforced {
        /// Whether the plan leaves the network open.
        network: bool,
    },
    /// Nothing: the user's own configuration switched the sandbox off.
    OptedOut,
}

impl Sandboxed {
    /// One word for a field.
    pub fn word(self) -> &'static str {
        match self {
            Self::Enforced { network: true } => "enforced",
            Self::Enforced { network: false } => "enforced, no network",
            Self::OptedOut => "off",
        }
    }
}

/// What will hold if a command is started with this plan, or why it must not be. Asked before
/// anything is started; the guard refuses on its own as well.
pub fn held(plan: Option<&SandboxPlan>) -> io::Result<Sandboxed> {
    let Some(plan) = plan else { return Ok(Sandboxed::OptedOut) };
    if plan.closed.len() > MOST_CLOSED {
        return Err(io::Error::other(format!(
            "{} protected names lie in the roots, and a sandbox covers at most {MOST_CLOSED}: serve a smaller \
             directory, or open some of the names with `[workspace] open` in your own configuration",
            plan.closed.len()
        )));
    }
    enter::possible()?;
    Ok(Sandboxed::Enforced { network: plan.network })
}

//! Language servers: started at the first question, spoken to in their own protocol, ended when idle.
//! Their diagnostics come out as plain lines.
//!
//! A server is not trusted: whatever it sends, or fails to send, affects only the question it was
//! asked. Which server is right for a file, and whether it may be started, is decided elsewhere. No
//! file is opened here; a server gets the texts that somebody was allowed to read.

mod answers;
mod documents;
mod frame;
mod greeting;
mod keeper;
mod message;
mod pipes;
mod report;
mod session;
mod shared;
mod spec;
mod trouble;
mod uri;

pub use tectum_child::{Installed, Launch, Secret, own_guard};

pub use self::{
    keeper::Keeper,
    report::{Diagnostic, Report, Severity},
    spec::{Asked, Patience, Spec},
    trouble::Trouble,
};

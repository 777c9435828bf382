//! The native tools: one file each, and the text model they share.
//!
//! A tool sees only what the gate granted. It never opens a path by name; `tectum-security`
//! hands it open files.

pub mod analysis;
mod attention;
pub mod beads;
mod cards;
pub mod catalog;
pub mod code;
pub mod diagnostics;
pub mod edit;
pub mod files;
pub mod history;
pub mod network;
mod run;
pub mod runtime;
pub mod sandbox;
pub mod settings;
pub mod shell;
pub mod text;
pub mod todo;

pub use catalog::catalog;
pub use sandbox::SandboxSettings;
pub use settings::{GitSettings, LanguageServers, NetworkSettings, Settings, ShellSettings, Threads};

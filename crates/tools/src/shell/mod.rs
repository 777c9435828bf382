//! Commands: one engine under `run_shell` and `run_powershell`, and the sessions of commands that go
//! on after their call.

mod engine;
mod report;
mod run_powershell;
mod run_shell;
mod shell_kill;
mod shell_list;
mod shell_poll;
mod shell_write;
mod subject;

pub use engine::Shells;
pub use run_powershell::RunPowershell;
pub use run_shell::RunShell;
pub use shell_kill::ShellKill;
pub use shell_list::ShellList;
pub use shell_poll::ShellPoll;
pub use shell_write::ShellWrite;
pub use subject::subject;

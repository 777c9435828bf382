//! Looking at files and their history as a whole: lines that find themselves again, and what
//! git says has changed. Nothing here changes a file of the project.

pub mod anchor;
mod create_slice;
mod get_git_diff;
mod git;
mod resolve_slice;

pub use create_slice::create_slice;
pub use get_git_diff::get_git_diff;
pub use resolve_slice::resolve_slice;

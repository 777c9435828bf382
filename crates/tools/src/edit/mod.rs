//! Changing: edits that touch exactly the bytes they name.
//!
//! Every tool here locks the folder of its file, reads, computes and writes before it lets go,
//! keeps what it takes away for `undo_edit`, and refuses rather than guesses.

mod apply_edits;
mod delete_file;
pub(crate) mod diff;
mod draft;
mod edit_file;
mod indentation;
mod matching;
mod move_file;
mod nearest;
pub(crate) mod pen;
mod search;
mod set_file_slice;
mod typography;
mod undo;
mod undo_calls;
mod undo_edit;
mod undo_folders;
mod undo_frame;
mod undo_images;
mod undo_log;
mod undo_moves;
mod undo_record;
mod view;
mod window;
mod write_file;

pub use apply_edits::apply_edits;
pub use delete_file::delete_file;
pub use edit_file::edit_file;
pub use matching::Tier;
pub use move_file::move_file;
pub use pen::{Pen, Written};
pub use set_file_slice::set_file_slice;
pub use undo_calls::{Fate, FileReport, Report, UNDO_CALLS, UndoneCalls, undo_calls, undo_calls_in_copy};
pub use undo_edit::undo_edit;
pub use undo_folders::UNDO_FOLDERS;
pub use undo_moves::{UNDO_MOVE, WholeMove};
pub use write_file::write_file;

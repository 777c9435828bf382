//! Reading, listing and searching the project's files. Nothing here changes one.

mod depth;
mod get_file_slice;
mod get_tree;
mod glob;
pub(crate) mod ground;
pub(crate) mod ignores;
mod list_directory;
pub(crate) mod more;
mod page;
mod part;
mod read_file;
mod reading;
mod search;
mod search_content;
mod search_files;
pub(crate) mod skipped;
pub(crate) mod spelling;
mod window;

pub use get_file_slice::GetFileSlice;
pub use get_tree::get_tree;
pub use list_directory::ListDirectory;
pub(crate) use list_directory::here;
pub use read_file::ReadFile;
pub use search_content::search_content;
pub use search_files::search_files;

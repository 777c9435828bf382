//! The code tools: seeing and changing code by symbol, in any language that has a pack.
//!
//! What a text means is the business of `tectum-syntax`; here its answers meet the project's
//! files. No tool knows a language by name: the names `py_*`, `ts_c_*` and `ts_cpp_*` are rows
//! of the same table as `code_*`, bound to one pack.

mod add;
mod anchor;
pub mod args;
mod cap;
mod carried;
pub mod change;
pub mod check;
pub mod class_summary;
pub mod definition;
pub mod derive_code_path;
pub mod docs;
mod drawn;
pub mod hierarchy;
pub mod imports;
mod languages;
mod left;
pub mod lookup;
mod modules;
pub mod move_def;
pub mod outline;
pub(crate) mod project;
mod region;
mod remove;
pub mod rename;
pub mod repo_map;
mod shared;
pub mod skeleton;
pub mod summary;
mod table;
mod update;
pub mod usages;
mod wrapped;

pub(crate) use self::lookup::Opened;
pub use self::{languages::Only, shared::Code, table::rows};

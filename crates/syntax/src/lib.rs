//! Text in, facts out: what a source file defines, names, calls and gets wrong, in any language
//! that has a pack. Opens no file, waits for nothing, knows no tool.

#[cfg(any(feature = "lang-c", feature = "lang-cpp"))]
pub mod c;
#[cfg(feature = "lang-data")]
pub mod data;
pub mod delta;
mod dress;
pub mod facts;
mod faults;
mod imports;
pub mod indent;
pub mod language;
mod layers;
mod locals;
pub mod names;
pub mod pack;
pub mod packs;
#[cfg(feature = "lang-python")]
pub mod python;
mod query;
mod references;
pub mod shelf;
pub mod source;
pub mod symbol;
pub mod tree;

pub use facts::{CallSite, Entry, Import, Mention, Problem, Role, Shadow};
pub use language::Language;
pub use pack::{Bodies, Detail, Docs, Front, Pack, Queries, Reach, Style};
pub use packs::Packs;
pub use shelf::Shelf;
pub use source::Source;
pub use symbol::{Gap, Kind, Outline, Span, Symbol};
pub use tree::{MOST_PARSED, Stop, Unparsed};

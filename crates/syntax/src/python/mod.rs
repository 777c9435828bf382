//! Python's own front ends: pure functions from text to facts. The outline, mentions, imports and
//! calls come from a skimmer and a lexer of our own; what a compiler would refuse and what is
//! bound where come from a full parser, which never sees a text that could exhaust its stack.

mod bindings;
mod bytes;
mod calls;
mod check;
mod depth;
mod docstring;
mod encoding;
mod glance;
mod imports;
mod lex;
mod lines;
#[cfg(test)]
mod mention_tests;
mod mentions;
#[cfg(test)]
mod outline_tests;
mod parse;
#[cfg(test)]
mod properties;
mod refusals;
mod roles;
mod scopes;
mod shadows;
mod skim;
mod statements;
mod tabs;
mod text;
mod token;
mod variables;

pub use calls::{bases, calls};
pub use check::check;
pub use docstring::docstring;
pub use encoding::undecodable;
pub use imports::imports;
pub use mentions::mentions;
pub use shadows::shadows;
pub use skim::outline;
pub use text::{import_statement, module_doc, strings};

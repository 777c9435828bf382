//! Tools of this process as a provider: from one declaration to a schema, from a call's JSON to typed
//! arguments, with what is certainly meant read and every mistake named at once.

mod arguments;
mod lenient;
mod mistakes;
mod schema;
mod tools;

pub use mistakes::signature;
pub use tools::{NativeSet, NativeTool};

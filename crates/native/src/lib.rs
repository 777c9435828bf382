//! Tools of this process as a provider: one declaration becomes a schema, a call's JSON becomes typed
//! arguments. What is certainly meant is accepted, and every mistake is named at once.

mod arguments;
mod lenient;
mod mistakes;
mod schema;
mod tools;

pub use mistakes::signature;
pub use tools::{NativeSet, NativeTool};

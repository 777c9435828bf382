//! The agent's own list of what is to do, and handing work over to another tier. The list lives
//! here; the model sees it as an anchor, people as a note.

mod handoff;
mod list;
mod todo_write;

pub use handoff::Handoff;
pub use list::Todos;
pub use todo_write::TodoWrite;

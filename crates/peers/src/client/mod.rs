//! A client as everybody beyond its transport sees it: what it can do and is given, its calls in
//! flight, its subscriptions, and the bounded queue towards it.

mod abilities;
mod budget;
mod caller;
mod clients;
mod closing;
mod conversation;
mod form;
mod heartbeat;
mod listeners;
mod notice;
mod outbox;
mod task_note;
mod unheard;

pub(crate) use abilities::{abilities, ability_names, can, shows_forms};
pub(crate) use budget::{Budget, BudgetShare};
pub(crate) use caller::{Caller, Callers, LEVELS};
pub(crate) use clients::Clients;
pub use closing::SeenFile;
pub(crate) use closing::{Models, Part};
pub(crate) use conversation::{CallSeat, Conversation, Refused, STDIO, ask_after};
pub use form::{ClientForms, Form, Structured};
pub(crate) use form::{text_size, with_text};
pub(crate) use heartbeat::Pulse;
pub(crate) use listeners::{Following, Wanted};
pub(crate) use notice::{Notice, NoticeReader, Notices};
pub(crate) use outbox::{Bounds, Outbox, Queue, QueuedMessage, queue};
pub(crate) use task_note::{TASKS, TaskNote, named_task};
pub(crate) use unheard::Unheard;

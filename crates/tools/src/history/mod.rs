//! What happened before: the record of calls, for the agent that made them.

mod search_history;

pub use search_history::SearchHistory;

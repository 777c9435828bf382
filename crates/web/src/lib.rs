//! Pages of the web: where a request may go, how much of an answer is read, and what is text in it.
//!
//! Whoever asks names an address ([`PageUrl`], in one spelling), a [`Fetcher`] goes there as far as its
//! [`Egress`] lets it, and what came back ([`Download`]) becomes text ([`Page`]). Nothing here knows a tool,
//! a rule or a setting.

mod charset;
mod content;
mod download;
mod egress;
mod fetch;
mod fetch_caps;
mod machine;
mod packed;
mod page_url;
mod public;
mod readable;
mod search;
mod tree;
mod trouble;

pub use content::Format;
pub use download::{Download, Page};
pub use egress::{AllowedHost, Egress};
pub use fetch::{Fetched, Fetcher};
pub use machine::own_listener;
pub use page_url::PageUrl;
pub use public::why_not_public;
pub use search::{Hit, Search, SearchAnswer};
pub use trouble::Trouble;

#[cfg(test)]
mod test_server;

//! The network: pages by their address, and a search for them.
//!
//! Both reach beyond the project (`World::Open`), so a person or a rule decides. Where a request may go is
//! decided below them, in `tectum-web`, whatever the rules say.

mod fetch_url;
mod mark;
mod shared;
mod shelf;
mod trouble;
mod web_search;

pub use fetch_url::FetchUrl;
pub use shared::Network;
pub use web_search::WebSearch;

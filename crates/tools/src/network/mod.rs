//! The network: pages by their address, and a search for them.
//!
//! Both reach beyond the project (`World::Open`), so a person or a rule decides. Where a request may go is
//! decided below them, in `tectum-web`, whatever the rules say.

mod fetch_url;
mod mark;
mod shelf;
mod trouble;
mod web_search;

use std::sync::{Arc, OnceLock};

use tectum_core::Fault;
use tectum_web::{Egress, Fetcher, Search};

use crate::settings::NetworkSettings;

pub use fetch_url::FetchUrl;
pub use web_search::WebSearch;

/// What both tools share. Nothing is built before the first call.
#[derive(Debug)]
pub struct Network {
    settings: NetworkSettings,
    fetcher: Arc<Fetcher>,
    search: OnceLock<Result<Search, String>>,
}

impl Network {
    /// As the settings say.
    pub fn new(settings: &NetworkSettings) -> Self {
        let egress = Egress::new(settings.allow_hosts.clone());
        let fetcher = Arc::new(Fetcher::new(egress, settings.environment_proxies));
        Self { settings: settings.clone(), fetcher, search: OnceLock::new() }
    }

    fn search(&self) -> Result<&Search, Fault> {
        let made = self.search.get_or_init(|| match &self.settings.searxng {
            Some(server) => {
                let egress = Egress::new(self.settings.allow_hosts.clone());
                Ok(Search::searxng(server.clone(), egress, self.settings.environment_proxies))
            }
            None => Search::duckduckgo(self.fetcher.clone()),
        });
        made.as_ref().map_err(|why| Fault::internal(why.clone()))
    }
}

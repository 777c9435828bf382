//! The state that the network tools share: one fetcher and one provider of search, as the settings say.

use std::sync::{Arc, OnceLock};

use tectum_core::Fault;
use tectum_web::{Egress, Fetcher, Search};

use crate::settings::NetworkSettings;

/// The state that both tools share. Nothing is built before the first call.
#[derive(Debug)]
pub struct Network {
    settings: NetworkSettings,
    pub(super) fetcher: Arc<Fetcher>,
    search: OnceLock<Result<Search, String>>,
}

impl Network {
    /// As the settings say.
    pub fn new(settings: &NetworkSettings) -> Self {
        let egress = Egress::new(settings.allow_hosts.clone());
        let fetcher = Arc::new(Fetcher::new(egress, settings.environment_proxies));
        Self { settings: settings.clone(), fetcher, search: OnceLock::new() }
    }

    pub(super) fn search(&self) -> Result<&Search, Fault> {
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

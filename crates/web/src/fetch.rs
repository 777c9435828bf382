//! From an address to the bytes behind it: redirects followed by hand, each step judged, and caps on size,
//! time and steps.

use std::{
    error::Error,
    sync::{Arc, Once, OnceLock},
    time::Duration,
};

use reqwest::{
    Client, NoProxy, Proxy, Response, StatusCode,
    header::{ACCEPT, ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_TYPE, HeaderName, LOCATION, RETRY_AFTER},
    redirect,
};

use crate::{
    Download, Egress, PageUrl, Trouble,
    content::Kind,
    egress::{JudgingResolver, NoWay, Way},
    fetch_caps::MOST_BYTES,
    packed::{self, Packed},
};

/// All of a fetch, with every redirect. The tool's own deadline leaves time for reading what came.
const MOST_TIME: Duration = Duration::from_secs(20);
/// Browsers follow twenty; an address that needs more than five is made to be followed.
const MOST_REDIRECTS: usize = 5;
/// A host that is there answers sooner; the other addresses of a name get their turn.
const CONNECT: Duration = Duration::from_secs(8);

const AGENT: &str = concat!("Mozilla/5.0 (compatible; tectum/", env!("CARGO_PKG_VERSION"), ")");

/// Fetches pages. Nothing is built before the first of them, and no connection is kept after one: the next is
/// judged anew.
#[derive(Debug)]
pub struct Fetcher {
    egress: Arc<Egress>,
    from_environment: bool,
    judged: OnceLock<Result<Client, String>>,
    allowed: OnceLock<Result<Client, String>>,
}

/// What came of a fetch.
#[derive(Debug)]
pub enum Fetched {
    /// The page.
    Page(Download),
    /// It lies with somebody else, who was not asked for.
    Elsewhere {
        /// Who said so.
        from: PageUrl,
        /// Where it lies.
        to: PageUrl,
    },
}

impl Fetcher {
    /// Goes where `egress` lets it. The environment's proxies are used only if the user says so.
    pub fn new(egress: Egress, proxies_from_environment: bool) -> Self {
        Self {
            egress: Arc::new(egress),
            from_environment: proxies_from_environment,
            judged: OnceLock::new(),
            allowed: OnceLock::new(),
        }
    }

    /// Fetches a page. `accept` is what would be welcome.
    pub async fn get(&self, url: &PageUrl, accept: &str) -> Result<Fetched, Trouble> {
        let late = |_| Trouble::Late { address: url.to_string(), after: MOST_TIME };
        tokio::time::timeout(MOST_TIME, self.follow(url, accept)).await.map_err(late)?
    }

    async fn follow(&self, first: &PageUrl, accept: &str) -> Result<Fetched, Trouble> {
        let mut url = first.clone();
        for _ in 0..=MOST_REDIRECTS {
            let response = self.ask(&url, accept).await?;
            if !response.status().is_redirection() || response.status() == StatusCode::NOT_MODIFIED {
                return Ok(Fetched::Page(read(url, response).await?));
            }
            let next = next(&url, &response)?;
            if !url.keeps_to(&next) {
                // Judged already, so that nobody is sent to ask for what is refused.
                self.egress.way(&next)?;
                return Ok(Fetched::Elsewhere { from: url, to: next });
            }
            url = next;
        }
        Err(Trouble::Circle { address: first.to_string(), most: MOST_REDIRECTS })
    }

    async fn ask(&self, url: &PageUrl, accept: &str) -> Result<Response, Trouble> {
        let way = self.egress.way(url)?;
        let broken = |why: String| Trouble::Broken { address: url.to_string(), why };
        if way == Way::Judged && self.from_environment {
            self.judge_behind_proxy(url).await?;
        }
        let kept = if way == Way::Judged { &self.judged } else { &self.allowed };
        let client = kept.get_or_init(|| self.client(way)).as_ref().map_err(|why| broken(why.clone()))?;
        let request =
            client.get(url.url().clone()).header(ACCEPT, accept).header(ACCEPT_ENCODING, packed::ACCEPTED);
        request.send().await.map_err(|error| match no_way(&error) {
            Some(NoWay::Refused(why)) => Trouble::Refused { address: url.to_string(), why: why.clone() },
            Some(unknown) => broken(unknown.to_string()),
            None => broken(words(&error)),
        })
    }

    /// A proxy looks the name up itself. What can be found out here is judged; a name that is only known
    /// there is the proxy's to judge.
    async fn judge_behind_proxy(&self, url: &PageUrl) -> Result<(), Trouble> {
        let url::Host::Domain(name) = url.host() else { return Ok(()) };
        match self.egress.addresses(name, Way::Judged).await {
            Err(NoWay::Refused(why)) => Err(Trouble::Refused { address: url.to_string(), why }),
            Ok(_) | Err(NoWay::Unknown(_)) => Ok(()),
        }
    }

    fn client(&self, way: Way) -> Result<Client, String> {
        static TLS: Once = Once::new();
        // A host program that installed one before us keeps its own.
        TLS.call_once(|| drop(rustls::crypto::ring::default_provider().install_default()));
        let mut builder = Client::builder()
            .user_agent(AGENT)
            .no_proxy()
            .redirect(redirect::Policy::none())
            .connect_timeout(CONNECT)
            .pool_max_idle_per_host(0)
            .referer(false)
            .tcp_nodelay(true);
        let mut names = Vec::new();
        if way == Way::Judged && self.from_environment {
            for (name, proxy) in proxies()? {
                names.push(name);
                builder = builder.proxy(proxy);
            }
        }
        let resolver = JudgingResolver { egress: self.egress.clone(), way, proxies: names };
        builder.dns_resolver(Arc::new(resolver)).build().map_err(|error| words(&error))
    }
}

/// The proxies that the environment names, each with its host.
fn proxies() -> Result<Vec<(String, Proxy)>, String> {
    let said = |name: &str| {
        let value = std::env::var(name).or_else(|_| std::env::var(name.to_lowercase()));
        value.ok().filter(|value| !value.trim().is_empty())
    };
    let mut found = Vec::new();
    type Make = fn(&str) -> reqwest::Result<Proxy>;
    let kinds: [(&str, Make); 2] =
        [("HTTPS_PROXY", |url| Proxy::https(url)), ("HTTP_PROXY", |url| Proxy::http(url))];
    for (name, make) in kinds {
        let Some(text) = said(name).or_else(|| said("ALL_PROXY")) else { continue };
        let url = if text.contains("://") { text } else { format!("http://{text}") };
        let broken = |_| format!("the proxy in {name} is not a URL");
        let host = url::Url::parse(&url).ok().and_then(|url| url.host_str().map(str::to_owned));
        let proxy = make(&url).map_err(broken)?;
        found.push((host.unwrap_or_default(), proxy.no_proxy(NoProxy::from_env())));
    }
    Ok(found)
}

/// Where a redirect leads.
fn next(url: &PageUrl, response: &Response) -> Result<PageUrl, Trouble> {
    let broken = |why: String| Trouble::Broken { address: url.to_string(), why };
    let location = header(response, LOCATION);
    let Some(location) = location else {
        return Err(broken(format!("it answered {} without saying where to go", response.status().as_u16())));
    };
    url.join(&location).map_err(|why| broken(format!("it redirects to what is no address: {why}")))
}

/// The body, up to the cap. What is no text is not read at all.
async fn read(url: PageUrl, mut response: Response) -> Result<Download, Trouble> {
    let status = response.status();
    if !status.is_success() {
        let wait = header(&response, RETRY_AFTER).filter(|wait| wait.len() <= 40 && wait.is_ascii());
        let wait = wait.map(|wait| format!(" (retry after {wait})")).unwrap_or_default();
        return Err(Trouble::Status { address: url.to_string(), status: status.as_u16(), wait });
    }
    let broken = |why: String| Trouble::Broken { address: url.to_string(), why };
    let content_type = header(&response, CONTENT_TYPE);
    let packed = Packed::named(header(&response, CONTENT_ENCODING).as_deref().unwrap_or_default())
        .map_err(|name| broken(format!("it is packed as `{name}`, which was not asked for")))?;
    let declared = response.content_length().filter(|_| packed == Packed::Plain);
    let mut bytes = Vec::new();
    let mut cut = false;
    let text = content_type.as_deref().map(Kind::named) != Some(Kind::Binary);
    while text && !cut {
        let chunk = response.chunk().await.map_err(|error| broken(words(&error)))?;
        let Some(chunk) = chunk else { break };
        cut = bytes.len() + chunk.len() > MOST_BYTES;
        bytes.extend_from_slice(&chunk[..chunk.len().min(MOST_BYTES - bytes.len())]);
    }
    Ok(Download { url, status: status.as_u16(), content_type, packed, declared, bytes, cut })
}

fn header(response: &Response, name: HeaderName) -> Option<String> {
    response.headers().get(name).map(|value| String::from_utf8_lossy(value.as_bytes()).trim().to_owned())
}

/// Our own refusal, wherever the library put it.
fn no_way(error: &reqwest::Error) -> Option<&NoWay> {
    causes(error).find_map(|cause| cause.downcast_ref::<NoWay>())
}

/// What is at the bottom of it: the library's own words say only at which step it happened.
fn words(error: &reqwest::Error) -> String {
    causes(error).last().unwrap_or(error).to_string().chars().take(300).collect()
}

fn causes(error: &reqwest::Error) -> impl Iterator<Item = &(dyn Error + 'static)> {
    std::iter::successors(Some(error as &(dyn Error + 'static)), |error| (*error).source())
}

#[cfg(test)]
#[path = "fetch_tests.rs"]
mod tests;

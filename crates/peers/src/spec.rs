//! One federated server as somebody configured it: values only, already checked and with every
//! variable filled in. Reading files, variables and trust are the set-up's business, not ours.

use std::{collections::BTreeMap, fmt, num::NonZeroU32, sync::Arc, time::Duration};

pub use tectum_child::{Launch, Secret};
use tectum_core::Judgement;

/// The time a server may take until it has said hello. Package runners download first.
pub const START_TIMEOUT: Duration = Duration::from_secs(60);
/// The time a call may stay silent; each progress note starts it anew.
pub const TIMEOUT: Duration = Duration::from_secs(5 * 60);
/// The time a call may take whatever it says.
pub const MOST_TIMEOUT: Duration = Duration::from_secs(30 * 60);
/// Calls that run at one server together; more wait for their turn.
pub const CONCURRENCY: usize = 64;
/// The largest result that is passed on as it stands; beyond it, a preview and a resource.
pub const MAX_RESULT: usize = 1024 * 1024;

/// The directives that a server's results may carry, unless its configuration says more.
pub const DIRECTIVES: &[&str] = &["context_anchor", "todo_state_changed", "notify_presenter"];

/// A server's name: letters, digits, `-` and single `_` inside, so that `name__tool` can be read
/// in one way only.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ServerName(Arc<str>);

/// One server. Two equal specs are the same server: it need not be restarted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerSpec {
    /// Its name.
    pub name: ServerName,
    /// The way it is reached.
    pub transport: Transport,
    /// The era it speaks.
    pub era: EraChoice,
    /// True if Tectum's own start fails without it.
    pub required: bool,
    /// True if its names are prefixed with its own. At most one server goes without.
    pub prefix: bool,
    /// The time its start may take.
    pub start_timeout: Duration,
    /// The time a call may stay silent.
    pub timeout: Duration,
    /// The time a call may take at most.
    pub most_timeout: Duration,
    /// Calls in flight at once.
    pub concurrency: usize,
    /// Calls a minute; unbounded when absent.
    pub rate: Option<NonZeroU32>,
    /// Globs over its own tool names; empty takes all.
    pub include: Vec<String>,
    /// Globs over its own tool names that are left out; they win.
    pub exclude: Vec<String>,
    /// The clients that share one connection.
    pub isolation: Isolation,
    /// The permission for its tools where no rule speaks.
    pub permission: Judgement,
    /// The treatment of tools that it adds after it was first met.
    pub new_tools: NewTools,
    /// Bytes of a result that are passed on as they stand.
    pub max_result: usize,
    /// The directives that its results may carry.
    pub directives: Vec<String>,
    /// Raised by `tectum restart`: another number is another server.
    pub generation: u64,
}

/// The ways in which a server is reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Transport {
    /// A child process that speaks on its standard input and output.
    Stdio(Launch),
    /// Streamable HTTP.
    Http(Remote),
    /// The transport of 2024: a stream of events and a second address to post to.
    Sse(Remote),
}

/// An address to connect to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remote {
    /// `http://` or `https://`.
    pub url: String,
    /// Headers of every request.
    pub headers: BTreeMap<String, Secret>,
    /// Scopes to ask for at login; empty leaves it to the server.
    pub scopes: Vec<String>,
    /// The client's name at the authorization server, where one was registered by hand; or the
    /// `https://` address of a document that describes the client, for servers that read those.
    pub client_id: Option<String>,
    /// The secret that goes with that name, where it has one.
    pub client_secret: Option<Secret>,
}

/// The era a server speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EraChoice {
    /// Found out at the first connection, and remembered.
    Auto,
    /// With a handshake.
    Legacy,
    /// Without.
    Modern,
}

/// The clients that share one connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Isolation {
    /// All clients that can do the same things.
    Shared,
    /// Each client has its own.
    PerClient,
}

/// The treatment of tools that a server adds after it was first met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NewTools {
    /// They are taken as they are.
    Take,
    /// They are withheld until a person approves them.
    Ask,
}

impl ServerName {
    /// The longest name: it stands before every tool's.
    pub const MOST: usize = 32;

    /// Checks a name.
    pub fn parse(text: &str) -> Result<Self, String> {
        let legal = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        let why = if text.is_empty() {
            "it is empty"
        } else if text.len() > Self::MOST {
            "it is longer than 32 characters"
        } else if !text.chars().all(legal) {
            "only letters, digits, `-` and `_` may stand in it"
        } else if text.contains("__") || text.starts_with('_') || text.ends_with('_') {
            "`_` may stand only singly and inside, since `__` separates server and tool"
        } else {
            return Ok(Self(text.into()));
        };
        Err(format!("`{text}` cannot be a server's name: {why}"))
    }

    /// The nearest legal name for one that another program allowed: the same in every run.
    pub fn adapted(text: &str) -> Self {
        if let Ok(name) = Self::parse(text) {
            return name;
        }
        let mut plain = String::new();
        for c in text.chars() {
            let c = if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
            if c != '_' || !plain.is_empty() && !plain.ends_with('_') {
                plain.push(c);
            }
        }
        // The digest keeps two names apart that differ only in what was changed.
        let digest = blake3::hash(text.as_bytes()).to_hex();
        plain.truncate(Self::MOST - 7);
        let plain = plain.trim_end_matches('_');
        let name =
            if plain.is_empty() { digest[..6].to_owned() } else { format!("{plain}-{}", &digest[..6]) };
        Self(name.into())
    }

    /// As text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ServerName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl ServerSpec {
    /// A server with every bound at its usual value.
    pub fn new(name: ServerName, transport: Transport) -> Self {
        Self {
            name,
            transport,
            era: EraChoice::Auto,
            required: false,
            prefix: true,
            start_timeout: START_TIMEOUT,
            timeout: TIMEOUT,
            most_timeout: MOST_TIMEOUT,
            concurrency: CONCURRENCY,
            rate: None,
            include: Vec::new(),
            exclude: Vec::new(),
            isolation: Isolation::Shared,
            permission: Judgement::Allow,
            new_tools: NewTools::Take,
            max_result: MAX_RESULT,
            directives: DIRECTIVES.iter().map(|name| (*name).to_owned()).collect(),
            generation: 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_can_be_read_in_one_way_only() {
        for good in ["a", "git-hub", "a_b", "A1"] {
            assert_eq!(ServerName::parse(good).expect("legal").as_str(), good);
        }
        for bad in ["", "a__b", "_a", "a_", "a b", "ü", "a.b", &"x".repeat(33)] {
            assert!(ServerName::parse(bad).is_err(), "{bad}");
            let adapted = ServerName::adapted(bad);
            assert!(ServerName::parse(adapted.as_str()).is_ok(), "{bad} -> {adapted}");
            assert_eq!(adapted, ServerName::adapted(bad));
        }
        assert_ne!(ServerName::adapted("a b"), ServerName::adapted("a.b"));
    }
}

//! Who is signed in at the console: one-time codes, and the sessions they are exchanged for. A session counts for
//! requests that show both of its secrets: the cookie, which scripts cannot read, and the key, which the browser
//! keeps for this address and port. The cookie alone would not do: browsers send it to every port of the host.

use std::{
    net::{IpAddr, Ipv4Addr, SocketAddr},
    sync::OnceLock,
    time::{Duration, SystemTime},
};

use axum::http::{HeaderMap, header::COOKIE};
use parking_lot::Mutex;
use subtle::ConstantTimeEq;

/// The header of the key. A foreign page cannot send it.
pub(super) const CONSOLE: &str = "Tectum-Console";
/// The time for which a code works.
pub(super) const CODE_LASTS: Duration = Duration::from_secs(600);
/// The time after which a session ends by itself.
pub(super) const SESSION_LASTS: Duration = Duration::from_secs(12 * 3600);
/// Codes that work at the same time, and sessions; the oldest makes room.
const MOST: usize = 64;
/// The bytes of a secret.
const BYTES: usize = 32;

/// The codes and the sessions of a house.
#[derive(Debug, Default)]
pub(super) struct SignIns {
    kept: Mutex<Kept>,
    address: OnceLock<SocketAddr>,
}

#[derive(Default)]
struct Kept {
    codes: Vec<(String, SystemTime)>,
    sessions: Vec<BrowserSession>,
    next: u64,
}

/// One browser that is signed in.
struct BrowserSession {
    facts: SessionFacts,
    cookie: String,
    key: String,
}

/// What is told of a session.
#[derive(Clone, Debug)]
pub(super) struct SessionFacts {
    /// Its name.
    pub(super) id: String,
    /// When it began.
    pub(super) since: SystemTime,
    /// When it was last used.
    pub(super) last_seen: SystemTime,
    /// The browser, as it called itself.
    pub(super) agent: String,
    /// The credential that it stands for, as a hash.
    credential: blake3::Hash,
}

/// The secrets of a new session.
#[derive(Debug)]
pub(super) struct NewSession {
    pub(super) cookie: String,
    pub(super) key: String,
    pub(super) expires: SystemTime,
}

impl SignIns {
    /// The address where the page is served, if there is one.
    pub(super) fn listens_at(&self, address: SocketAddr) {
        // The first counts: a house has one listener.
        let _ = self.address.set(address);
    }

    /// Whether somebody can sign in.
    pub(super) fn is_served(&self) -> bool {
        self.address.get().is_some()
    }

    /// The address of the page with a new code; `None` if it is served nowhere.
    pub(super) fn link(&self) -> Result<Option<String>, getrandom::Error> {
        let Some(mut address) = self.address.get().copied() else { return Ok(None) };
        if address.ip().is_unspecified() {
            address.set_ip(IpAddr::V4(Ipv4Addr::LOCALHOST));
        }
        let code = secret()?;
        let until = SystemTime::now() + CODE_LASTS;
        let mut kept = self.kept.lock();
        kept.codes.push((code.clone(), until));
        let surplus = kept.codes.len().saturating_sub(MOST);
        kept.codes.drain(..surplus);
        Ok(Some(format!("http://{address}/console/#code={code}")))
    }

    /// Exchanges a code for a session that stands for this credential; `None` if the code does not work.
    pub(super) fn exchange(
        &self,
        code: &str,
        credential: &str,
        agent: String,
    ) -> Result<Option<NewSession>, getrandom::Error> {
        let (cookie, key) = (secret()?, secret()?);
        let now = SystemTime::now();
        let mut kept = self.kept.lock();
        kept.codes.retain(|(_, until)| *until > now);
        let Some(at) = kept.codes.iter().position(|(known, _)| same(known, code)) else { return Ok(None) };
        kept.codes.swap_remove(at);
        kept.next += 1;
        let facts = SessionFacts {
            id: format!("s-{}", kept.next),
            since: now,
            last_seen: now,
            agent,
            credential: blake3::hash(credential.as_bytes()),
        };
        kept.sessions.push(BrowserSession { facts, cookie: cookie.clone(), key: key.clone() });
        let surplus = kept.sessions.len().saturating_sub(MOST);
        kept.sessions.drain(..surplus);
        Ok(Some(NewSession { cookie, key, expires: now + SESSION_LASTS }))
    }

    /// The session that these headers prove.
    pub(super) fn of(&self, headers: &HeaderMap) -> Option<SessionFacts> {
        let key = only(headers, CONSOLE)?;
        let cookie = self.cookie_of(headers)?;
        let now = SystemTime::now();
        let mut kept = self.kept.lock();
        kept.sessions.retain(|session| now < session.facts.since + SESSION_LASTS);
        let known = |one: &&mut BrowserSession| same(&one.cookie, &cookie) & same(&one.key, key);
        let session = kept.sessions.iter_mut().find(known)?;
        session.facts.last_seen = now;
        Some(session.facts.clone())
    }

    /// All sessions, the oldest first.
    pub(super) fn sessions(&self) -> Vec<SessionFacts> {
        let now = SystemTime::now();
        let mut kept = self.kept.lock();
        kept.sessions.retain(|session| now < session.facts.since + SESSION_LASTS);
        kept.sessions.iter().map(|session| session.facts.clone()).collect()
    }

    /// Ends a session; false if there is none of this name.
    pub(super) fn end(&self, id: &str) -> bool {
        let mut kept = self.kept.lock();
        let before = kept.sessions.len();
        kept.sessions.retain(|session| session.facts.id != id);
        kept.sessions.len() < before
    }

    /// The name of the cookie. Browsers keep one of a name for all ports of a host.
    pub(super) fn cookie_name(&self) -> String {
        format!("tectum_console_{}", self.address.get().map_or(0, SocketAddr::port))
    }

    fn cookie_of(&self, headers: &HeaderMap) -> Option<String> {
        let name = self.cookie_name();
        let lines = headers.get_all(COOKIE).iter().filter_map(|line| line.to_str().ok());
        let pairs = lines.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
        pairs.filter(|(known, _)| *known == name).map(|(_, value)| value.to_owned()).next()
    }
}

impl SessionFacts {
    /// Whether the credential is still the one it was begun with.
    pub(super) fn stands_for(&self, credential: &str) -> bool {
        self.credential == blake3::hash(credential.as_bytes())
    }
}

/// The value of a header that stands there once.
pub(super) fn only<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    let mut values = headers.get_all(name).iter();
    values.next().filter(|_| values.next().is_none())?.to_str().ok()
}

fn same(one: &str, other: &str) -> bool {
    one.as_bytes().ct_eq(other.as_bytes()).into()
}

fn secret() -> Result<String, getrandom::Error> {
    let mut bytes = [0_u8; BYTES];
    getrandom::fill(&mut bytes)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

impl std::fmt::Debug for Kept {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Kept").field("sessions", &self.sessions.len()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn house() -> SignIns {
        let house = SignIns::default();
        house.listens_at(([127, 0, 0, 1], 8999).into());
        house
    }

    fn code(house: &SignIns) -> String {
        let link = house.link().expect("random").expect("an address");
        link.strip_prefix("http://127.0.0.1:8999/console/#code=").expect("a code").to_owned()
    }

    fn headers(cookie: &str, key: &str) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(COOKIE, format!("a=b; {cookie}; c").parse().expect("a value"));
        headers.insert(CONSOLE, key.parse().expect("a value"));
        headers
    }

    #[test]
    fn a_code_works_once_and_a_session_needs_both_secrets() {
        let house = house();
        let code = code(&house);
        let signed = |code: &str| house.exchange(code, "credential", "a browser".into()).expect("random");
        assert!(signed("nonsense").is_none() && signed("").is_none());
        let NewSession { cookie, key, .. } = signed(&code).expect("it works");
        assert!(signed(&code).is_none(), "once");
        let named = |cookie: &str| format!("tectum_console_8999={cookie}");
        let facts = house.of(&headers(&named(&cookie), &key)).expect("known");
        assert!(facts.stands_for("credential") && !facts.stands_for("another"));
        assert!(house.of(&headers(&named(&cookie), "1")).is_none());
        assert!(house.of(&headers(&named(&key), &key)).is_none());
        assert!(house.of(&headers(&format!("tectum_console={cookie}"), &key)).is_none());
        assert!(house.end(&facts.id) && !house.end(&facts.id));
        assert!(house.of(&headers(&named(&cookie), &key)).is_none());
    }

    #[test]
    fn what_is_old_ends_and_what_is_too_much_makes_room() {
        let house = house();
        let first = code(&house);
        for _ in 0..MOST {
            code(&house);
        }
        assert!(house.exchange(&first, "c", String::new()).expect("random").is_none());
        let old = code(&house);
        house.kept.lock().codes.iter_mut().for_each(|(_, until)| *until = SystemTime::now());
        assert!(house.exchange(&old, "c", String::new()).expect("random").is_none());
        let code = code(&house);
        house.exchange(&code, "c", String::new()).expect("random").expect("it works");
        assert_eq!(house.sessions().len(), 1);
        house.kept.lock().sessions[0].facts.since -= SESSION_LASTS;
        assert!(house.sessions().is_empty());
    }
}

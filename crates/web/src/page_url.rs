//! The address of a page in its one spelling: what a rule is matched against is what is asked for.

use std::{borrow::Cow, fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use url::{Host, Url};

/// Longer ones are no addresses of pages; servers refuse them too.
const LONGEST: usize = 8 * 1024;

/// An http or https address without credentials and fragment. Host and scheme are lower case, an IP address
/// has its usual notation, a default port and the dot after a host are gone, dot segments are resolved, and
/// letters, digits, `-`, `.`, `_`, `~` stand for themselves.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PageUrl(Url);

impl PageUrl {
    /// Its spelling.
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// As the library takes it.
    pub(crate) fn url(&self) -> &Url {
        &self.0
    }

    /// Its host, without the brackets of an IPv6 address.
    pub(crate) fn host(&self) -> Host<&str> {
        self.0.host().unwrap_or(Host::Domain(""))
    }

    /// Its port, said or usual.
    pub(crate) fn port(&self) -> u16 {
        self.0.port_or_known_default().unwrap_or_default()
    }

    /// What a `Location` means that was sent from here.
    pub(crate) fn join(&self, location: &str) -> Result<Self, String> {
        if location.chars().any(char::is_control) {
            return Err("it has control characters in it".into());
        }
        self.0.join(location).map_err(|error| error.to_string()).and_then(Self::new)
    }

    /// Whether a redirect from here to there stays with whom was asked: the same host but for `www.`, the
    /// usual ports or the same one, and nothing that was encrypted in the clear.
    pub(crate) fn keeps_to(&self, next: &Self) -> bool {
        let bare = |url: &Self| {
            let host = url.host().to_string();
            host.strip_prefix("www.").map_or_else(|| host.clone(), str::to_owned)
        };
        let encrypted = |url: &Self| url.0.scheme() == "https";
        let ports = self.port() == next.port() || (self.0.port(), next.0.port()) == (None, None);
        bare(self) == bare(next) && ports && (encrypted(next) || !encrypted(self))
    }

    fn new(mut url: Url) -> Result<Self, String> {
        if !matches!(url.scheme(), "http" | "https") {
            return Err(format!("`{}` is not http or https", url.scheme()));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err("it has a user name or password before an @, which is never sent".into());
        }
        url.set_fragment(None);
        if let Some(Host::Domain(name)) = url.host() {
            let bare = name.trim_end_matches('.').to_owned();
            if bare.is_empty() {
                return Err("it names no host".into());
            }
            if bare != name {
                url.set_host(Some(&bare)).map_err(|error| error.to_string())?;
            }
        }
        if let Cow::Owned(path) = plain(url.path()) {
            url.set_path(&path);
        }
        if let Some(Cow::Owned(query)) = url.query().map(plain) {
            url.set_query(Some(&query));
        }
        Ok(Self(url))
    }
}

/// Escapes that nobody needs, taken back; the others in capitals.
fn plain(text: &str) -> Cow<'_, str> {
    if !text.contains('%') {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('%') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let code = rest.get(1..3).and_then(|code| u8::from_str_radix(code, 16).ok());
        match code {
            Some(byte) if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) => out.push(byte.into()),
            Some(byte) => out.push_str(&format!("%{byte:02X}")),
            None => out.push('%'),
        }
        rest = &rest[if code.is_some() { 3 } else { 1 }..];
    }
    out.push_str(rest);
    Cow::Owned(out)
}

impl FromStr for PageUrl {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let broken = |why: &str| {
            let shown: String = text.chars().take(200).filter(|c| !c.is_control()).collect();
            Err(format!("`{shown}` is not the address of a page: {why}; write https://host/path"))
        };
        if text.len() > LONGEST {
            return broken("it is longer than 8 KiB");
        }
        if text.chars().any(char::is_control) {
            return broken("it has control characters in it");
        }
        match Url::parse(text) {
            Ok(url) => Self::new(url).or_else(|why| broken(&why)),
            Err(error) => broken(&error.to_string()),
        }
    }
}

impl fmt::Display for PageUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for PageUrl {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for PageUrl {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Cow::<str>::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expect: Result<&str, &str>) {
        match (text.parse::<PageUrl>(), expect) {
            (Ok(url), Ok(spelling)) => {
                assert_eq!(url.as_str(), spelling, "{text}");
                assert_eq!(spelling.parse::<PageUrl>().expect("again").as_str(), spelling, "twice: {text}");
            }
            (Err(why), Err(words)) => assert!(why.contains(words), "{text}: {why}"),
            (found, _) => panic!("{text}: {found:?}"),
        }
    }

    #[test]
    fn an_address_has_one_spelling() {
        check(" HTTPS://Docs.RS:443/a/../b#c ", Ok("https://docs.rs/b"));
        check("https://docs.rs./serde", Ok("https://docs.rs/serde"));
        check("https://docs.rs/%73erde/%2e%2e/%7e%2f%zz", Ok("https://docs.rs/~%2F%zz"));
        check("https://docs.rs/?q=%61%3d", Ok("https://docs.rs/?q=a%3D"));
        check("https://docs.rs\\evil", Ok("https://docs.rs/evil"));
        check("http://０ｘ7f.1/", Ok("http://127.0.0.1/"));
        check("http://0177.0.0.01", Ok("http://127.0.0.1/"));
        check("http://2130706433", Ok("http://127.0.0.1/"));
        check("http://[::FFFF:127.0.0.1]:80/", Ok("http://[::ffff:7f00:1]/"));
        check("https://bücher.example/", Ok("https://xn--bcher-kva.example/"));
    }

    #[test]
    fn what_is_no_address_of_a_page_is_refused() {
        check("https://docs.rs@evil.example/", Err("before an @"));
        check("https://:x@evil.example/", Err("before an @"));
        check("file:///etc/passwd", Err("`file` is not http"));
        check("gopher://docs.rs/", Err("`gopher` is not http"));
        check("docs.rs/serde", Err("write https://host/path"));
        check("https://./", Err("host"));
        check("https://a\nb/", Err("control characters"));
        check("http://[fe80::1%25eth0]/", Err("IPv6"));
        check("http://1.2.3.4.5/", Err("IPv4"));
        check("http://a%00b/", Err("not the address"));
        check(&format!("https://docs.rs/{}", "a".repeat(9000)), Err("8 KiB"));
    }

    #[test]
    fn a_redirect_within_the_host_is_known() {
        let url = |text: &str| text.parse::<PageUrl>().expect("an address");
        for (from, to, keeps) in [
            ("http://a.example/", "https://a.example/b", true),
            ("http://a.example/", "https://www.a.example/", true),
            ("https://www.a.example/", "https://a.example/", true),
            ("https://a.example/", "http://a.example/", false),
            ("https://a.example/", "https://b.a.example/", false),
            ("https://a.example/", "https://a.example:8443/", false),
            ("http://a.example:81/", "http://a.example:81/x", true),
            ("https://a.example/", "https://a.example.evil/", false),
        ] {
            assert_eq!(url(from).keeps_to(&url(to)), keeps, "{from} -> {to}");
        }
    }
}

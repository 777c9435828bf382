//! The names federated tools and prompts are known by: a pure function of the server's name and
//! the tool's own, so that no other server can change them.

use crate::spec::ServerName;

/// The longest name: some model APIs take 64 characters, and clients put `mcp__tectum__` before.
pub(crate) const MOST: usize = 51;
/// Hexadecimal digits of the digest that stands for what was cut or replaced.
const DIGEST: usize = 8;

/// The name of a server's tool among all. Names that had to be changed carry a digest of both
/// parts, so that two of them never meet.
pub(crate) fn exposed(server: &ServerName, own: &str, prefix: bool) -> String {
    let plain = if prefix { format!("{server}__{own}") } else { own.to_owned() };
    let legal = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if !plain.is_empty() && plain.len() <= MOST && plain.chars().all(legal) {
        return plain;
    }
    let digest = blake3::hash(format!("{server}\n{own}").as_bytes()).to_hex();
    let mut short: String = plain.chars().map(|c| if legal(c) { c } else { '_' }).collect();
    short.truncate(MOST - DIGEST - 1);
    format!("{short}_{}", &digest[..DIGEST])
}

/// True if a tool came here by way of this very house: gateways that use each other offer
/// everything again under ever longer names. A server of a gateway may bear the gateway's own
/// name, so that alone means nothing.
pub(crate) fn goes_in_circles(server: &ServerName, own: &str) -> bool {
    let mut way: Vec<&str> = std::iter::once(server.as_str()).chain(own.split("__")).collect();
    way.pop();
    let repeats = |block: usize, times: usize| {
        way.windows(block * times).any(|part| {
            let first = &part[..block];
            first.iter().all(|word| !word.is_empty()) && part.chunks(block).all(|chunk| chunk == first)
        })
    };
    repeats(1, 3) || (2..=way.len() / 2).any(|block| repeats(block, 2))
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::*;

    fn check(server: &str, own: &str, expect: &str) {
        let server = ServerName::parse(server).expect("a name");
        assert_eq!(exposed(&server, own, true), expect);
    }

    #[test]
    fn plain_names_are_server_and_tool() {
        check("git", "log", "git__log");
        check("git-hub", "create_issue", "git-hub__create_issue");
        check("a", "_b", "a___b");
    }

    #[test]
    fn a_way_that_is_gone_twice_is_a_circle() {
        let circles =
            |server: &str, own: &str| goes_in_circles(&ServerName::parse(server).expect("a name"), own);
        for (server, own) in [("a", "b__a__b__read"), ("a", "a__a__read"), ("x", "a__b__c__a__b__c__read")] {
            assert!(circles(server, own), "{server} {own}");
        }
        for (server, own) in [
            ("git", "git__log"),
            ("git", "git__git"),
            ("a", "b__a__read"),
            ("a", "b__a__b"),
            ("a", "b__c__a__b__d__read"),
            ("a", "__init____x____y____z__"),
            ("a", "______"),
            ("a", ""),
        ] {
            assert!(!circles(server, own), "{server} {own}");
        }
    }

    #[test]
    fn odd_and_long_names_get_a_digest_that_is_the_same_in_every_run() {
        check("s", "a.b", "s__a_b_18a8aad4");
        let server = ServerName::parse("s").expect("a name");
        let long = exposed(&server, &"x".repeat(200), true);
        assert_eq!(long.len(), MOST);
        assert_ne!(long, exposed(&server, &"x".repeat(201), true));
        assert_ne!(exposed(&server, "a.b", true), exposed(&server, "a b", true));
    }

    proptest! {
        #[test]
        fn two_tools_never_share_a_name(
            servers in prop::collection::hash_set("[a-z]([a-z_-]?[a-z]){0,6}", 1..6),
            tools in prop::collection::hash_set("[a-zA-Z0-9_.\\- ü]{0,60}", 1..20),
        ) {
            let mut seen: HashMap<String, (String, String)> = HashMap::new();
            for server in servers.iter().filter_map(|name| ServerName::parse(name).ok()) {
                for tool in &tools {
                    let name = exposed(&server, tool, true);
                    prop_assert!(name.len() <= MOST && !name.is_empty());
                    let pair = (server.to_string(), tool.clone());
                    if let Some(other) = seen.insert(name.clone(), pair.clone()) {
                        prop_assert!(false, "{name}: {other:?} and {pair:?}");
                    }
                }
            }
        }
    }
}

//! What is refused, whatever it is called.

use super::*;

fn refused(egress: &Egress, url: &str) -> Option<String> {
    let url: PageUrl = url.parse().expect("an address");
    egress.way(&url).err().map(|trouble| trouble.to_string())
}

#[test]
fn a_user_allows_a_host_or_one_port_of_it() {
    let allowed = |text: &str| text.parse::<AllowedHost>();
    let egress =
        ["localhost:3000", "10.1.2.3", "::1", "Wiki.Example."].map(|text| allowed(text).expect(text));
    let egress = Egress::new(egress.to_vec());
    for (url, way) in [
        ("http://localhost:3000/", Some(Way::Allowed)),
        // Judged when it is looked up.
        ("http://localhost:3001/", Some(Way::Judged)),
        ("http://10.1.2.3:99/", Some(Way::Allowed)),
        ("http://167838211/", Some(Way::Allowed)),
        ("http://10.1.2.4/", None),
        ("http://[0:0::1]/", Some(Way::Allowed)),
        ("https://wiki.example/", Some(Way::Allowed)),
        ("https://sub.wiki.example/", Some(Way::Judged)),
    ] {
        assert_eq!(egress.way(&url.parse().expect("an address")).ok(), way, "{url}");
    }
    for broken in ["*.example", "http://a/", "a/b", "a@b", "", "a:b:c", "a b"] {
        assert!(allowed(broken).is_err(), "{broken}");
    }
}

#[test]
fn our_own_listener_is_refused_even_where_its_host_is_allowed() {
    let egress = Egress::new(vec!["127.0.0.1".parse().expect("a host")]);
    assert_eq!(refused(&egress, "http://127.0.0.1:48999/"), None);
    machine::own_listener("0.0.0.0:48999".parse().expect("an address"));
    machine::own_listener("0.0.0.0:0".parse().expect("an address"));
    for url in ["http://127.0.0.1:48999/", "http://0x7f.1:48999/", "https://2130706433:48999/"] {
        let why = refused(&egress, url).expect("refused");
        assert!(why.contains("Tectum itself listens"), "{why}");
    }
}

#[tokio::test]
async fn a_name_is_worth_its_public_addresses() {
    fn table(name: String) -> Found {
        Box::pin(async move {
            let found: &[&str] = match &*name {
                "public.example" => &["93.184.216.34:0", "[2606:2800::1]:0"],
                "mixed.example" => &["10.0.0.1:0", "93.184.216.34:0", "[::ffff:10.0.0.1]:0"],
                "inside.example" => &["192.168.1.1:0", "[fd00::1]:0"],
                "nobody.example" => &[],
                _ => return Err(io::Error::other("no such name")),
            };
            Ok(found.iter().map(|text| text.parse().expect("an address")).collect())
        })
    }
    let egress = Egress::to_test_servers(why_not_public, table);
    let found = |name: &'static str, way| {
        let egress = egress.clone();
        async move {
            let found = egress.addresses(name, way).await;
            found.map(|found| found.len()).map_err(|no_way| no_way.to_string())
        }
    };
    assert_eq!(found("public.example", Way::Judged).await, Ok(2));
    assert_eq!(found("mixed.example", Way::Judged).await, Ok(1));
    assert_eq!(found("inside.example", Way::Allowed).await, Ok(2));
    let why = found("inside.example", Way::Judged).await.expect_err("refused");
    assert_eq!(why, "its host resolves to 192.168.1.1, a private address");
    for name in ["nobody.example", "unknown.example"] {
        assert!(found(name, Way::Judged).await.expect_err("unknown").contains("not known"), "{name}");
    }
}

//! Logins, against an authorization server that lets everybody in.

use std::{
    collections::BTreeMap,
    os::unix::fs::PermissionsExt as _,
    path::Path,
    sync::{Arc, Mutex},
};

use serde_json::{Value, json};

use super::{
    super::{Door, Link, Loss, connect},
    call,
    fake::{Fake, Reply, Seen, json_reply, modern, plain, result, with},
    loss, name, remote,
};
use crate::{
    auth::{Authorize, login, logout},
    spec::{EraChoice, Secret},
};

/// The knowledge and behaviour of the server.
#[derive(Default)]
struct Rules {
    /// Scopes by token.
    tokens: BTreeMap<String, Vec<String>>,
    given: usize,
    /// The time that tokens last.
    lasts: u64,
    /// The issuer its answers name, where it is not its own.
    issuer: Option<String>,
    /// Lets nobody in.
    closed: bool,
    /// Asks for more, whatever it is shown.
    insatiable: bool,
    /// Its further metadata about itself.
    metadata: Option<(&'static str, Value)>,
}

type Shared = Arc<Mutex<Rules>>;

async fn server(rules: &Shared) -> Fake {
    Fake::with(rules.clone(), async |seen, rules: Shared| serve(&seen, &mut rules.lock().expect("whole")))
        .await
}

fn serve(seen: &Seen, rules: &mut Rules) -> Reply {
    let base = format!("http://{}", seen.header("host").expect("a host"));
    match &*seen.path {
        "/mcp" => resource(seen, rules, &base),
        "/.well-known/oauth-protected-resource/mcp" => json_reply(
            200,
            &json!({"resource": format!("{base}/mcp"), "authorization_servers": [base], "scopes_supported": ["read", "write"]}),
        ),
        "/.well-known/oauth-authorization-server" => {
            let mut metadata = json!({
                "issuer": base,
                "authorization_endpoint": format!("{base}/authorize"),
                "token_endpoint": format!("{base}/token"),
                "registration_endpoint": format!("{base}/register"),
                "response_types_supported": ["code"],
                "code_challenge_methods_supported": ["S256"],
                "authorization_response_iss_parameter_supported": true,
            });
            if let Some((key, value)) = &rules.metadata {
                metadata[key] = value.clone();
            }
            json_reply(200, &metadata)
        }
        "/register" => {
            let redirects = &seen.body["redirect_uris"];
            json_reply(
                201,
                &json!({"client_id": "client-1", "client_secret": "hush", "redirect_uris": redirects}),
            )
        }
        "/authorize" if rules.closed => {
            let asked = pairs(&seen.query);
            let why = "error=access_denied&error_description=not+today";
            let to = format!("{}?{why}&state={}&iss={base}", asked["redirect_uri"], asked["state"]);
            with(plain(302, "text/plain", ""), "location", &to)
        }
        "/authorize" => {
            let asked = pairs(&seen.query);
            let issuer = rules.issuer.clone().unwrap_or(base);
            let scope = asked.get("scope").cloned().unwrap_or_default().replace(' ', "+");
            let to = format!("{}?code={scope}&state={}&iss={issuer}", asked["redirect_uri"], asked["state"]);
            with(plain(302, "text/plain", ""), "location", &to)
        }
        "/token" => {
            let asked = pairs(&seen.text);
            rules.given += 1;
            let token = format!("token-{}", rules.given);
            // The code is the scopes; a renewal asks for its own.
            let scope = asked.get("code").or(asked.get("scope")).cloned().unwrap_or_default();
            rules.tokens =
                BTreeMap::from([(token.clone(), scope.split_whitespace().map(str::to_owned).collect())]);
            let refresh = format!("refresh-{}", rules.given);
            json_reply(
                200,
                &json!({"access_token": token, "token_type": "Bearer", "refresh_token": refresh, "expires_in": rules.lasts, "scope": scope}),
            )
        }
        _ => plain(404, "text/plain", ""),
    }
}

fn resource(seen: &Seen, rules: &Rules, base: &str) -> Reply {
    let about = format!("resource_metadata=\"{base}/.well-known/oauth-protected-resource/mcp\"");
    let token = seen.header("authorization").and_then(|value| value.strip_prefix("Bearer "));
    let Some(scopes) = token.and_then(|token| rules.tokens.get(token)) else {
        return with(
            plain(401, "text/plain", ""),
            "www-authenticate",
            &format!("Bearer {about}, scope=\"read\""),
        );
    };
    let needs = if seen.method() == "write" { "write" } else { "read" };
    if !scopes.iter().any(|scope| scope == needs) || rules.insatiable && seen.method() == "write" {
        let challenge = format!("Bearer error=\"insufficient_scope\", scope=\"{needs}\", {about}");
        return with(plain(403, "text/plain", ""), "www-authenticate", &challenge);
    }
    modern(seen).unwrap_or_else(|| result(seen, json!({"ok": true})))
}

fn pairs(query: &str) -> BTreeMap<String, String> {
    let url = reqwest::Url::parse(&format!("http://x/?{query}")).expect("a query");
    url.query_pairs().into_owned().collect()
}

async fn reach(fake: &Fake, state: &Path, authorize: Authorize) -> Result<Arc<Link>, Loss> {
    let door = Door::new(Some(state), authorize);
    connect(&name(), &remote(&fake.url("/mcp")), EraChoice::Auto, "{}", &door).await.map(|(link, _)| link)
}

fn paths(fake: &Fake) -> Vec<String> {
    fake.seen().iter().map(|seen| seen.path.clone()).collect()
}

fn of_path(fake: &Fake, path: &str) -> Vec<Seen> {
    fake.seen().into_iter().filter(|seen| seen.path == path).collect()
}

/// The one file in the store that holds a login.
#[expect(clippy::disallowed_methods, reason = "a test looks at what was kept")]
fn kept(state: &Path) -> std::path::PathBuf {
    let files = std::fs::read_dir(state.join("tokens")).expect("a folder");
    let mut files = files.map(|file| file.expect("a file").path());
    files.find(|path| path.extension().is_some_and(|extension| extension == "json")).expect("a login")
}

#[expect(clippy::disallowed_methods, reason = "a test looks at what was kept")]
fn text(path: &Path) -> String {
    std::fs::read_to_string(path).expect("readable")
}

fn rules(lasts: u64) -> Shared {
    Arc::new(Mutex::new(Rules { lasts, ..Rules::default() }))
}

#[tokio::test]
async fn without_a_login_the_answer_says_how_to_get_one() {
    let state = tempfile::tempdir().expect("a directory");
    let fake = server(&rules(3600)).await;
    let loss = reach(&fake, state.path(), Authorize::Person).await.expect_err("refused");
    assert_eq!(loss, Loss::Unauthorized("fake wants a login: run `tectum login fake`".into()));
    assert_eq!(paths(&fake), ["/mcp"]);

    let mut remote = remote(&fake.url("/mcp"));
    remote.headers.insert("authorization".into(), Secret::new("Bearer mine"));
    let door = Door::new(Some(state.path()), Authorize::Follow);
    let failed = connect(&name(), &remote, EraChoice::Auto, "{}", &door).await.expect_err("refused");
    assert!(
        matches!(&failed, Loss::Unauthorized(why) if why.contains("configured Authorization")),
        "{failed}"
    );
    assert_eq!(paths(&fake), ["/mcp"; 2]);
}

#[tokio::test]
async fn a_login_is_kept_for_its_owner_and_used_again() {
    let state = tempfile::tempdir().expect("a directory");
    let fake = server(&rules(3600)).await;
    let link = reach(&fake, state.path(), Authorize::Follow).await.expect("let in");
    assert_eq!(call(&link, "read").await, Ok(json!({"ok": true})));

    let asked = pairs(&of_path(&fake, "/authorize")[0].query);
    assert_eq!((&*asked["code_challenge_method"], &*asked["response_type"]), ("S256", "code"));
    assert_eq!((&*asked["scope"], &*asked["client_id"]), ("read", "client-1"));
    assert_eq!(asked["resource"], fake.url("/mcp"));
    let exchanged = pairs(&of_path(&fake, "/token")[0].text);
    assert_eq!(exchanged["resource"], fake.url("/mcp"));
    assert!(exchanged["code_verifier"].len() >= 43);

    let path = kept(state.path());
    let mode = |path: &Path| path.metadata().expect("there").permissions().mode() & 0o777;
    assert_eq!((mode(&path), mode(path.parent().expect("a folder"))), (0o600, 0o700));
    assert!(text(&path).contains("token-1"));

    let again = reach(&fake, state.path(), Authorize::Person).await.expect("let in");
    assert_eq!(call(&again, "read").await, Ok(json!({"ok": true})));
    assert_eq!(of_path(&fake, "/authorize").len(), 1);
    let last = fake.seen().pop().expect("a request");
    assert_eq!(last.header("authorization"), Some("Bearer token-1"));

    assert_eq!(logout(&name(), &remote(&fake.url("/mcp")), state.path()), Ok(true));
    assert_eq!(logout(&name(), &remote(&fake.url("/mcp")), state.path()), Ok(false));
    let loss = reach(&fake, state.path(), Authorize::Person).await.expect_err("logged out");
    assert!(matches!(loss, Loss::Unauthorized(_)));
}

#[tokio::test]
async fn without_a_place_a_login_lasts_as_long_as_the_process() {
    let rules = rules(3600);
    let fake = server(&rules).await;
    let door = Door::new(None, Authorize::Follow);
    let remote = remote(&fake.url("/mcp"));
    let (link, _loose) = connect(&name(), &remote, EraChoice::Auto, "{}", &door).await.expect("let in");
    assert_eq!(call(&link, "read").await, Ok(json!({"ok": true})));
    rules.lock().expect("whole").tokens.clear();
    assert_eq!(call(&link, "read").await, Ok(json!({"ok": true})));
    assert_eq!((of_path(&fake, "/authorize").len(), of_path(&fake, "/token").len()), (1, 2));
}

#[tokio::test]
async fn a_token_is_not_shown_to_another_server_of_the_same_name() {
    let state = tempfile::tempdir().expect("a directory");
    let (one, other) = (server(&rules(3600)).await, server(&rules(3600)).await);
    reach(&one, state.path(), Authorize::Follow).await.expect("let in");
    reach(&other, state.path(), Authorize::Person).await.expect_err("no login");
    assert!(other.seen().iter().all(|seen| seen.header("authorization").is_none()));
}

#[tokio::test]
async fn a_token_that_ends_is_renewed() {
    let state = tempfile::tempdir().expect("a directory");
    let rules = rules(1);
    let fake = server(&rules).await;
    reach(&fake, state.path(), Authorize::Follow).await.expect("let in");
    rules.lock().expect("whole").lasts = 3600;
    let link = reach(&fake, state.path(), Authorize::Person).await.expect("let in");
    assert_eq!(call(&link, "read").await, Ok(json!({"ok": true})));
    let renewal = of_path(&fake, "/token").pop().expect("a renewal");
    let asked = pairs(&renewal.text);
    assert_eq!(asked["grant_type"], "refresh_token");
    assert_eq!(asked["resource"], fake.url("/mcp"));
    // The secret of the registered client is still known.
    assert_eq!(renewal.header("authorization"), Some("Basic Y2xpZW50LTE6aHVzaA=="));
    assert_eq!(of_path(&fake, "/authorize").len(), 1);

    // One that the server forgot before its time is renewed at the refusal.
    rules.lock().expect("whole").tokens.clear();
    let before = of_path(&fake, "/token").len();
    assert_eq!(call(&link, "read").await, Ok(json!({"ok": true})));
    assert_eq!(of_path(&fake, "/token").len(), before + 1);
    assert_eq!(of_path(&fake, "/authorize").len(), 1);
}

#[tokio::test]
async fn further_rights_are_asked_for_on_top_of_those_there_are() {
    let state = tempfile::tempdir().expect("a directory");
    let rules = rules(3600);
    let fake = server(&rules).await;
    reach(&fake, state.path(), Authorize::Follow).await.expect("let in");

    let person = reach(&fake, state.path(), Authorize::Person).await.expect("let in");
    let expect = "fake wants further rights (write): run `tectum login fake`";
    assert_eq!(loss(&person, "write").await, Loss::Unauthorized(expect.into()));
    assert_eq!(call(&person, "read").await, Ok(json!({"ok": true})));
    assert!(text(&kept(state.path())).contains(r#""wanted":["write"]"#));

    let link = reach(&fake, state.path(), Authorize::Follow).await.expect("let in");
    assert_eq!(call(&link, "write").await, Ok(json!({"ok": true})));
    let asked = of_path(&fake, "/authorize").pop().expect("asked again");
    assert_eq!(pairs(&asked.query)["scope"], "read write");

    rules.lock().expect("whole").insatiable = true;
    let before = of_path(&fake, "/authorize").len();
    assert!(matches!(loss(&link, "write").await, Loss::Unauthorized(why) if why.contains("granted already")));
    assert_eq!(of_path(&fake, "/authorize").len(), before);
}

#[tokio::test]
async fn an_answer_of_another_issuer_is_not_believed() {
    let state = tempfile::tempdir().expect("a directory");
    let rules = rules(3600);
    rules.lock().expect("whole").issuer = Some("http://evil.example".into());
    let fake = server(&rules).await;
    let loss = reach(&fake, state.path(), Authorize::Follow).await.expect_err("refused");
    assert!(matches!(&loss, Loss::Unauthorized(why) if why.contains("issuer mismatch")), "{loss}");
    assert!(of_path(&fake, "/token").is_empty());
}

#[tokio::test]
async fn a_refusal_is_told_as_it_was_given() {
    let rules = rules(3600);
    rules.lock().expect("whole").closed = true;
    let fake = server(&rules).await;
    let state = tempfile::tempdir().expect("a directory");
    let loss = reach(&fake, state.path(), Authorize::Follow).await.expect_err("refused");
    assert!(matches!(&loss, Loss::Unauthorized(why) if why.contains("access_denied (not today)")), "{loss}");
    assert!(of_path(&fake, "/token").is_empty());
}

#[tokio::test]
async fn a_described_client_needs_no_registration() {
    let state = tempfile::tempdir().expect("a directory");
    let document = "https://client.example/tectum.json";
    for reads in [true, false] {
        let rules = rules(3600);
        rules.lock().expect("whole").metadata = Some(("client_id_metadata_document_supported", json!(reads)));
        let fake = server(&rules).await;
        let mut remote = remote(&fake.url("/mcp"));
        remote.client_id = Some(document.into());
        let door = Door::new(Some(state.path()), Authorize::Follow);
        connect(&name(), &remote, EraChoice::Auto, "{}", &door).await.expect("let in");
        let client = pairs(&of_path(&fake, "/authorize")[0].query)["client_id"].clone();
        let registered = of_path(&fake, "/register").len();
        let expect = if reads { (document, 0) } else { ("client-1", 1) };
        assert_eq!((&*client, registered), expect);
    }
    // One registered by hand is used wherever it is configured.
    let fake = server(&rules(3600)).await;
    let mut remote = remote(&fake.url("/mcp"));
    remote.client_id = Some("by-hand".into());
    remote.client_secret = Some(Secret::new("s"));
    let door = Door::new(Some(state.path()), Authorize::Follow);
    connect(&name(), &remote, EraChoice::Auto, "{}", &door).await.expect("let in");
    assert_eq!(of_path(&fake, "/token")[0].header("authorization"), Some("Basic YnktaGFuZDpz"));
    assert!(of_path(&fake, "/register").is_empty());
}

#[tokio::test]
async fn a_person_logs_in_through_a_browser() {
    let state = tempfile::tempdir().expect("a directory");
    let fake = server(&rules(3600)).await;
    let remote = remote(&fake.url("/mcp"));
    let (shown, address) = tokio::sync::oneshot::channel();
    let browser = async {
        let address: String = address.await.expect("shown");
        let client =
            reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).build().expect("a client");
        let page = client.get(&address).send().await.expect("a page");
        let back = page.headers()["location"].to_str().expect("text").to_owned();
        // A stranger does not know the state, and comes in vain; so does one with another name.
        let state = &pairs(back.split_once('?').expect("a query").1)["state"];
        let forged = back.replace(state.as_str(), "guess");
        assert_eq!(client.get(&forged).send().await.expect("an answer").status(), 400);
        let rebound = client.get(&back).header("host", "evil.example").send().await.expect("an answer");
        assert_eq!(rebound.status(), 403);
        assert_eq!(client.post(&back).send().await.expect("an answer").status(), 405);
        assert_eq!(client.get(&back).send().await.expect("an answer").status(), 200);
    };
    let name = name();
    let show = |address: &str| shown.send(address.to_owned()).expect("awaited");
    let (granted, ()) = tokio::join!(login(&name, &remote, state.path(), show), browser);
    let granted = granted.expect("let in");
    // Without a request's challenge the server's published scopes are asked for.
    assert!(granted.scopes.contains(&"read".to_owned()), "{granted:?}");
    assert_eq!(granted.issuer, Some(fake.url("")));
    let link = reach(&fake, state.path(), Authorize::Person).await.expect("let in");
    assert_eq!(call(&link, "read").await, Ok(json!({"ok": true})));
}

#[tokio::test]
async fn a_store_that_others_can_read_is_not_used() {
    let state = tempfile::tempdir().expect("a directory");
    let fake = server(&rules(3600)).await;
    reach(&fake, state.path(), Authorize::Follow).await.expect("let in");
    let path = kept(state.path());
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).expect("changes");
    let loss = reach(&fake, state.path(), Authorize::Person).await.expect_err("not used");
    assert!(matches!(&loss, Loss::Failed(why) if why.contains("chmod 600")), "{loss}");
}

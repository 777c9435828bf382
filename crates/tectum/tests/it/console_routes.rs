//! The console of the real binary: its page, signing in and out, and who is refused.

use serde_json::{Value, json};

use crate::{
    cli_said::Said,
    hooks_approvals::{approver, approving},
    rig::{Answer, Http, Rig},
};

/// A browser that is signed in.
pub(crate) struct Page<'h> {
    pub(crate) house: &'h Http,
    pub(crate) cookie: String,
    pub(crate) key: String,
}

impl<'h> Page<'h> {
    /// Signs in with the code of `tectum console`.
    pub(crate) fn open(rig: &Rig, house: &'h Http) -> Self {
        Self::with(house, &code(rig))
    }

    pub(crate) fn with(house: &'h Http, code: &str) -> Self {
        let answer = sign_in(house, code);
        assert_eq!(answer.status, 200, "{answer:?}");
        let cookie = answer.header("set-cookie").expect("a cookie");
        for part in ["; HttpOnly", "; SameSite=Strict", "; Path=/", "; Max-Age=43200"] {
            assert!(cookie.contains(part), "{part} in {cookie}");
        }
        let cookie = cookie.split(';').next().expect("a pair").to_owned();
        Self { house, cookie, key: answer.json()["key"].as_str().expect("a key").to_owned() }
    }

    pub(crate) fn headers(&self) -> Vec<(String, String)> {
        let mut headers = own(self.house);
        headers.push(("Cookie".into(), self.cookie.clone()));
        headers.push(("Tectum-Console".into(), self.key.clone()));
        headers
    }

    pub(crate) fn send(&self, method: &str, path: &str, body: &Value) -> Answer {
        self.house.send(method, path, &self.headers(), &body.to_string())
    }

    #[track_caller]
    pub(crate) fn get(&self, path: &str) -> Value {
        let answer = self.house.send("GET", path, &self.headers(), "");
        assert_eq!(answer.status, 200, "{path}: {answer:?}");
        assert_eq!(answer.header("cache-control"), Some("no-store"));
        answer.json()
    }

    #[track_caller]
    pub(crate) fn post(&self, path: &str, body: &Value) -> Value {
        let answer = self.send("POST", path, body);
        assert_eq!(answer.status, 200, "{path}: {answer:?}");
        answer.json()
    }
}

/// What a page of the house sends without being signed in.
fn own(house: &Http) -> Vec<(String, String)> {
    let origin = format!("http://127.0.0.1:{}", house.port);
    let host = format!("127.0.0.1:{}", house.port);
    [("Host", host.as_str()), ("Origin", &origin), ("Content-Type", "application/json")]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .into()
}

fn sign_in(house: &Http, code: &str) -> Answer {
    let mut headers = own(house);
    headers.push(("Tectum-Console".into(), "1".into()));
    house.send("POST", "/console/sign-in", &headers, &json!({ "code": code }).to_string())
}

/// A code of the house that runs.
fn code(rig: &Rig) -> String {
    let said = Said::from(rig.run(&["console"]));
    assert_eq!(said.code, 0, "{}", said.err);
    said.out.trim().rsplit_once("/console/#code=").expect("an address with a code").1.to_owned()
}

fn message(answer: &Answer) -> String {
    answer.json()["error"].to_string()
}

#[test]
fn the_page_is_served_to_everybody_here_and_may_do_nothing_else() {
    let rig = Rig::new();
    let house = rig.http();
    let host = own(&house);
    let get = |path: &str| house.send("GET", path, &host, "");
    for path in ["/", "/console"] {
        let leads = get(path);
        assert_eq!((leads.status, leads.header("location")), (303, Some("/console/")));
    }
    let page = get("/console/");
    assert_eq!((page.status, page.header("content-type")), (200, Some("text/html; charset=utf-8")));
    let policy = page.header("content-security-policy").expect("a policy");
    for part in ["default-src 'none'", "script-src 'self'", "style-src 'self'", "frame-ancestors 'none'"] {
        assert!(policy.contains(part), "{policy}");
    }
    assert!(!policy.contains("unsafe") && !policy.contains('*'), "{policy}");
    for (name, value) in [
        ("x-content-type-options", "nosniff"),
        ("referrer-policy", "no-referrer"),
        ("cross-origin-opener-policy", "same-origin"),
        ("cache-control", "no-cache"),
    ] {
        assert_eq!(page.header(name), Some(value), "{page:?}");
    }
    assert!(!page.body.contains("style=\"") && !page.body.contains("<script>"), "nothing is inline");
    let mut known = host.clone();
    known.push(("If-None-Match".into(), page.header("etag").expect("a tag").into()));
    let same = house.send("GET", "/console/", &known, "");
    assert_eq!((same.status, same.body.as_str()), (304, ""));
    for nowhere in ["absent.js", "..%2fCargo.toml", "%2e%2e", ".%2e%2f.%2e%2fsrc%2flib.rs", "index.html%00"] {
        let answer = get(&format!("/console/{nowhere}"));
        assert!([401, 404].contains(&answer.status), "{nowhere}: {answer:?}");
    }
    for closed in ["/console/sessions", "/api/console/now", "/api"] {
        assert_eq!(get(closed).status, 401, "{closed}");
    }
}

#[test]
fn a_code_signs_in_once_and_both_halves_of_a_session_are_needed() {
    let rig = Rig::new();
    let house = rig.http();
    let one_time = code(&rig);
    let page = Page::with(&house, &one_time);
    for wrong in [one_time.as_str(), "", "nonsense"] {
        let refused = sign_in(&house, wrong);
        assert_eq!(refused.status, 403, "{refused:?}");
        assert!(refused.header("set-cookie").is_none() && message(&refused).contains("tectum console"));
    }
    let headerless = house.send("POST", "/console/sign-in", &own(&house), r#"{"code":"x"}"#);
    assert_eq!(headerless.status, 400, "{headerless:?}");
    let large = format!(r#"{{"code":"{}"}}"#, "x".repeat(8192));
    assert_eq!(house.send("POST", "/console/sign-in", &own(&house), &large).status, 413);

    assert_eq!(page.get("/api/console/now")["may_answer"], true);
    let with = |cookie: Option<&str>, key: Option<&str>| {
        let mut headers = own(&house);
        headers.extend(cookie.map(|cookie| ("Cookie".to_owned(), cookie.to_owned())));
        headers.extend(key.map(|key| ("Tectum-Console".to_owned(), key.to_owned())));
        headers
    };
    let other = Page::open(&rig, &house);
    let (cookie, key) = (page.cookie.as_str(), page.key.as_str());
    for (cookie, key) in [
        (Some(cookie), None),
        (None, Some(key)),
        (Some(cookie), Some("1")),
        (Some(cookie), Some("")),
        // Halves of two sessions are none.
        (Some(cookie), Some(other.key.as_str())),
        (Some("tectum_console=x"), Some(key)),
    ] {
        let headers = with(cookie, key);
        for path in ["/api/console/now", "/api/events/stream", "/console/sessions"] {
            assert_eq!(house.send("GET", path, &headers, "").status, 401, "{headers:?}");
        }
        let answered = house.send("POST", "/api/approvals/q-1/answer", &headers, r#"{"decision":"approve"}"#);
        assert_eq!(answered.status, 401, "{headers:?}");
    }
    // A page of another port has the cookie, since cookies know no ports.
    let mut foreign = page.headers();
    foreign.retain(|(name, _)| name != "Origin");
    foreign.push(("Origin".into(), "http://127.0.0.1:1".into()));
    assert_eq!(house.send("GET", "/api/console/now", &foreign, "").status, 403);
    // A session opens the hook API, and not MCP.
    assert_eq!(page.send("POST", "/mcp", &json!({"jsonrpc": "2.0", "id": 1, "method": "ping"})).status, 401);
    // A wrong token is refused whatever else is shown.
    let mut wrong = page.headers();
    wrong.push(("Authorization".into(), "Bearer nonsense".into()));
    assert_eq!(house.send("GET", "/api/console/now", &wrong, "").status, 401);
}

#[test]
fn sessions_are_listed_and_ended() {
    let rig = Rig::new();
    let house = rig.http();
    let (one, two) = (Page::open(&rig, &house), Page::open(&rig, &house));
    let listed = one.get("/console/sessions");
    let sessions = listed["sessions"].as_array().expect("a list");
    let this: Vec<bool> = sessions.iter().map(|one| one["this"].as_bool().expect("a flag")).collect();
    assert_eq!(this, [true, false], "{listed}");
    let id = sessions[1]["id"].as_str().expect("an id");
    assert_eq!(one.send("DELETE", &format!("/console/sessions/{id}"), &json!({})).status, 200);
    assert_eq!(one.send("DELETE", &format!("/console/sessions/{id}"), &json!({})).status, 404);
    assert_eq!(two.send("GET", "/api/console/now", &json!({})).status, 401);
    let out = one.send("POST", "/console/sign-out", &json!({}));
    assert_eq!(out.status, 200);
    assert!(out.header("set-cookie").is_some_and(|cookie| cookie.contains("Max-Age=0")), "{out:?}");
    assert_eq!(one.send("GET", "/api/console/now", &json!({})).status, 401);
}

#[test]
fn a_session_ends_with_the_credential_it_stands_for_and_with_the_house() {
    let rig = Rig::new();
    let house = rig.http();
    let page = Page::open(&rig, &house);
    std::fs::write(rig.home().join("state/tectum/approver"), "ab".repeat(32)).expect("replaced");
    let refused = page.send("GET", "/api/console/now", &json!({}));
    assert_eq!(refused.status, 401, "{refused:?}");
    let again = Page::open(&rig, &house);
    let (cookie, key) = (again.cookie, again.key);
    drop(house);
    let next = rig.http();
    let page = Page { house: &next, cookie, key };
    assert_eq!(page.send("GET", "/api/console/now", &json!({})).status, 401);
}

#[test]
fn an_agent_with_the_token_cannot_sign_in() {
    let rig = Rig::new();
    let house = rig.http();
    let made = house.send("POST", "/console/code", &house.headers(), "{}");
    assert_eq!(made.status, 403, "{made:?}");
    // Nor does a session make more of them.
    let page = Page::open(&rig, &house);
    assert_eq!(page.send("POST", "/console/code", &json!({})).status, 403);
    let now = house.send("GET", "/api/console/now", &house.headers(), "").json();
    assert_eq!(now["may_answer"], false, "the token shows, and answers nothing");
    // A person's own program has the credential.
    let credential = approver(&rig);
    let link = house.send("POST", "/console/code", &approving(&house, &credential), "{}").json();
    assert!(link["url"].as_str().is_some_and(|url| url.starts_with("http://127.0.0.1:")), "{link}");
    // Codes and keys are in no record.
    let code = link["url"].as_str().and_then(|url| url.split('=').next_back()).expect("a code").to_owned();
    Page::with(&house, &code);
    drop(house);
    let recorded = String::from_utf8(rig.run(&["log", "tail", "--json"]).stdout).unwrap_or_default();
    assert!(!recorded.contains(&code));
    for entry in walk(&rig.home().join("state")) {
        let bytes = std::fs::read(&entry).unwrap_or_default();
        assert!(!String::from_utf8_lossy(&bytes).contains(&code), "{}", entry.display());
    }
}

fn walk(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(folder).expect("listed").map(|entry| entry.expect("an entry").path());
    entries.flat_map(|path| if path.is_dir() { walk(&path) } else { vec![path] }).collect()
}

#[test]
fn the_command_finds_the_house_that_has_a_console() {
    let rig = Rig::new();
    let none = Said::from(rig.run(&["console"]));
    assert_eq!(none.code, 4, "{}", none.err);
    assert!(none.err.contains("tectum up"), "{}", none.err);
    // One on standard input has none.
    let client = rig.stdio();
    let pid = client.child.id().to_string();
    assert_eq!(Said::from(rig.run(&["console"])).code, 4);
    let silent = Said::from(rig.run(&["console", "--pid", &pid]));
    assert_eq!(silent.code, 5, "{}", silent.err);
    let house = rig.http();
    let page = Page::open(&rig, &house);
    assert_eq!(page.get("/status")["status"], "ok");
    let asked = Said::from(rig.run(&["console", "--json", "--pid", &house.child.id().to_string()]));
    let url: Value = serde_json::from_str(&asked.out).expect("JSON");
    let begin = format!("http://127.0.0.1:{}/console/#code=", house.port);
    assert!(url["url"].as_str().is_some_and(|url| url.starts_with(&begin)), "{url}");
}

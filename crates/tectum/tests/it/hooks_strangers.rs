//! Who is refused, as one table over every route that the description of the real binary has: a foreign page,
//! another user, the agent, and requests that are not what a route takes.

use std::os::unix::fs::PermissionsExt as _;

use serde_json::Value;

use crate::{
    hooks_approvals::{approver, approving},
    rig::{Http, Rig, TOKEN},
};

/// One method of one path.
struct Route {
    method: String,
    path: String,
    takes_body: bool,
    answers: bool,
    /// Strangers may ask for it.
    public: bool,
}

/// All of them, from the description that is made of the router.
fn routes(house: &Http) -> Vec<Route> {
    let described = house.send("GET", "/api/openapi.json", &house.headers(), "").json();
    let paths = described["paths"].as_object().expect("paths").clone();
    let route = |path: &str, method: &str, operation: &Value| Route {
        method: method.to_uppercase(),
        path: path.replace(['{', '}'], ""),
        takes_body: operation.get("requestBody").is_some(),
        answers: operation["security"].to_string().contains("approver"),
        public: operation["security"] == serde_json::json!([{}]),
    };
    let methods = |item: &Value| item.as_object().expect("methods").clone();
    let all = paths.iter().flat_map(|(path, item)| {
        methods(item).iter().map(|(method, operation)| route(path, method, operation)).collect::<Vec<_>>()
    });
    all.collect()
}

fn header(name: &str, value: impl Into<String>) -> (String, String) {
    (name.to_owned(), value.into())
}

#[test]
fn every_route_refuses_strangers() {
    let rig = Rig::new();
    let (house, credential) = (rig.http(), approver(&rig));
    let host = header("Host", format!("127.0.0.1:{}", house.port));
    let token = header("Authorization", format!("Bearer {TOKEN}"));
    let json = header("Content-Type", "application/json");
    let ours = header("Tectum-Approver", &credential);
    let page = |origin: &str| {
        vec![host.clone(), token.clone(), ours.clone(), json.clone(), header("Origin", origin)]
    };
    let foreign = |name: &str| vec![header("Host", name), token.clone(), ours.clone(), json.clone()];
    let with = |authorization: &str| vec![host.clone(), ours.clone(), header("Authorization", authorization)];
    let routes = routes(&house);
    assert!(routes.len() >= 24, "all routes are described: {}", routes.len());
    for Route { method, path, answers, public, .. } in &routes {
        let check = |path: &str, headers: &[(String, String)], expect: u16| {
            let answer = house.send(method, path, headers, "{}");
            assert_eq!(answer.status, expect, "{method} {path} with {headers:?}: {answer:?}");
            assert!(!answer.body.contains('{'), "nothing is told: {answer:?}");
        };
        // A page in the person's own browser, and a name that was bent to this machine.
        for origin in ["http://evil.example", "null", "http://localhost:1", "https://127.0.0.1"] {
            check(path, &page(origin), 403);
        }
        for name in ["evil.example", "127.0.0.1.evil.example", ""] {
            check(path, &foreign(name), 403);
        }
        if *public {
            continue;
        }
        // Another user of this machine, who has no token.
        check(path, std::slice::from_ref(&host), 401);
        check(path, &[host.clone(), ours.clone(), json.clone()], 401);
        // A page of another port, to which the browser sends the cookie as well.
        let cookie = header("Cookie", format!("tectum_console_{}=00", house.port));
        for key in [None, Some("1"), Some("00"), Some("")] {
            let key = key.map(|key| header("Tectum-Console", key));
            let headers: Vec<_> =
                [host.clone(), cookie.clone(), json.clone()].into_iter().chain(key).collect();
            check(path, &headers, 401);
        }
        for wrong in [&TOKEN.replace('0', "1"), &TOKEN[1..], "", &credential] {
            check(path, &with(&format!("Bearer {wrong}")), 401);
        }
        check(path, &with(&format!("Basic {TOKEN}")), 401);
        // A token in an address ends in logs and histories, so it counts nowhere.
        for query in ["token", "access_token", "authorization", "Authorization"] {
            check(&format!("{path}?{query}={TOKEN}"), std::slice::from_ref(&host), 401);
        }
        // The agent, which has the token.
        if *answers {
            let agent = [host.clone(), token.clone(), json.clone()];
            for more in [None, Some(TOKEN), Some(""), Some(&credential[1..])] {
                let more = more.map(|credential| header("Tectum-Approver", credential));
                let headers: Vec<_> = agent.iter().cloned().chain(more).collect();
                let answer = house.send(method, path, &headers, "{}");
                assert_eq!(answer.status, 403, "{method} {path} with {headers:?}: {answer:?}");
                let queried = format!("{path}?Tectum-Approver={credential}");
                assert_eq!(house.send(method, &queried, &headers, "{}").status, 403);
            }
        }
    }
    let answering: Vec<&str> =
        routes.iter().filter(|route| route.answers).map(|route| route.path.as_str()).collect();
    let expected = [
        "/api/approvals/id/answer",
        "/api/ask/respond",
        "/api/console/servers",
        "/api/console/servers/import",
        "/api/console/servers/name/act",
        "/api/console/sessions/name/replay",
        "/api/console/sessions/name/undo",
        "/api/console/tools/name/call",
        "/api/console/tools/name/switch",
        "/console/code",
        "/console/sessions",
        "/console/sessions/id",
        "/console/sign-out",
    ];
    assert_eq!(answering, expected);
    let open: Vec<&str> =
        routes.iter().filter(|route| route.public).map(|route| route.path.as_str()).collect();
    assert_eq!(open, ["/", "/console", "/console/", "/console/sign-in", "/console/file"]);
    let kept = rig.home().join("state/tectum/approver");
    assert_eq!(kept.metadata().expect("there").permissions().mode() & 0o777, 0o600);
}

#[test]
fn every_route_refuses_what_it_does_not_take() {
    let rig = Rig::new();
    let (house, credential) = (rig.http(), approver(&rig));
    let headers = approving(&house, &credential);
    let as_kind = |kind: Option<&str>| -> Vec<(String, String)> {
        let others = headers.iter().filter(|(name, _)| name != "Content-Type").cloned();
        others.chain(kind.map(|kind| header("Content-Type", kind))).collect()
    };
    let large = format!("\"{}\"", "x".repeat(1024 * 1024));
    let routes = routes(&house);
    for Route { method, path, takes_body, .. } in &routes {
        let taken: Vec<&str> =
            routes.iter().filter(|route| route.path == *path).map(|route| route.method.as_str()).collect();
        for wrong in ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "POST", "GET"] {
            if taken.contains(&wrong) {
                continue;
            }
            let answer = house.send(wrong, path, &headers, "");
            assert_eq!(answer.status, 405, "{wrong} {path}: {answer:?}");
            let allow = answer.header("allow").unwrap_or_else(|| panic!("{answer:?}"));
            assert!(taken.iter().all(|method| allow.contains(method)), "{path} takes {taken:?}: {allow}");
        }
        assert_eq!(house.send(method, &format!("{path}/nothing/here/at/all"), &headers, "").status, 404);
        // A coding agent goes on after any status but 200, so its hooks are answered with a denial.
        if path == "/hooks/pre-tool-use" {
            for bad in ["", "{", "nothing", "[]", "1", "null", "{}", large.as_str()] {
                let answer = house.send(method, path, &headers, bad);
                assert_eq!(answer.status, 200, "{path} {bad}: {answer:?}");
                let decision = &answer.json()["hookSpecificOutput"]["permissionDecision"];
                assert_eq!(decision, "deny", "{path} {bad}: {answer:?}");
            }
            continue;
        }
        assert_eq!(house.send(method, path, &headers, &large).status, 413, "{method} {path}");
        if *takes_body {
            for kind in [
                None,
                Some("text/plain"),
                Some("application/x-www-form-urlencoded"),
                Some("multipart/form-data"),
            ] {
                assert_eq!(house.send(method, path, &as_kind(kind), "{}").status, 415, "{path} {kind:?}");
            }
            for bad in ["", "{", "nothing", "[]", "1", "null", "{\"a\":", "\u{7f}"] {
                let answer = house.send(method, path, &headers, bad);
                assert_eq!(answer.status, 400, "{path} {bad}: {answer:?}");
                assert!(answer.json()["error"]["hint"].is_string(), "{answer:?}");
            }
        }
    }
}

//! Pages as providers send them, in the shapes that were seen, and what is made of them.

use std::{collections::BTreeMap, net::IpAddr};

use super::{answer::MOST_TITLE, *};
use crate::test_server::{TestServer, answer};

fn anywhere(_: IpAddr) -> Option<&'static str> {
    None
}

fn nowhere(_: String) -> crate::egress::Found {
    Box::pin(async { Err(std::io::Error::other("no names here")) })
}

async fn duckduckgo(status: &str, headers: &str, body: &str) -> Result<SearchAnswer, Trouble> {
    let head = format!("Content-Type: text/html; charset=UTF-8\r\n{headers}");
    let server =
        TestServer::start(BTreeMap::from([("/html/", answer(status, &head, body.as_bytes()))])).await;
    let fetcher = Arc::new(Fetcher::new(Egress::to_test_servers(anywhere, nowhere), false));
    let found = Search::duckduckgo_at(server.url("/html/"), fetcher).ask("r&b \u{fc}ber=1").await;
    let asked = server.requests.lock().expect("a lock").join("");
    assert!(asked.starts_with("GET /html/?q=r%26b+%C3%BCber%3D1 HTTP/1.1"), "{asked}");
    found
}

async fn searxng(status: &str, kind: &str, body: &str) -> Result<SearchAnswer, Trouble> {
    let head = format!("Content-Type: {kind}\r\n");
    let server =
        TestServer::start(BTreeMap::from([("/searx/search", answer(status, &head, body.as_bytes()))])).await;
    let fetcher = Arc::new(Fetcher::new(Egress::to_test_servers(anywhere, nowhere), false));
    let found = Search::searxng_at(server.url("/searx/"), fetcher).ask("a b").await;
    let asked = server.requests.lock().expect("a lock").join("");
    assert!(asked.starts_with("GET /searx/search?q=a+b&format=json HTTP/1.1"), "{asked}");
    found
}

/// One result as the page has it.
fn result(class: &str, href: &str, title: &str, snippet: &str) -> String {
    format!(
        "<div class='result results_links results_links_deep {class}'><div class='links_main links_deep result__body'>\
         <h2 class='result__title'><a rel='nofollow' class='result__a' href='{href}'>{title}</a></h2>\
         <div class='result__extras'><a class='result__url' href='{href}'>shown.example</a></div>\
         <a class='result__snippet' href='{href}'>{snippet}</a></div></div>"
    )
}

fn page(results: &str) -> String {
    format!(
        "<!DOCTYPE html><html><head><title>r&b at DuckDuckGo</title></head><body><form id='search_form'></form>\
         <div id='links' class='results'>{results}</div></body></html>"
    )
}

#[tokio::test]
async fn results_have_a_title_a_real_address_and_a_snippet() {
    let wrapped =
        "//duckduckgo.com/l/?uddg=https%3A%2F%2Fwww.rust%2Dlang.org%2Flearn%3Fa%3D1%26b&amp;rut=0af3";
    let mut results =
        result("web-result", wrapped, "Learn <b>Rust</b>\n today", "All   the <b>words</b> &amp; more");
    results += &result("result--ad", "https://duckduckgo.com/y.js?ad_domain=shop.example", "Buy", "An ad");
    results +=
        &result("web-result", "https://duckduckgo.com/y.js?ad_domain=shop.example", "Buy", "A hidden ad");
    results += &result("web-result", "javascript:alert(1)", "Script", "No address");
    for n in 0..9 {
        results += &result("web-result", &format!("https://r{n}.example/"), &"long ".repeat(90), "");
    }
    let found = duckduckgo("200 OK", "", &page(&results)).await.expect("results");
    assert_eq!((found.provider, found.hits.len()), ("DuckDuckGo", 5));
    let first = &found.hits[0];
    assert_eq!(first.url.as_str(), "https://www.rust-lang.org/learn?a=1&b");
    assert_eq!((&*first.title, &*first.snippet), ("Learn Rust today", "All the words & more"));
    assert_eq!(found.hits[1].url.as_str(), "https://r0.example/");
    assert!(found.hits[1].title.chars().count() <= MOST_TITLE + 1 && found.hits[1].title.ends_with('…'));
}

#[tokio::test]
async fn no_results_is_said_only_where_the_page_says_it() {
    let none = "<div class='result results_links result--no-result'><span class='no-results'>No results.</span></div>";
    assert_eq!(duckduckgo("200 OK", "", &page(none)).await.expect("none").hits, []);
    let challenge = "<form id='challenge-form' action='//duckduckgo.com/anomaly.js?sv=html'>\
                     <div class='anomaly-modal__title'>Unfortunately, bots use DuckDuckGo too.</div></form>";
    let disguised = page(&(result("web-result", "https://a.example/", "A", "") + challenge));
    for (status, headers, body, words) in [
        ("202 Accepted", "", page(challenge), "it answered 202"),
        ("202 Accepted", "", page(&result("web-result", "https://a.example/", "A", "")), "it answered 202"),
        ("200 OK", "", page(challenge), "whether a person asks"),
        ("200 OK", "", disguised, "whether a person asks"),
        ("200 OK", "", page(""), "has no results and does not say"),
        ("200 OK", "", "<h1>We moved</h1>".into(), "has no results and does not say"),
        ("200 OK", "", String::new(), "has no results and does not say"),
        ("403 Forbidden", "", page(none), "it answered 403"),
        ("429 Too Many Requests", "Retry-After: 30\r\n", String::new(), "429 (retry after 30)"),
        (
            "302 Found",
            "Location: https://other.example/\r\n",
            String::new(),
            "redirects to https://other.example/",
        ),
    ] {
        let trouble = duckduckgo(status, headers, &body).await.expect_err("blocked");
        assert!(matches!(trouble, Trouble::Blocked { .. }), "{status}: {trouble:?}");
        assert!(trouble.to_string().contains(words), "{status}: {trouble}");
        assert!(trouble.hint().is_some_and(|hint| hint.contains("[network] searxng")), "{trouble:?}");
    }
}

#[tokio::test]
async fn a_searxng_server_is_understood() {
    let json = "application/json";
    let body = r#"{"query": "a b", "number_of_results": 0, "results": [
        {"url": "https://a.example/x", "title": "A", "content": "words", "engine": "z", "score": 1.5},
        {"url": "magnet:?x", "title": "B"}, {"title": "C"}, {"url": "https://d.example", "title": "D", "content": null}
    ], "answers": [], "unresponsive_engines": [["bing", "timeout"]]}"#;
    let found = searxng("200 OK", json, body).await.expect("results");
    let shown: Vec<_> = found.hits.iter().map(|hit| (&*hit.title, hit.url.as_str(), &*hit.snippet)).collect();
    assert_eq!(shown, [("A", "https://a.example/x", "words"), ("D", "https://d.example/", "")]);
    assert_eq!(found.provider, "SearXNG");
    assert_eq!(searxng("200 OK", json, r#"{"results": []}"#).await.expect("none").hits, []);
    for (status, kind, body, words) in [
        (
            "200 OK",
            json,
            r#"{"results": [], "unresponsive_engines": [["a", "x"], ["b", "y"]]}"#,
            "2 of its engines",
        ),
        ("200 OK", json, r#"{"results": [{"title": "A"}]}"#, "none of its results"),
        ("200 OK", "text/html", "<html>", "not its JSON"),
        ("200 OK", json, "{}", "not its JSON"),
        ("200 OK", "image/png", "x", "no text"),
        ("403 Forbidden", json, "", "it answered 403"),
    ] {
        let trouble = searxng(status, kind, body).await.expect_err("blocked");
        assert!(trouble.to_string().contains(words), "{status} {body}: {trouble}");
        assert!(trouble.hint().is_some_and(|hint| hint.contains("search.formats")), "{trouble:?}");
    }
}

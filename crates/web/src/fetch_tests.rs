//! Fetches from servers on loopback, which count as public here and nowhere else.

use std::{
    collections::BTreeMap,
    io::Write as _,
    net::IpAddr,
    sync::atomic::{AtomicUsize, Ordering},
};

use super::*;
use crate::{
    Format, Page,
    test_server::{TestServer, answer},
    why_not_public,
};

fn loopback_is_public(ip: IpAddr) -> Option<&'static str> {
    why_not_public(ip).filter(|_| ip != IpAddr::from([127, 0, 0, 1]))
}

/// `first.example` lies on loopback, and on an inner address from the second look on.
fn names(name: String) -> crate::egress::Found {
    static LOOKS: AtomicUsize = AtomicUsize::new(0);
    Box::pin(async move {
        let again = name == "first.example" && LOOKS.fetch_add(1, Ordering::SeqCst) > 0;
        let address = if again || name == "inside.example" { "127.0.0.2:0" } else { "127.0.0.1:0" };
        Ok(vec![address.parse().expect("an address")])
    })
}

fn fetcher() -> Fetcher {
    Fetcher::new(Egress::to_test_servers(loopback_is_public, names), false)
}

async fn page(server: &TestServer, path: &str, format: Format) -> Result<Page, Trouble> {
    match fetcher().get(&server.url(path), format.accept()).await? {
        Fetched::Page(download) => download.page(format),
        Fetched::Elsewhere { from, to } => panic!("{from} lies at {to}"),
    }
}

async fn text(server: &TestServer, path: &str) -> String {
    page(server, path, Format::Markdown).await.expect("a page").text.expect("text")
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    packer.write_all(bytes).expect("packed");
    packer.finish().expect("packed")
}

#[tokio::test]
async fn each_kind_of_content_is_shown_as_what_it_is() {
    let html =
        "<html><head><meta charset=windows-1252><title>T</title></head><body><p>gr\u{fc}n</p></body></html>";
    let latin: Vec<u8> = html.chars().map(|c| c as u8).collect();
    let mut zlib = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
    zlib.write_all(b"zlib words").expect("packed");
    let mut bare = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::fast());
    bare.write_all(b"bare words").expect("packed");
    // "brotli words" as one stored block.
    let brotli = b"\x8b\x05\x80brotli words\x03";
    let server = TestServer::start(BTreeMap::from([
        ("/html", answer("200 OK", "Content-Type: text/html\r\n", &latin)),
        ("/json", answer("200 OK", "Content-Type: application/vnd.api+json\r\n", b"{ \"a\":  1 }\n")),
        ("/markdown", answer("200 OK", "Content-Type: text/markdown\r\n", b"# A\r\n\x1b[31m<b>\n")),
        ("/unknown", answer("200 OK", "", b"plain words")),
        (
            "/page",
            answer("200 OK", "Content-Type: application/octet-stream\r\n", b" <!DOCTYPE HTML><p>words"),
        ),
        ("/pdf", answer("200 OK", "Content-Type: application/pdf\r\n", b"%PDF-1.7 secret")),
        ("/liar", answer("200 OK", "Content-Type: text/plain\r\n", b"%PDF-1.7 secret")),
        ("/bytes", answer("200 OK", "", b"\x7fELF\0\0secret")),
        (
            "/gzip",
            answer("200 OK", "Content-Type: text/plain\r\nContent-Encoding: gzip\r\n", &gzip(b"gzip words")),
        ),
        ("/zlib", answer("200 OK", "Content-Encoding: deflate\r\n", &zlib.finish().expect("packed"))),
        ("/bare", answer("200 OK", "Content-Encoding: deflate\r\n", &bare.finish().expect("packed"))),
        ("/brotli", answer("200 OK", "Content-Encoding: br\r\n", brotli)),
        ("/twice", answer("200 OK", "Content-Encoding: gzip, gzip\r\n", &gzip(&gzip(b"words")))),
        ("/broken", answer("200 OK", "Content-Encoding: gzip\r\n", b"\x1f\x8b\x08 nonsense")),
        ("/empty", answer("204 No Content", "", b"")),
    ]))
    .await;
    assert_eq!(text(&server, "/html").await.trim_start_matches("# T").trim(), "grün");
    assert_eq!(text(&server, "/json").await, "{ \"a\":  1 }\n");
    assert_eq!(text(&server, "/markdown").await, "# A\n[31m<b>\n");
    for (path, words) in [
        ("/unknown", "plain words"),
        ("/page", "words"),
        ("/gzip", "gzip words"),
        ("/zlib", "zlib words"),
        ("/bare", "bare words"),
        ("/brotli", "brotli words"),
        ("/empty", ""),
    ] {
        assert_eq!(text(&server, path).await, words, "{path}");
    }
    for (path, kind, size) in
        [("/pdf", "application/pdf", Some(15)), ("/liar", "text/plain", Some(15)), ("/bytes", "", Some(12))]
    {
        let page = page(&server, path, Format::Raw).await.expect("named");
        assert_eq!((&*page.content_type, page.size, page.text), (kind, size, None), "{path}");
    }
    for (path, words) in
        [("/twice", "packed as `gzip,gzip`"), ("/broken", "does not unpack"), ("/none", "404")]
    {
        let trouble = page(&server, path, Format::Raw).await.expect_err("refused").to_string();
        assert!(trouble.contains(words), "{path}: {trouble}");
    }
    let raw = page(&server, "/html", Format::Raw).await.expect("a page").text.expect("text");
    assert_eq!(raw, html);
    let asked = server.requests.lock().expect("a lock").join("");
    assert!(asked.contains("accept-encoding: gzip, deflate, br") && !asked.contains("ookie"), "{asked}");
}

#[tokio::test]
async fn a_bomb_ends_at_the_cap() {
    let zeros = gzip(&vec![b'a'; 8 * MOST_BYTES]);
    let long = vec![b'b'; MOST_BYTES + 7];
    let server = TestServer::start(BTreeMap::from([
        ("/bomb", answer("200 OK", "Content-Type: text/plain\r\nContent-Encoding: gzip\r\n", &zeros)),
        ("/long", answer("200 OK", "Content-Type: text/plain\r\n", &long)),
    ]))
    .await;
    for (path, size) in [("/bomb", None), ("/long", Some(long.len() as u64))] {
        let page = page(&server, path, Format::Raw).await.expect("a page");
        assert_eq!((page.text.expect("text").len(), page.size, page.cut), (MOST_BYTES, size, true), "{path}");
    }
}

#[tokio::test]
async fn redirects_are_judged_one_by_one() {
    let to = |location: &str| answer("302 Found", &format!("Location: {location}\r\n"), b"");
    let canary = TestServer::start(BTreeMap::new()).await;
    let port = canary.address.port();
    let inner = format!("http://127.0.0.2:{port}/");
    let hidden = format!("http://[::ffff:127.0.0.1]:{port}/");
    let named = format!("http://inside.example:{port}/");
    let abroad = format!("http://localhost:{port}/x");
    let server = TestServer::start(BTreeMap::from([
        ("/a", to("/b?c=1")),
        ("/b", answer("200 OK", "Content-Type: text/plain\r\n", b"arrived")),
        ("/circle", to("/circle")),
        ("/inner", to(&inner)),
        ("/hidden", to(&hidden)),
        ("/chain", to("/inner")),
        ("/named", to(&named)),
        ("/abroad", to(&abroad)),
        ("/file", to("file:///etc/passwd")),
        ("/credentials", to("http://user:secret@127.0.0.1/")),
        ("/nowhere", answer("302 Found", "", b"")),
        ("/again", to("/again2")),
    ]))
    .await;
    assert_eq!(text(&server, "/a").await, "arrived");
    for (path, words) in [
        ("/circle", "redirects more than 5 times"),
        ("/inner", "is not fetched: its host is a loopback address"),
        ("/hidden", "is not fetched: its host is an IPv4-mapped address"),
        ("/chain", "is not fetched"),
        ("/file", "`file` is not http"),
        ("/credentials", "before an @"),
        ("/nowhere", "without saying where"),
    ] {
        let trouble = page(&server, path, Format::Raw).await.expect_err("refused").to_string();
        assert!(trouble.contains(words), "{path}: {trouble}");
    }
    // Another host is not asked: the rules are about the one that was.
    for (path, expect) in [("/abroad", &abroad), ("/named", &named)] {
        match fetcher().get(&server.url(path), "*/*").await.expect("an answer") {
            Fetched::Elsewhere { from, to } => assert_eq!((from, to.as_str()), (server.url(path), &**expect)),
            Fetched::Page(page) => panic!("{page:?}"),
        }
    }
    let named: PageUrl = named.parse().expect("an address");
    let trouble = fetcher().get(&named, "*/*").await.expect_err("refused").to_string();
    assert!(trouble.ends_with("its host resolves to 127.0.0.2, a loopback address"), "{trouble}");
    assert_eq!(canary.count(), 0, "somebody connected");
}

/// One look for each connection, and the one that is judged is the one that is connected.
#[tokio::test]
async fn a_name_that_moves_inside_between_two_steps_is_refused() {
    let server =
        TestServer::start(BTreeMap::from([("/a", answer("302 Found", "Location: /b\r\n", b""))])).await;
    let url = format!("http://first.example:{}/a", server.address.port());
    let trouble =
        fetcher().get(&url.parse().expect("an address"), "*/*").await.expect_err("refused").to_string();
    assert!(trouble.contains("/b is not fetched: its host resolves to 127.0.0.2"), "{trouble}");
    assert_eq!(server.count(), 1);
}

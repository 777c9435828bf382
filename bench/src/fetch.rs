//! Fetching: what `fetch_url` of a page of 200 KB on loopback costs over the least that does the same, a client
//! of HTTP alone and the extractor, call against call.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use dom_smoothie::{Config, Readability, TextMode};
use serde_json::json;

use crate::data::Data;
use crate::lineup::Launch;
use crate::session::Session;
use crate::stats::{Spread, ratios};
use crate::wire::{self, Request};

/// Calls of each, in turn, after a few that count for nothing.
const ROUNDS: usize = 60;
const WARM: usize = 5;
const SIZE: usize = 200 * 1024;

/// What one run is to do.
pub(crate) struct FetchPlan {
    pub(crate) tectum: Option<PathBuf>,
    pub(crate) data: PathBuf,
}

/// Measures and prints.
pub(crate) fn run(plan: &FetchPlan) -> Result<()> {
    let tectum = plan.tectum.clone().context("--tectum PATH is needed")?;
    let data = Data::prepare(&plan.data)?;
    let place = data.gateway("fetch")?;
    let url = format!("http://127.0.0.1:{}/", serve()?);
    let host = url.trim_start_matches("http://").trim_end_matches('/');
    let file = place.join("bench.toml");
    fs::write(
        &file,
        format!(
            "[federation]\nread = []\n[network]\nallow_hosts = [\"{host}\"]\n[permissions]\nallow = [\"fetch_url\"]\n"
        ),
    )?;
    let launch = Launch {
        log: data.log("fetch"),
        name: "tectum".to_owned(),
        version: None,
        program: tectum,
        args: vec!["serve".into(), "-C".into(), data.files().into(), "--config".into(), file.into()],
        env: vec![
            ("XDG_STATE_HOME", place.join("state").into()),
            ("XDG_CONFIG_HOME", place.join("config").into()),
        ],
    };
    let mut session = Session::spawn(&launch)?;
    session.initialize()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    // A client wants a provider even where only HTTP is spoken; a second one changes nothing.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client =
        reqwest::Client::builder().no_proxy().tls_certs_only([]).pool_max_idle_per_host(0).build()?;
    let (mut ours, mut least) = (Vec::new(), Vec::new());
    for round in 0..WARM + ROUNDS {
        let begun = Instant::now();
        let request = Request::tool("fetch_url", json!({ "url": url }), "");
        let text = wire::text(&session.ask(&request)?)?;
        let took = begun.elapsed();
        ensure!(text.contains("Paragraph 7 "), "not the page: {}", &text[..text.len().min(300)]);
        let begun = Instant::now();
        let html = runtime.block_on(async { client.get(&url).send().await?.text().await })?;
        let config = Config { text_mode: TextMode::Markdown, ..Config::default() };
        let article = Readability::new(html, Some(&url), Some(config))?.parse()?;
        let alone = begun.elapsed();
        ensure!(article.text_content.contains("Paragraph 7 "), "the extractor lost the page");
        if round >= WARM {
            ours.push(took.as_secs_f64() * 1000.0);
            least.push(alone.as_secs_f64() * 1000.0);
        }
    }
    let spread = |values: &[f64]| Spread::of(values).context("no rounds");
    let (ratio, ours, least) = (spread(&ratios(&ours, &least))?, spread(&ours)?, spread(&least)?);
    crate::report::say(&format!(
        "fetch: {ROUNDS} rounds of a page of {} KB\n  fetch_url {:.2} ms, reqwest and extractor alone {:.2} ms\n  \
         ratio {:.2} ({:.2}–{:.2})\n",
        SIZE / 1024,
        ours.median,
        least.median,
        ratio.median,
        ratio.low,
        ratio.high,
    ))
}

/// An article of that size on loopback, for as long as the process runs.
fn serve() -> Result<u16> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let port = listener.local_addr()?.port();
    let mut page = String::from("<html><head><title>An article</title></head><body><nav>Home</nav><article>");
    for number in 0.. {
        if page.len() >= SIZE {
            break;
        }
        let words = "Some words of an article, with <a href='/more'>a link</a> and a comma, ".repeat(4);
        page.push_str(&format!("<h2>Part {number}</h2><p>Paragraph {number} {words}</p>"));
    }
    page.push_str("</article></body></html>");
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nConnection: close";
    let answer = format!("{head}\r\nContent-Length: {}\r\n\r\n{page}", page.len());
    std::thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            let (mut request, mut piece) = (Vec::new(), [0; 1024]);
            while !request.ends_with(b"\r\n\r\n") {
                match stream.read(&mut piece) {
                    Ok(read) if read > 0 => request.extend_from_slice(&piece[..read]),
                    _ => break,
                }
            }
            let _ = stream.write_all(answer.as_bytes());
        }
    });
    Ok(port)
}

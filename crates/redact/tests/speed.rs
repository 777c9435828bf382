//! The speed of redacting copies. No time is asserted; the figure is printed.

use std::time::Instant;

use tectum_redact::Redactor;

mod ordinary_code;

/// The size of a large copy.
const COPY: usize = 3 * 1024 * 1024;

#[test]
fn soak_speed_of_a_large_copy() {
    let rounds = if std::env::var_os("TECTUM_SOAK").is_some() { 10 } else { 1 };
    let size = if rounds == 1 { COPY / 16 } else { COPY };
    let redactor = Redactor::new(&[], &[]).expect("built in");
    let code = ordinary_code::sources(size).into_iter().map(|(_, text)| text).collect::<String>();
    let lines: Vec<&str> = code.lines().collect();
    let document = serde_json::json!({ "lines": lines, "total": lines.len() }).to_string();
    let report = |what: &str, copy: &serde_json::Value| {
        let copy = copy.to_string();
        let start = Instant::now();
        for _ in 0..rounds {
            assert!(redactor.hide(copy.clone()).starts_with('{'));
        }
        let speed = (copy.len() * rounds) as f64 / 1e6 / start.elapsed().as_secs_f64();
        println!("soak: redacting {what} of {:.1} MB | {speed:.0} MB/s", copy.len() as f64 / 1e6);
    };
    report("code as one text", &serde_json::json!({ "text": code }));
    report("a document as structured content", &serde_json::json!({ "lines": lines }));
    report("a document as text", &serde_json::json!({ "text": document }));
}

/// The size of a usual copy.
const SMALL: usize = 4 * 1024;

#[test]
fn soak_speed_of_small_copies() {
    let pieces = if std::env::var_os("TECTUM_SOAK").is_some() { 5000 } else { 100 };
    let start = Instant::now();
    let redactor = Redactor::new(&[], &[]).expect("built in");
    println!("soak: making the first redactor | {:.0} µs", start.elapsed().as_secs_f64() * 1e6);
    let sources = ordinary_code::sources(pieces * SMALL);
    let cut = |text: &str| text[..text.floor_char_boundary(SMALL)].to_owned();
    let whole = sources.into_iter().map(|(_, text)| text).filter(|text| text.len() >= SMALL);
    let texts: Vec<String> = whole.map(|text| cut(&text)).collect();
    let copies: Vec<String> =
        texts.iter().map(|text| serde_json::json!({ "text": text }).to_string()).collect();
    let report = |what: &str, all: &[String], redact: &dyn Fn(&String)| {
        all.iter().for_each(redact);
        let mut times: Vec<f64> = Vec::with_capacity(all.len());
        for one in all {
            let start = Instant::now();
            redact(one);
            times.push(start.elapsed().as_secs_f64() * 1e6);
        }
        times.sort_by(f64::total_cmp);
        let at = |share: usize| times.get(times.len() * share / 100).copied().unwrap_or_default();
        println!("soak: redacting 4 KiB of code as {what}, p50 and p90 | {:.1} and {:.1} µs", at(50), at(90));
    };
    report("text", &texts, &|text| drop(redactor.text(text)));
    report("JSON", &copies, &|json| drop(std::hint::black_box(redactor.hide(json.clone()))));
    let quiet = copies.iter().filter(|json| redactor.is_quiet(json)).count();
    println!("soak: copies of code that are told to be quiet at once | {quiet} of {}", copies.len());
}

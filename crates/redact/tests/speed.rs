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

//! Ordinary code is unchanged: how often something in it is taken for a secret, and that the work
//! grows linearly with the length, whatever the text.

use tectum_redact::Redactor;

mod ordinary_code;

const HIDDEN: &str = "[redacted]";

#[test]
fn soak_ordinary_code_is_not_mistaken_for_secrets() {
    let size = if std::env::var_os("TECTUM_SOAK").is_some() { 10_000_000 } else { 1_000_000 };
    let redactor = Redactor::new(&[], &[]).expect("built in");
    let (mut bytes, mut hits) = (0, 0);
    for (path, text) in ordinary_code::sources(size) {
        bytes += text.len();
        let hidden = redactor.text(&text);
        let found = hidden.matches(HIDDEN).count().saturating_sub(text.matches(HIDDEN).count());
        hits += found;
        if found > 0 && std::env::var_os("TECTUM_SHOW").is_some() {
            let lines = text.lines().zip(hidden.lines()).filter(|(before, after)| before != after);
            lines.take(3).for_each(|(before, after)| println!("{}\n  {before}\n  {after}", path.display()));
        }
    }
    let rate = hits as f64 * 1e5 / bytes as f64;
    println!("soak: hits in ordinary code | {hits} in {:.1} MB, {rate:.2} in 100 kB", bytes as f64 / 1e6);
    assert!(rate < 1.0, "{hits} hits in {bytes} bytes");
}

/// Texts that a careless search reads again and again. Each is large enough that quadratic work would
/// not end in a test's time.
#[test]
fn soak_hostile_texts_cost_no_more_than_their_length() {
    let size = if std::env::var_os("TECTUM_SOAK").is_some() { 4_000_000 } else { 40_000 };
    let redactor = Redactor::new(&[], &[]).expect("built in");
    let mut slowest = (std::time::Duration::ZERO, "");
    for unit in [
        "password",
        "secret_",
        "secret ",
        "token=",
        "sk-",
        "eyJ",
        "eyJ.",
        "cookie:",
        "cookie",
        "authorization: basic ",
        "://",
        "://a:",
        "login ",
        "htpasswd -b ",
        "-----BEGIN ",
        "-----BEGIN PRIVATE KEY-----",
        "-----BEGIN PRIVATE KEY-----\n",
        "Private-Lines:",
        "mysql -p",
        "curl -u ",
        "\\",
        "\\\\n",
        "%25",
        "%2525",
        "&amp;",
        "&amp;amp;",
        "\\u005c",
        "\"+",
        "\" + \"",
        "'\n'",
        "\u{1b}[",
        "a\n",
        "QUJD",
        "QUFB\n",
        "<secret ",
        "<secret>",
        "secret: |\n",
        "\"secret",
        "name: secret\nvalue",
        "ghp_",
        "xoxb-",
        ":AA",
        "12345678:AA",
        "-us1",
        "_pass",
        "?key=",
        "&code=",
        ":*:",
        "é",
        "{\"a\":",
        "[[",
        "\"secret\",",
    ] {
        let text = unit.repeat(size / unit.len());
        let start = std::time::Instant::now();
        redactor.text(&text);
        redactor.hide(serde_json::json!({ "text": text }).to_string());
        slowest = slowest.max((start.elapsed(), unit));
    }
    let (time, unit) = slowest;
    let speed = 2.0 * size as f64 / 1e6 / time.as_secs_f64();
    println!("soak: the slowest of hostile texts, {unit:?} again and again | {speed:.1} MB/s");
}

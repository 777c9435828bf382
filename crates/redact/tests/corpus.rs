//! Every shape of the corpus, in every encoding that copies and logs have: no part of a secret is
//! left, the result is still JSON, and the text around is unchanged.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::{Value, json};
use tectum_redact::Redactor;

mod shapes;

use shapes::{Letters, Shape, shapes};

/// The most characters of a secret that may remain.
const HARMLESS: usize = 6;

/// An encoding of a text, and its decoding.
type Writing = (&'static str, fn(&str) -> String, fn(&str) -> String);

fn same(text: &str) -> String {
    text.to_owned()
}

fn quote(text: &str) -> String {
    Value::from(text).to_string()
}

/// Removes everything that these encodings add, so that the rest can be compared with secrets.
fn unwritten(text: &str) -> String {
    let mut text = text.to_owned();
    for _ in 0..8 {
        text = text.replace("\\\\", "\\").replace("\\\"", "\"").replace("\\/", "/");
    }
    text
}

fn percent(text: &str) -> String {
    let sign = |c: char| match c {
        'a'..='z' | 'A'..='Z' | '0'..='9' | '-' | '_' | '.' | '~' => c.to_string(),
        _ => c.to_string().bytes().map(|byte| format!("%{byte:02X}")).collect(),
    };
    text.chars().map(sign).collect()
}

fn unpercent(text: &str) -> String {
    let mut out = text.to_owned();
    for byte in 0..128_u8 {
        out = out.replace(&format!("%{byte:02X}"), &char::from(byte).to_string());
    }
    out
}

fn all_escaped(text: &str) -> String {
    text.chars().map(|c| format!("\\u{:04x}", u32::from(c))).collect()
}

fn all_unescaped(text: &str) -> String {
    let mut out = text.to_owned();
    for byte in 0..128_u32 {
        let c = char::from_u32(byte).expect("ASCII");
        out = out.replace(&format!("\\u{byte:04x}"), &c.to_string());
    }
    out
}

fn html(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    text.replace('"', "&quot;").replace('\'', "&#39;").replace('/', "&#x2F;")
}

fn unhtml(text: &str) -> String {
    let text = text.replace("&#x2F;", "/").replace("&#39;", "'").replace("&quot;", "\"");
    text.replace("&gt;", ">").replace("&lt;", "<").replace("&amp;", "&")
}

const WRITINGS: &[Writing] = &[
    ("as it is", same, same),
    ("in lines", |text| format!("a\n{text}\nb"), same),
    ("in JSON as text", |text| json!({ "stdout": format!("a\n{text}\nb") }).to_string(), unwritten),
    (
        "in JSON in JSON",
        |text| json!([json!({ "out": format!("\t{text}\n") }).to_string()]).to_string(),
        unwritten,
    ),
    (
        "in JSON in a log",
        |text| {
            format!("INFO {} done", json!({ "message": json!({ "m": format!("x\n{text}\n") }).to_string() }))
        },
        unwritten,
    ),
    ("four times quoted", |text| quote(&quote(&quote(&quote(&format!("see\n{text}\n"))))), unwritten),
    ("with slashes escaped", |text| quote(&format!("\n{text}\n")).replace('/', "\\/"), unwritten),
    ("all escaped", |text| format!("\"{}\"", all_escaped(&format!(" {text}\n"))), all_unescaped),
    (
        "percent-encoded",
        |text| format!("https://x.example/?q={}&r=1", percent(&format!("see {text}\n"))),
        unpercent,
    ),
    (
        "percent-encoded twice",
        |text| format!("q={}", percent(&percent(&format!(" {text}\n")))),
        |text| unpercent(&unpercent(text)),
    ),
    ("in HTML", |text| format!("<pre>\n{}\n</pre>", html(text)), unhtml),
    (
        "in HTML in JSON",
        |text| json!({ "html": format!("<p>{}</p>", html(&format!("x\n{text}\n"))) }).to_string(),
        |text| unhtml(&unwritten(text)),
    ),
    ("coloured", |text| format!("\u{1b}[1;31m{text}\u{1b}[0m\n"), same),
];

/// The part of a shape's secrets that is left.
fn left(shape: &Shape, writing: &str, hidden: &str, read: &str) -> Option<String> {
    shape.secrets.iter().find_map(|secret| {
        let letters: Vec<char> = secret.chars().collect();
        let parts =
            letters.windows((HARMLESS + 1).min(letters.len())).map(|part| part.iter().collect::<String>());
        let part = parts.into_iter().find(|part| hidden.contains(part) || read.contains(part))?;
        Some(format!("{} {writing}: {part} is left of {:?}: {hidden:?}", shape.kind, shape.text))
    })
}

#[track_caller]
fn none(left: &[String]) {
    assert!(left.is_empty(), "{} are left:\n{}", left.len(), left.join("\n"));
}

#[test]
fn soak_no_shape_is_left_in_any_writing() {
    let redactor = Redactor::new(&[], &[]).expect("built in");
    let shapes = shapes();
    assert!(shapes.len() >= 300, "{}", shapes.len());
    let mut all = Vec::new();
    for shape in &shapes {
        for (name, write, read) in WRITINGS {
            let written = write(&shape.text);
            let copy =
                json!({ "before": "as it was", "content": [{ "type": "text", "text": written }], "n": 1.50 });
            let hidden = redactor.hide(copy.to_string());
            let parsed: Value = serde_json::from_str(&hidden).expect("JSON still");
            assert_eq!((&parsed["before"], &parsed["n"]), (&copy["before"], &copy["n"]));
            let text = parsed["content"][0]["text"].as_str().expect("a text");
            all.extend(left(shape, name, text, &read(text)));
            if serde_json::from_str::<Value>(&written).is_ok() {
                assert!(serde_json::from_str::<Value>(text).is_ok(), "{name}: {text} is no JSON any more");
            }
            // A log has the same text.
            all.extend(left(shape, name, &redactor.text(&written), ""));
        }
    }
    none(&all);
    println!("soak: shapes of secrets × writings, none left | {} × {}", shapes.len(), WRITINGS.len());
}

#[test]
fn what_is_encoded_in_base64_is_hidden() {
    let redactor = Redactor::new(&[], &[]).expect("built in");
    for shape in shapes() {
        let encoded = STANDARD.encode(format!("some text before\n{}\n", shape.text));
        let wrapped: Vec<&str> =
            encoded.as_bytes().chunks(76).map(|line| std::str::from_utf8(line).expect("ASCII")).collect();
        for written in [encoded.clone(), format!("data:text/plain;base64,{encoded}"), wrapped.join("\n")] {
            let hidden = redactor.hide(json!({ "text": format!("see\n{written}\n") }).to_string());
            let middle = &encoded[24..encoded.len() - 4];
            for part in middle.as_bytes().windows(12) {
                let part = std::str::from_utf8(part).expect("ASCII");
                assert!(
                    !hidden.contains(part),
                    "{}: {part} is left of {:?}: {hidden}",
                    shape.kind,
                    shape.text
                );
            }
        }
    }
}

/// Tokens over several lines: a continued line, literals one after the other.
#[test]
fn what_is_split_over_lines_is_hidden() {
    let redactor = Redactor::new(&[], &[]).expect("built in");
    let mut all = Vec::new();
    for shape in shapes() {
        let [secret] = &shape.secrets[..] else { continue };
        if secret.len() < 20 || shape.kind == "pem" {
            continue;
        }
        let (begin, end) = secret.split_at(secret.len() / 2);
        for joint in ["\\\n", "\\\r\n    ", "\" +\n    \"", "\"\n\"", "' + '", "\" \\\n  \""] {
            let quote = joint.chars().find(|c| "'\"".contains(*c)).map(String::from).unwrap_or_default();
            let written = format!("x = {quote}{begin}{joint}{end}{quote}");
            // Only secrets that are recognized on their own.
            if redactor.text(&format!("x = {quote}{secret}{quote}")).contains(secret) {
                continue;
            }
            let hidden = redactor.hide(json!({ "text": written }).to_string());
            all.extend(left(&shape, joint, &hidden, ""));
        }
    }
    none(&all);
}

#[test]
fn secrets_in_the_members_of_json_are_hidden() {
    let redactor = Redactor::new(&[], &[]).expect("built in");
    let token = Letters(3).secret("ghp_|alnum|36");
    let word = Letters(4).secret("|mixed|14");
    for (copy, secret) in [
        (json!({ "env": [{ "name": "DB_PASSWORD", "value": word }] }), &word),
        (json!({ "args": ["--password", word, "x"] }), &word),
        (json!({ "args": ["-H", format!("X-Api-Key: {word}")] }), &word),
        (json!({ "headers": [["Authorization", word]] }), &word),
        (json!({ "a": { token.clone(): 1 } }), &token),
        (json!({ "text": json!({ "password": ["x", { "y": word }], "n": 1 }).to_string() }), &word),
        (
            json!({ "text": json!({ "t": json!({ "secret": { "y": word } }).to_string() }).to_string() }),
            &word,
        ),
        (
            json!({ "source": ["-----BEGIN PRIVATE KEY-----\n", format!("MIIE{word}\n"), "-----END PRIVATE KEY-----\n"] }),
            &word,
        ),
    ] {
        let hidden = redactor.hide(copy.to_string());
        assert!(!hidden.contains(&**secret), "{copy}: {hidden}");
        let parsed: Value = serde_json::from_str(&hidden).expect("JSON still");
        if let Some(text) = parsed["text"].as_str() {
            let inner: Value = serde_json::from_str(text).expect("JSON in it still");
            if let Some(text) = inner["t"].as_str() {
                assert_eq!(
                    serde_json::from_str::<Value>(text).expect("JSON"),
                    json!({ "secret": "[redacted]" })
                );
            }
        }
    }
}

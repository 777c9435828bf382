//! The sentence of a winner: facts only, foreign words quoted and short, at most 60 tokens.

use crate::{
    input::{Direction, Seconds, Touch},
    signal::{Signal, SignalKind},
};

/// The most a sentence may cost a model.
pub(crate) const TOKENS: usize = 60;
/// Where the agent reads more, unless an event names a place.
const DETAILS: &str = "tectum://attention/focus";
/// Characters of a foreign text, from what is wished for to what always fits.
const LENGTHS: [usize; 5] = [80, 48, 32, 20, 12];

/// What a sentence is made of.
pub(crate) struct Parts<'a> {
    pub(crate) signal: &'a Signal,
    pub(crate) subject: Option<&'a str>,
    pub(crate) touches: Option<&'a str>,
    pub(crate) touched: Option<&'a Touch>,
    pub(crate) details: Option<&'a str>,
    pub(crate) now: Seconds,
}

/// The longest form that fits: first foreign texts get shorter, then the rest is left out.
pub(crate) fn sentence(parts: &Parts<'_>) -> String {
    let forms = LENGTHS.iter().map(|length| (*length, true, true));
    let forms = forms.chain([(12, true, false), (12, false, false), (6, false, false)]);
    let mut text = String::new();
    for (length, touches, details) in forms {
        text = form(parts, length, touches, details);
        if tokens(&text) <= TOKENS {
            break;
        }
    }
    text
}

fn form(parts: &Parts<'_>, length: usize, touches: bool, details: bool) -> String {
    let signal = parts.signal;
    let mut text = format!("{}: ", place(&signal.organ));
    if let Some(subject) = parts.subject {
        text.push_str(&format!("\"{}\" ", clean(subject, length)));
    }
    text.push_str(&path(&signal.path, length));
    text.push_str(&change(signal, length));
    text.push_str(&rarity(signal));
    if touches {
        if let Some(touch) = parts.touched {
            let how = if touch.how.chars().all(char::is_alphabetic) && touch.how.len() < 12 {
                &touch.how
            } else {
                "touched"
            };
            let ago = span(parts.now - touch.at);
            text.push_str(&format!(
                "; touches \"{}\", which you {how} {ago} ago",
                clean(&touch.what, length)
            ));
        } else if let Some(clause) = parts.touches {
            text.push_str(&format!("; {}", clean(clause, 2 * length)));
        }
    }
    text.push('.');
    if details {
        let place = parts.details.map(|place| format!("\"{}\"", clean(place, length)));
        text.push_str(&format!(" Details: {}", place.as_deref().unwrap_or(DETAILS)));
    }
    text
}

/// `mcp:ci:main` as `ci/main`. A name is foreign too: whatever is no plain word is quoted.
fn place(organ: &str) -> String {
    let name = organ.strip_prefix("mcp:").or_else(|| organ.strip_prefix("internal:")).unwrap_or(organ);
    plain_or_quoted(&name.replacen(':', "/", 1), 40)
}

fn path(path: &str, length: usize) -> String {
    let path = if path.is_empty() { "state" } else { path };
    plain_or_quoted(path, length.max(32))
}

fn plain_or_quoted(name: &str, length: usize) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./[]*".contains(c);
    if name.chars().all(plain) && name.chars().count() <= length {
        return name.to_owned();
    }
    // The end of a path tells more than its beginning.
    let skip = name.chars().count().saturating_sub(length);
    let end: String = name.chars().skip(skip).collect();
    format!("\"{}{}\"", if skip > 0 { "…" } else { "" }, clean(&end, length))
}

fn change(signal: &Signal, length: usize) -> String {
    let value = |text: &str| match text.strip_prefix('"').and_then(|text| text.strip_suffix('"')) {
        Some(text) => format!("\"{}\"", clean(text, length)),
        None if signal.kind == SignalKind::Event => format!("\"{}\"", clean(text, length)),
        None => clean(text, length),
    };
    match (&signal.old, &signal.new) {
        (Some(old), Some(new)) => format!(" {} → {}", value(old), value(new)),
        (None, Some(new)) => format!(" is new: {}", value(new)),
        (Some(old), None) => format!(" is gone, was {}", value(old)),
        (None, None) => " changed".to_owned(),
    }
}

fn rarity(signal: &Signal) -> String {
    let readings = signal.rarity_readings;
    if readings < 2 {
        return String::new();
    }
    let history = format!("{readings} readings ({})", span(signal.rarity_span));
    match (signal.kind, signal.seen_before) {
        (SignalKind::Number, _) => format!(", beyond all of {history}"),
        (_, 0) => format!(", first time in {history}"),
        (_, _) if signal.direction == Direction::Recovering => format!(", back after {history}"),
        (_, seen) => format!(", in {seen} of {history} before"),
    }
}

/// A duration in its largest unit.
pub(crate) fn span(seconds: Seconds) -> String {
    let seconds = seconds.max(0.0);
    let (count, unit) = match seconds {
        s if s < 90.0 => (s, "s"),
        s if s < 5_400.0 => (s / 60.0, "min"),
        s if s < 172_800.0 => (s / 3_600.0, "h"),
        s => (s / 86_400.0, "days"),
    };
    format!("{count:.0} {unit}")
}

/// A foreign text as it may stand between quotes: one line, no control or direction characters, no
/// quotes, at most `length` characters.
pub(crate) fn clean(text: &str, length: usize) -> String {
    let mut kept = String::new();
    let mut count = 0;
    for c in text.chars() {
        if is_invisible(c) {
            continue;
        }
        if count == length {
            kept.push('…');
            break;
        }
        kept.push(match c {
            '"' | '“' | '”' | '„' | '«' | '»' | '＂' | '`' => '\'',
            c if c.is_whitespace() => ' ',
            c => c,
        });
        count += 1;
    }
    kept
}

/// Control, format and private characters: what moves a terminal's cursor, turns the direction or hides.
fn is_invisible(c: char) -> bool {
    (c.is_control() && !matches!(c, '\n' | '\t'))
        || matches!(c as u32,
            0xAD | 0x61C | 0x180E | 0x200B..=0x200F | 0x2028..=0x202E | 0x2060..=0x206F
            | 0xE000..=0xF8FF | 0xFE00..=0xFE0F | 0xFEFF | 0xFFF0..=0xFFFB | 0xE0000..=0x10FFFF)
}

/// What a text costs a model, estimated: a token for every five letters of a word, three digits and two
/// marks, and for every character outside ASCII.
pub(crate) fn tokens(text: &str) -> usize {
    let (mut count, mut run, mut kind) = (0, 0_usize, 0_usize);
    for c in text.chars().chain([' ']) {
        let now = match c {
            c if c.is_ascii_alphabetic() => 5,
            c if c.is_ascii_digit() => 3,
            ' ' => 0,
            c if c.is_ascii() => 2,
            _ => 1,
        };
        if now != kind {
            count += if kind == 0 { 0 } else { run.div_ceil(kind) };
            (run, kind) = (0, now);
        }
        run += 1;
    }
    count
}

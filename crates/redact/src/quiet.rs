//! Tells that a JSON text has nothing to hide, without decoding its strings one by one. Whatever needs a
//! closer look counts as not quiet, so that nothing is missed; most texts of calls need none.

use crate::{
    encoded,
    finder::Finder,
    unfold::{WRAPPED, entity, percent},
};

impl Finder {
    /// True if a JSON text surely has nothing to hide.
    pub(crate) fn is_quiet(&self, json: &str) -> bool {
        self.has_no_additions() && is_plain(json) && !self.has_key(json) && self.has_no_token(json)
    }

    /// True if no long word is a token or holds an encoded secret.
    fn has_no_token(&self, json: &str) -> bool {
        let bytes = json.as_bytes();
        let mut words = encoded::long_words(bytes);
        for word in &mut words {
            // The first letter belongs to a line break or a tab.
            if word.start > 0 && bytes[word.start - 1] == b'\\' {
                word.start += 1;
            }
            // The next line may continue it.
            if word.len() >= WRAPPED && matches!(bytes.get(word.end), Some(b'\\' | b'\n' | b'\r')) {
                return false;
            }
        }
        let mut found = false;
        self.long_words(json, &words, 0, &mut |_| found = true);
        !found
    }
}

/// True if no string has an encoding beyond line breaks, tabs and quotes.
fn is_plain(json: &str) -> bool {
    let bytes = json.as_bytes();
    let escapes = memchr::memchr2_iter(b'\\', b'\'', bytes).all(|at| match (bytes[at], bytes.get(at + 1)) {
        (b'\'', _) => !continues(&bytes[at + 1..], b"'"),
        (_, Some(b'"')) => !continues(&bytes[at + 2..], b"\\\""),
        (_, Some(b'n' | b't' | b'r')) => true,
        _ => false,
    });
    escapes
        && memchr::memchr3_iter(b'%', b'&', b'`', bytes).all(|at| match bytes[at] {
            b'%' => percent(&json[at..]).is_none(),
            b'&' => entity(&json[at..]).is_none(),
            _ => !continues(&bytes[at + 1..], b"`"),
        })
}

/// True if a literal may go on after the quote that closed before this text.
fn continues(rest: &[u8], quote: &[u8]) -> bool {
    let mut at = 0;
    loop {
        match rest.get(at..) {
            Some([b' ' | b'+' | b'.', ..]) => at += 1,
            Some([b'\\', b'n' | b't' | b'r' | b'\\', ..]) => at += 2,
            Some(rest) => return at > 0 && rest.starts_with(quote),
            None => return false,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::Redactor;

    #[test]
    fn ordinary_results_are_quiet_and_what_needs_a_closer_look_is_not() {
        let redactor = Redactor::new(&[], &[]).expect("built in");
        for quiet in [
            r#"{"path":"src/main.rs","content":"fn main() {\n\tlet a = \"b\";\n}\n","lines":3}"#,
            r#"{"paths":["/home/me/project/crates/native/src/schema.rs"],"found":"see https://a.example/b"}"#,
            r#"{"text":"a 100% safe && sound `x` and 'y', \"z\" + 1"}"#,
        ] {
            let finder = redactor.finder.as_ref().expect("there");
            assert!(super::is_plain(quiet), "{quiet}");
            assert!(!finder.has_key(quiet), "{quiet}");
            assert!(finder.has_no_token(quiet), "{quiet}");
        }
        for unclear in [
            r#"{"Password":1}"#,
            r#"{"a":"\u0070assword"}"#,
            r#"{"a":"x\\ny"}"#,
            r#"{"a":"%41"}"#,
            r#"{"a":"&lt;"}"#,
            r#"{"a":"\"x\" +\n \"y\""}"#,
            r#"{"a":"http://me:you@here"}"#,
        ] {
            assert!(!redactor.is_quiet(unclear), "{unclear}");
        }
        let redactor = Redactor::new(&[], &["X-[0-9]+".into()]).expect("fine");
        assert!(!redactor.is_quiet("{}"));
    }
}

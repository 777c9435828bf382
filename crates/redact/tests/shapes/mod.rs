//! The corpus of secrets, made up anew: the same texts in every run.

const CORPUS: &str = include_str!("../corpus.txt");

/// A text with secrets in it.
pub(crate) struct Shape {
    pub(crate) kind: &'static str,
    pub(crate) text: String,
    pub(crate) secrets: Vec<String>,
}

/// Letters that look random and are the same in every run.
pub(crate) struct Letters(pub(crate) u64);

impl Letters {
    fn draw(&mut self, alphabet: &[u8], length: usize) -> String {
        let mut next = || {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            char::from(alphabet[(self.0 >> 33) as usize % alphabet.len()])
        };
        (0..length).map(|_| next()).collect()
    }

    pub(crate) fn secret(&mut self, written: &str) -> String {
        let [prefix, alphabet, length] = written.split('|').collect::<Vec<_>>()[..] else {
            panic!("{written} has no three parts")
        };
        let length: usize = length.parse().expect("a number");
        let alnum = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
        let alphabet: &[u8] = match alphabet {
            "alnum" | "b64" | "mixed" | "word" => alnum,
            "upper" => b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567",
            "lower" => b"abcdefghijklmnopqrstuvwxyz234567",
            "hex" => b"0123456789abcdef",
            "digits" => b"0123456789",
            other => panic!("no alphabet {other}"),
        };
        let mut body = self.draw(alphabet, length);
        if written.contains("mixed") {
            // Every real secret has digits.
            body.replace_range(1..3, "47");
        }
        if written.contains("word") && length > 20 {
            body.replace_range(15..16, "_");
        }
        format!("{prefix}{body}")
    }
}

/// All shapes of the corpus.
pub(crate) fn shapes() -> Vec<Shape> {
    let mut letters = Letters(7);
    let lines = CORPUS.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
    let shape = |line: &'static str| {
        let (kind, written) = line.split_once('\t').expect("a tab");
        let written = written.replace("\\n", "\n").replace("\\e", "\u{1b}");
        let (mut text, mut secrets, mut rest) = (String::new(), Vec::new(), &*written);
        while let Some((before, (secret, after))) =
            rest.split_once("{{").map(|(before, after)| (before, after.split_once("}}").expect("closed")))
        {
            text.push_str(before);
            secrets.push(letters.secret(secret));
            text.push_str(secrets.last().expect("pushed"));
            rest = after;
        }
        text.push_str(rest);
        assert!(!secrets.is_empty(), "{line}");
        Shape { kind, text, secrets }
    };
    lines.map(shape).collect()
}

//! For files of every kind: an edit changes its span and no other byte, and undo brings all back.

use proptest::prelude::*;
use serde_json::json;
use tectum_tools::text::{Eol, TextFile};

use crate::edit_rig::Desk;

/// The form of a generated file's text in bytes.
#[derive(Clone, Copy, Debug)]
enum Form {
    Utf8,
    Utf8Mark,
    Utf16Le,
    Utf16Be,
    Windows1252,
    ShiftJis,
    Gbk,
}

impl Form {
    fn encode(self, text: &str) -> Vec<u8> {
        let legacy = |encoding: &'static encoding_rs::Encoding| encoding.encode(text).0.into_owned();
        match self {
            Self::Utf8 => text.into(),
            Self::Utf8Mark => [b"\xef\xbb\xbf", text.as_bytes()].concat(),
            Self::Utf16Le => {
                [0xfeff].into_iter().chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect()
            }
            Self::Utf16Be => {
                [0xfeff].into_iter().chain(text.encode_utf16()).flat_map(u16::to_be_bytes).collect()
            }
            Self::Windows1252 => legacy(encoding_rs::WINDOWS_1252),
            Self::ShiftJis => legacy(encoding_rs::SHIFT_JIS),
            Self::Gbk => legacy(encoding_rs::GBK),
        }
    }

    /// Words of the form's language: enough of them for the encoding to be recognised.
    fn words(self) -> &'static [&'static str] {
        match self {
            Self::Windows1252 => &["café", "naïve", "“quoted”", "français", "plain", "déjà vu", "über"],
            Self::ShiftJis => &["これは", "日本語", "文章です。", "表示", "plain", "ファイル", "編集する"],
            Self::Gbk => &["这是", "中文", "文件，", "内容", "plain", "编辑", "没有问题。"],
            _ => &["naïve", "日本語", "plain", "😀", "“x”", "\tindented", "  two"],
        }
    }
}

fn form() -> impl Strategy<Value = Form> {
    prop::sample::select(vec![
        Form::Utf8,
        Form::Utf8Mark,
        Form::Utf16Le,
        Form::Utf16Be,
        Form::Windows1252,
        Form::ShiftJis,
        Form::Gbk,
    ])
}

/// Line ends of one kind, or of any.
fn ends() -> impl Strategy<Value = Vec<Eol>> {
    prop::sample::select(vec![
        vec![Eol::Lf],
        vec![Eol::CrLf],
        vec![Eol::Cr],
        vec![Eol::Lf, Eol::CrLf],
        vec![Eol::Lf, Eol::CrLf, Eol::Cr],
    ])
}

/// A file: its form, its lines, and whether the last one is ended.
#[derive(Clone, Debug)]
struct Sample {
    form: Form,
    text: String,
}

prop_compose! {
    fn sample()(form in form(), ends in ends())
        (lines in prop::collection::vec((prop::collection::vec(0_usize..7, 0..5), 0..ends.len()), 1..12),
         ended in any::<bool>(), form in Just(form), ends in Just(ends)) -> Sample {
        let mut text = String::new();
        for (words, end) in &lines {
            let words: Vec<_> = words.iter().map(|word| form.words()[*word]).collect();
            text.push_str(&words.join(" "));
            text.push_str(ends[*end].as_str());
        }
        // All words once, so that a short file is still recognised for what it is.
        text.push_str(&form.words().join(" "));
        if ended {
            text.push_str(ends[0].as_str());
        }
        Sample { form, text }
    }
}

/// Two places in a text, as parts of its length, moved to where a character begins and no
/// line end is cut.
fn span(text: &str, from: f64, to: f64) -> std::ops::Range<usize> {
    let place = |part: f64| {
        let mut at = (part * text.len() as f64) as usize;
        while !text.is_char_boundary(at) || (text[..at].ends_with('\r') && text[at..].starts_with('\n')) {
            at -= 1;
        }
        at
    };
    let (a, b) = (place(from), place(to));
    a.min(b)..a.max(b)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn a_splice_changes_its_span_only(
        sample in sample(), from in 0.0..=1.0, to in 0.0..=1.0, new in prop::collection::vec(0_usize..7, 0..4), lines in any::<bool>(),
    ) {
        let bytes = sample.form.encode(&sample.text);
        let file = TextFile::decode(bytes.clone()).expect("text");
        prop_assert_eq!(file.text(), &sample.text);
        prop_assert!(file.faithful());
        let span = span(file.text(), from, to);
        let words: Vec<_> = new.iter().map(|word| sample.form.words()[*word]).collect();
        let inserted = words.join(if lines { "\n" } else { " " });
        let after = file.edited(&[(span.clone(), inserted.clone())]).expect("spliced");
        // The bytes before and behind are those of the old file.
        let mark = if file.facts().bom { file.facts().encoding.mark().len() } else { 0 };
        let encoded = |text: &str| file.facts().encoding.encode(text).expect("encodes").len();
        let before = mark + encoded(&file.text()[..span.start]);
        let behind = encoded(&file.text()[span.end..]);
        prop_assert_eq!(&after.bytes()[..before], &bytes[..before]);
        prop_assert_eq!(&after.bytes()[after.bytes().len() - behind..], &bytes[bytes.len() - behind..]);
        // What is between says what was inserted.
        let middle = &after.text()[span.start..after.text().len() - (file.text().len() - span.end)];
        prop_assert_eq!(Eol::Lf.ending(middle), inserted);
        // And the text is what the bytes say.
        prop_assert_eq!(sample.form.encode(after.text()), after.bytes());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn an_edit_and_its_undo_give_the_same_bytes(sample in sample(), from in 0.0..=1.0, to in 0.0..=1.0) {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("runs");
        let bytes = sample.form.encode(&sample.text);
        let span = span(&sample.text, from, to);
        prop_assume!(!span.is_empty());
        let old = &sample.text[span.clone()];
        // Places that overlap are two places.
        let places = sample.text.char_indices().filter(|(at, _)| sample.text[*at..].starts_with(old)).count();
        let desk = Desk::new();
        desk.put("a.txt", &bytes);
        let args = json!({ "path": "a.txt", "old_string": old, "new_string": "plain <new>\ntext" });
        let edited = runtime.block_on(desk.call("edit_file", args));
        let after = desk.get("a.txt").expect("there");
        match edited {
            Ok((_, data)) => {
                let file = TextFile::decode(bytes.clone()).expect("text");
                let mark = if file.facts().bom { file.facts().encoding.mark().len() } else { 0 };
                let start = mark + file.facts().encoding.encode(&sample.text[..span.start]).expect("encodes").len();
                let behind = file.facts().encoding.encode(&sample.text[span.end..]).expect("encodes").len();
                prop_assert_eq!(&after[..start], &bytes[..start]);
                prop_assert_eq!(&after[after.len() - behind..], &bytes[bytes.len() - behind..]);
                let undo = json!({ "call_id": data["undo"] });
                runtime.block_on(desk.works("undo_edit", undo));
            }
            // The span stands at several places, or what is left would not be recognised.
            Err(fault) => {
                let refused = places != 1 || fault.message.contains("would not be read as");
                prop_assert!(refused, "{}", fault.text());
            }
        }
        prop_assert_eq!(desk.get("a.txt").expect("there"), bytes);
    }
}

/// A line as a careless quotation gives it: no blanks at its end, plain quotes.
fn quoted(line: &str) -> String {
    line.trim_end().replace(['\u{201c}', '\u{201d}'], "\"").replace('\u{a0}', " ")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 80, ..ProptestConfig::default() })]

    #[test]
    fn a_careless_quotation_changes_the_meant_line_only(
        lines in prop::collection::vec((0_usize..4, 0_usize..3, 0_usize..3), 3..12), at in any::<prop::sample::Index>(), ended in any::<bool>(),
    ) {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("runs");
        let words = ["plain", "\u{201c}curly\u{201d}", "a\u{a0}b", "\tindented"];
        let mut before: Vec<(String, &str)> = lines.iter().enumerate()
            .map(|(number, (word, blanks, end))| {
                (format!("{} number {number}{}", words[*word], ["", "  ", "\t"][*blanks]), ["\n", "\r\n", "\r"][*end])
            })
            .collect();
        if !ended {
            before.last_mut().expect("lines").1 = "";
        }
        let whole = |lines: &[(String, &str)]| lines.iter().map(|(line, end)| format!("{line}{end}")).collect::<String>();
        let desk = Desk::new();
        desk.put("a.txt", whole(&before));
        // The meant line is quoted with the lines before and after it.
        let meant = 1 + at.index(before.len() - 2);
        let quote: Vec<String> = before[meant - 1..=meant + 1].iter().map(|(line, _)| quoted(line)).collect();
        let old = quote.join("\n");
        let new = format!("{}\nchanged\n{}", quote[0], quote[2]);
        let args = json!({ "path": "a.txt", "old_string": old, "new_string": new });
        runtime.block_on(desk.works("edit_file", args));
        let after = String::from_utf8(desk.get("a.txt").expect("there")).expect("UTF-8");
        before[meant].0 = "changed".into();
        prop_assert_eq!(after, whole(&before));
    }
}

//! Decoding and splicing, case by case.

use super::*;

fn decode(bytes: &[u8]) -> TextFile {
    TextFile::decode(bytes.to_vec()).expect("text")
}

#[test]
fn encodings_are_found() {
    let check = |bytes: &[u8], encoding: &str, bom: bool, text: &str| {
        let file = decode(bytes);
        assert_eq!((file.facts().encoding.name(), file.facts().bom), (encoding, bom), "{bytes:?}");
        assert_eq!(file.text(), text);
        assert_eq!(file.bytes(), bytes);
        assert!(file.faithful());
    };
    check(b"", "UTF-8", false, "");
    check("naïve\n".as_bytes(), "UTF-8", false, "naïve\n");
    check(b"\xef\xbb\xbfa", "UTF-8", true, "a");
    check(b"\xff\xfea\0\n\0", "UTF-16LE", true, "a\n");
    check(b"\xfe\xff\0a\0\n", "UTF-16BE", true, "a\n");
    check(b"h\0e\0l\0l\0o\0", "UTF-16LE", false, "hello");
    check(b"\0h\0e\0l\0l\0o", "UTF-16BE", false, "hello");
    check(b"na\xefve caf\xe9 \x93quoted\x94 text", "windows-1252", false, "naïve café “quoted” text");
    check(b"na\xefve", "windows-1252", false, "naïve");
    check(b"\xa35", "windows-1252", false, "£5");
    check(b"\xb15\n", "windows-1252", false, "±5\n");
    check(b"\xf8", "windows-1252", false, "ø");
    let (russian, ..) = encoding_rs::WINDOWS_1251.encode("привет");
    check(&russian, "windows-1251", false, "привет");
    let (japanese, ..) = encoding_rs::SHIFT_JIS.encode("これは日本語の文章です。\r\n表示");
    check(&japanese, "Shift_JIS", false, "これは日本語の文章です。\r\n表示");
    let (chinese, ..) = encoding_rs::GBK.encode("这是一个中文文件，内容很短。\n");
    check(&chinese, "GBK", false, "这是一个中文文件，内容很短。\n");
}

#[test]
fn what_is_no_text_is_named() {
    let check = |bytes: &[u8], kind: &str| {
        let refused = TextFile::decode(bytes.to_vec()).expect_err("binary");
        assert_eq!((refused.kind, refused.size), (kind, bytes.len()));
    };
    check(b"\x89PNG\r\n\x1a\n\0\0", "PNG image");
    check(b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n", "PDF document");
    check(b"abc\0def", "binary data");
    check(b"\xff\xfe\0\0a\0\0\0", "UTF-32 text");
    let fault = TextFile::decode(b"\x7fELF\0".to_vec()).expect_err("binary").fault("bin/app");
    assert_eq!(fault.message, "bin/app is not text: ELF executable, 5 bytes");
}

#[test]
fn damaged_text_is_shown_but_not_edited() {
    for bytes in [&b"\xc3\xa4\xc3\xb6\xc3\xbc and one bad byte \xff here"[..], b"\xff\xfea\0\x00\xd8"] {
        let file = decode(bytes);
        assert!(!file.faithful());
        assert!(file.text().contains('\u{fffd}'));
        let fault = file.splice(&[(0..1, "x".into())]).expect_err("refused");
        assert!(fault.message.contains("not clean"), "{}", fault.message);
    }
}

#[test]
fn only_the_span_changes() {
    let check = |before: &[u8], range: Range<usize>, inserted: &str, after: &[u8]| {
        let spliced = decode(before).splice(&[(range, inserted.into())]).expect("spliced");
        assert_eq!(spliced, after, "{:?}", String::from_utf8_lossy(&spliced));
    };
    check(b"a\r\nb\r\n", 3..4, "x\ny", b"a\r\nx\r\ny\r\n");
    check(b"a\rb\r", 2..3, "x\ny", b"a\rx\ry\r");
    check(b"a\nb\n", 2..3, "x\r\ny", b"a\nx\ny\n");
    // The line's own end, in a mixed file; and each replaced end keeps its kind.
    check(b"a\r\nb\nc\r\n", 3..4, "x\ny", b"a\r\nx\ny\nc\r\n");
    check(b"a\r\nb\nc\r\n", 0..6, "x\ny\nz", b"x\r\ny\nz\r\n".as_slice());
    check(b"a\r\nb\nc", 6..6, "\nd", b"a\r\nb\nc\nd".as_slice());
    check(b"a\r\nb\nc\r\n", 3..3, "x\n", b"a\r\nx\r\nb\nc\r\n");
    // With no line end to follow, the given ones stay.
    check(b"a", 1..1, "\r\nb", b"a\r\nb");
    check(b"\xef\xbb\xbfa", 0..1, "\u{e9}", b"\xef\xbb\xbf\xc3\xa9");
    check(b"\xff\xfea\0b\0", 1..2, "\u{1f600}", b"\xff\xfea\0\x3d\xd8\x00\xde");
    check(b"caf\xe9 na\xefve \x93text\x94", 0..5, "th\u{e9}", b"th\xe9 na\xefve \x93text\x94");
}

#[test]
fn a_character_the_encoding_lacks_is_named() {
    let fault =
        decode(b"caf\xe9 na\xefve text").splice(&[(0..0, "ok \u{2192}".into())]).expect_err("refused");
    assert_eq!(
        fault.message,
        "the file is windows-1252, which has no \u{2192} (U+2192); nothing was changed"
    );
}

#[test]
fn several_edits_at_once() {
    let file = decode("eins zwei drei".as_bytes());
    let spliced =
        file.splice(&[(0..4, "1".into()), (5..9, "2".into()), (14..14, "!".into())]).expect("spliced");
    assert_eq!(spliced, b"1 2 drei!");
    assert!(file.splice(&[(5..9, String::new()), (0..4, String::new())]).is_err());
}

#[test]
fn a_declared_encoding_is_the_one_that_is_written() {
    let read = |bytes: &[u8]| TextFile::decode(bytes.to_vec()).expect("text");
    let latin = read(b"# -*- coding: latin-1 -*-\ns = \"\xe9\x80\"\n");
    assert_eq!(latin.facts().encoding.name(), "ISO-8859-1");
    assert!(latin.text().contains("\u{e9}\u{80}"));
    assert!(latin.splice(&[(0..0, "\u{20ac}".to_owned())]).is_err(), "no euro sign in Latin-1");
    // A file that is plain ASCII so far takes new letters as it declares them.
    let ascii = read(b"#!/usr/bin/python\n# vim: set fileencoding=koi8_r :\nx\n");
    let end = ascii.text().len();
    let bytes = ascii.splice(&[(end..end, "\u{430}".to_owned())]).expect("spliced");
    assert_eq!(bytes.last(), Some(&0xc1));
    for plain in [
        "# coding: utf-8\n\u{e9}\n",
        "x\ny\n# coding: latin-1\n\u{e9}\n",
        "s = 'coding: latin-1'\n\u{e9}\n",
        "# coding: nonsense\n\u{e9}\n",
    ] {
        assert_eq!(read(plain.as_bytes()).facts().encoding.name(), "UTF-8", "{plain}");
    }
}

//! From bytes to characters: by the byte order mark, the header, the page's own word, and otherwise by how
//! the bytes look.

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE};

/// Where a page says its charset; browsers look no further.
const HEAD: usize = 1024;

/// The text, in the charset that counts.
pub(crate) fn decode(bytes: &[u8], content_type: Option<&str>, is_page: bool) -> String {
    let said = Encoding::for_bom(bytes).map(|(encoding, _)| encoding);
    let said = said.or_else(|| content_type.and_then(parameter));
    let said = said.or_else(|| if is_page { in_page(bytes) } else { None });
    let encoding = said.unwrap_or_else(|| look(bytes));
    // It takes a mark away, and shows what is no text as U+FFFD.
    encoding.decode_with_bom_removal(bytes).0.into_owned()
}

/// `charset=` of a header.
fn parameter(content_type: &str) -> Option<&'static Encoding> {
    let (_, parameters) = content_type.split_once(';')?;
    let charset = parameters.split(';').find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        name.trim().eq_ignore_ascii_case("charset").then(|| value.trim().trim_matches(['"', '\'']))
    })?;
    Encoding::for_label(charset.as_bytes())
}

/// `<meta charset=…>`, the `content` of an older one, or the declaration of XML. A page that can be read this
/// far is not UTF-16, whatever it says.
fn in_page(bytes: &[u8]) -> Option<&'static Encoding> {
    let head = &bytes[..bytes.len().min(HEAD)];
    let head = String::from_utf8_lossy(head).to_ascii_lowercase();
    let xml = head.starts_with("<?xml").then(|| head.split("?>").next()).flatten();
    let metas = head.split("<meta").skip(1).filter_map(|rest| rest.split('>').next());
    let said = metas.filter_map(|meta| label(meta, "charset")).next();
    let said = said.or_else(|| xml.and_then(|xml| label(xml, "encoding")))?;
    let encoding = Encoding::for_label(said.as_bytes())?;
    Some(if encoding == UTF_16LE || encoding == UTF_16BE { UTF_8 } else { encoding })
}

fn label<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let (_, rest) = text.split_once(name)?;
    let rest = rest.trim_start().strip_prefix('=')?.trim_start().trim_start_matches(['"', '\'']);
    rest.split(|c: char| c.is_whitespace() || "\"';/".contains(c)).next().filter(|label| !label.is_empty())
}

fn look(bytes: &[u8]) -> &'static Encoding {
    if std::str::from_utf8(bytes).is_ok() {
        return UTF_8;
    }
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    detector.feed(bytes, true);
    detector.guess(None, Utf8Detection::Allow)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(bytes: &[u8], content_type: Option<&str>, expect: &str) {
        let text = decode(bytes, content_type, true);
        assert!(text.contains(expect), "{content_type:?}: {text}");
    }

    #[test]
    fn the_mark_beats_the_header_which_beats_the_page() {
        check(b"\xef\xbb\xbf<p>gr\xc3\xbcn", Some("text/html; charset=latin1"), "grün");
        check(b"\xff\xfeg\0r\0\xfc\0n\0", Some("text/html"), "grün");
        check(b"gr\xfcn", Some("text/html; charset=\"ISO-8859-1\""), "grün");
        check(b"<meta charset=koi8-r>gr\xfcn", Some("text/html;charset=windows-1252"), "grün");
        check(b"<html><head><meta charset='shift_jis'>\x93\xfa\x96{", Some("text/html"), "日本");
        check(b"<META http-equiv=Content-Type content=\"text/html; charset=EUC-KR\">\xc7\xd1", None, "한");
        check(b"<?xml version=\"1.0\" encoding=\"windows-1251\"?><a>\xcf\xf0</a>", None, "Пр");
        check(b"<meta charset=utf-16>gr\xc3\xbcn", None, "grün");
        check(b"<meta charset=nonsense>gr\xc3\xbcn", None, "grün");
        check(b"gr\xc3\xbcn", None, "grün");
        check(
            "Das ist nicht gr\u{fc}n, sondern blau".chars().map(|c| c as u8).collect::<Vec<_>>().as_slice(),
            None,
            "grün",
        );
    }
}

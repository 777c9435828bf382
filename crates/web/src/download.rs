//! What came back, and the text that is made of it.

use crate::{
    Format, PageUrl, Trouble, charset,
    content::{Kind, essence},
    fetch_caps::MOST_BYTES,
    packed::Packed,
    readable, tree,
};

/// The bytes of an answer. Making text of them takes time and does not wait.
#[derive(Debug)]
pub struct Download {
    pub(crate) url: PageUrl,
    pub(crate) status: u16,
    pub(crate) content_type: Option<String>,
    pub(crate) packed: Packed,
    pub(crate) declared: Option<u64>,
    pub(crate) bytes: Vec<u8>,
    pub(crate) cut: bool,
}

/// A page as it can be shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// Where it lies, after redirects.
    pub url: PageUrl,
    /// What it is, such as `text/html`; empty where nobody said.
    pub content_type: String,
    /// Its size in bytes; nothing where that is not known.
    pub size: Option<u64>,
    /// The text; nothing where it is none.
    pub text: Option<String>,
    /// Whether it is longer than what was read of it.
    pub cut: bool,
}

impl Download {
    /// The text of it.
    pub fn page(self, format: Format) -> Result<Page, Trouble> {
        let Self { url, content_type, packed, declared, bytes, cut, .. } = self;
        let name = content_type.as_deref().map(essence).unwrap_or_default();
        if content_type.as_deref().map(Kind::named) == Some(Kind::Binary) {
            return Ok(Page { url, content_type: name, size: declared, text: None, cut: false });
        }
        let unpacked = packed.unpack(bytes, MOST_BYTES, cut);
        let (bytes, cut) = unpacked.map_err(|error| Trouble::Broken {
            address: url.to_string(),
            why: format!("what it sent does not unpack: {error}"),
        })?;
        let size = if cut { declared } else { Some(bytes.len() as u64) };
        let kind = Kind::of(content_type.as_deref(), &bytes);
        if kind == Kind::Binary {
            return Ok(Page { url, content_type: name, size, text: None, cut: false });
        }
        let text = charset::decode(&bytes, content_type.as_deref(), kind == Kind::Html);
        let text = match (kind, format) {
            (Kind::Html, Format::Markdown | Format::Text) => {
                readable::text(&text, &url, format, tree::ENOUGH)
            }
            _ => text,
        };
        Ok(Page { url, content_type: name, size, text: Some(seen(&text)), cut })
    }
}

/// The text without what nobody sees: control characters that move a terminal's cursor, and the tag characters
/// that hide words from people alone.
fn seen(text: &str) -> String {
    let text = text.replace("\r\n", "\n");
    let unseen =
        |c: char| (c.is_control() && !"\n\t".contains(c)) || ('\u{e0000}'..='\u{e007f}').contains(&c);
    if text.contains(unseen) { text.replace(unseen, "") } else { text }
}

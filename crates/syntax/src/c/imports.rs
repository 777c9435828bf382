//! The imports of a source: inclusions and `using`.

use memchr::memmem;

use super::{
    bytes::{self, in_word},
    mentions::skip_blanks,
    pieces::{self, Piece},
};
use crate::{Import, Span};

/// A `using` declaration is looked at this far.
const LONGEST: usize = 1000;

/// The inclusions and `using` declarations, in order.
pub(super) fn imports(text: &str) -> Vec<Import> {
    let source = text.as_bytes();
    let mut imports = Vec::new();
    let mut code = 0;
    let read = |imports: &mut Vec<Import>, from: usize, to: usize| {
        let using = memmem::find_iter(&source[from..to], b"using").map(|at| from + at);
        imports.extend(using.filter_map(|at| declaration(text, at)));
    };
    pieces::apart(source, true, |piece, start, end| {
        read(&mut imports, code, start);
        code = end;
        if piece == Piece::Inclusion {
            imports.extend(inclusion(text, start, end));
        }
    });
    read(&mut imports, code, source.len());
    imports
}

fn inclusion(text: &str, start: usize, end: usize) -> Option<Import> {
    let (_, after) = pieces::directive_parts(text.as_bytes(), start, end);
    let rest = text.get(after..end)?.trim_start();
    let module = match rest.as_bytes().first()? {
        b'"' => rest[1..].split('"').next()?,
        b'<' => &rest[..rest.find('>').map_or(rest.trim_end().len(), |close| close + 1)],
        _ => rest.split(|c: char| c.is_whitespace() || c == '/').next()?,
    };
    let length = text[start..end].trim_end().len();
    let span = Span::new(start, start + length);
    Some(Import { span, module: module.to_owned(), name: None, local: None })
}

/// `using namespace a::b;`, `using a::b;`, `using enum a::b;`. An alias takes nothing from elsewhere.
fn declaration(text: &str, at: usize) -> Option<Import> {
    let source = text.as_bytes();
    let inner = at.checked_sub(1).is_some_and(|before| in_word(source[before]));
    if inner || !source.get(at + 5).is_some_and(u8::is_ascii_whitespace) {
        return None;
    }
    let window = &source[at..source.len().min(at + LONGEST)];
    let end = at + memchr::memchr(b';', window)?;
    let start = skip_blanks(source, at + 5);
    let first = source.get(start..bytes::word_end(source, start))?;
    let everything = matches!(first, b"namespace" | b"enum");
    let from = if everything { start + first.len() } else { start };
    let path = text.get(from..end)?.trim();
    let path = path.strip_prefix("typename ").unwrap_or(path);
    let plain = !path.is_empty()
        && path
            .bytes()
            .all(|byte| in_word(byte) || matches!(byte, b':' | b'<' | b'>' | b',' | b' ' | b'~' | b'*'));
    if !plain {
        return None;
    }
    let span = Span::new(at, end + 1);
    if everything {
        return Some(Import { span, module: path.to_owned(), name: Some("*".to_owned()), local: None });
    }
    let (module, name) = path.rsplit_once("::")?;
    let module = if module.is_empty() { "::" } else { module };
    let (name, local) = (Some(name.to_owned()), Some(name.to_owned()));
    Some(Import { span, module: module.to_owned(), name, local })
}

#[cfg(test)]
mod tests {
    use super::imports;

    fn check(text: &str, expect: &[(&str, Option<&str>, Option<&str>)]) {
        let found = imports(text);
        let found: Vec<_> = found
            .iter()
            .map(|import| (import.module.as_str(), import.name.as_deref(), import.local.as_deref()))
            .collect();
        assert_eq!(found, expect, "{text}");
    }

    #[test]
    fn inclusions() {
        check("#include <a/b.h>\n# include \"c.h\" // x\n", &[("<a/b.h>", None, None), ("c.h", None, None)]);
        check(
            "#include CONFIG\n#include_next <x>\n#import \"y\"\n",
            &[("CONFIG", None, None), ("<x>", None, None), ("y", None, None)],
        );
        check("// #include <a>\n/*\n#include <b>\n*/\nchar *s = \"\\\n#include <c>\";", &[]);
        check("#include\n#include \"\n#include <x", &[("", None, None), ("<x", None, None)]);
    }

    #[test]
    fn using() {
        check(
            "using namespace a::b;\nusing c::d;\nusing enum E::F;",
            &[("a::b", Some("*"), None), ("c", Some("d"), Some("d")), ("E::F", Some("*"), None)],
        );
        check("using X = int; using ::f; // using a::b;", &[("::", Some("f"), Some("f"))]);
        check("int using_it; reusing a::b;", &[]);
    }

    #[test]
    fn spans_cover_the_statement() {
        let text = "#include <a> \nusing  a::b ;";
        let found: Vec<&str> = imports(text).iter().map(|import| import.span.slice(text)).collect();
        assert_eq!(found, ["#include <a>", "using  a::b ;"]);
    }
}

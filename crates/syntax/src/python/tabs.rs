//! Indentation that means one thing with wide tabs and another with narrow ones. Python refuses it.

use super::lines::Lines;
use crate::{Problem, Span};

/// The first line whose indentation depends on how wide a tab is.
pub(super) fn inconsistent(text: &str) -> Option<Problem> {
    let bytes = text.as_bytes();
    memchr::memchr(b'\t', bytes)?;
    let mut lines = Lines::new(bytes, 0);
    // How far the open blocks are indented, with tabs of eight columns and of one.
    let mut open = vec![(0u32, 0u32)];
    while let Some((start, wide)) = lines.begin() {
        let from = memchr::memrchr2(b'\n', b'\r', &bytes[..start]).map_or(0, |at| at + 1);
        let narrow =
            bytes[from..start].iter().fold(0, |width, byte| if *byte == 0x0c { 0 } else { width + 1 });
        // An indentation that is joined over lines has its own rules.
        let joined = bytes[from..start].contains(&b'\\') || bytes[..from].ends_with(b"\\\n");
        lines.finish(start);
        if joined {
            continue;
        }
        while open.len() > 1 && open.last().is_some_and(|(outer, _)| wide < *outer) {
            open.pop();
        }
        let (outer, outer_narrow) = open.last().copied().unwrap_or_default();
        let agrees =
            if wide > outer { narrow > outer_narrow } else { wide != outer || narrow == outer_narrow };
        if !agrees {
            let message = "inconsistent use of tabs and spaces in indentation".to_owned();
            return Some(Problem { span: Span::new(from, start), message });
        }
        if wide > outer {
            open.push((wide, narrow));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tabs_and_spaces_must_agree_whatever_a_tab_is() {
        for (text, line) in [
            ("def f():\n\tif 1:\n        pass\n", Some("        ")),
            ("if 1:\n        x\n\ty\n", Some("\t")),
            ("if 1:\n\tx\n\ty\nz\n", None),
            ("if 1:\n\tif 2:\n\t    y\n", None),
            ("if 1:\n    x\n\t# c\n    y\n", None),
            ("if 1:\n    x = (\n\t1)\n    y\n", None),
            ("if 1:\n    x = '''\n\t'''\n    y\n", None),
            ("\x0cif 1:\n\tx\n", None),
            ("if 1:\n    x\n", None),
        ] {
            let found = inconsistent(text);
            assert_eq!(found.as_ref().map(|problem| problem.span.slice(text)), line, "{text:?}");
        }
    }
}

//! TOML: the top-level keys and tables in the order they were written, with what they hold.

use ::toml::de::{DeTable, DeValue};

use super::{DataFormat, count};
use crate::{Entry, Kind, MOST_PARSED, Problem, Span};

/// Keys named of one table.
const KEYS: usize = 12;

/// Each top-level key with its type; tables with the names of their keys.
pub struct Toml;

impl DataFormat for Toml {
    const KIND: Kind = Kind::Key;

    fn read(text: &str, show: &mut dyn FnMut(Entry)) -> Result<(), Problem> {
        // A tree of it takes many times its size.
        if text.len() > MOST_PARSED {
            return Err(Problem { span: Span::at(0), message: "too large to be parsed".into() });
        }
        let table = DeTable::parse(text).map_err(|error| {
            let at = error.span().map_or(0, |span| text.floor_char_boundary(span.start));
            let message = error.message().lines().next().unwrap_or("broken").to_owned();
            Problem { span: Span::at(at), message }
        })?;
        let mut entries: Vec<_> = table.get_ref().iter().collect();
        entries.sort_by_key(|(key, _)| key.span().start);
        for (key, value) in entries {
            let line = text[..key.span().start].rfind('\n').map_or(0, |at| at + 1);
            show(Entry {
                level: 0,
                line: format!("{}: {}", shown(key.get_ref()), shape(value.get_ref())),
                name: key.span().into(),
                whole: Span::at(line),
            });
        }
        Ok(())
    }
}

fn shape(value: &DeValue<'_>) -> String {
    match value {
        DeValue::Table(table) => keys(table),
        DeValue::Array(array) => {
            let tables = !array.is_empty() && array.iter().all(|item| item.get_ref().is_table());
            format!("array of {}", count(array.len(), if tables { "table" } else { "item" }))
        }
        scalar => scalar.type_str().to_owned(),
    }
}

fn keys(table: &DeTable<'_>) -> String {
    if table.is_empty() {
        return "empty table".to_owned();
    }
    let mut keys: Vec<_> = table.keys().collect();
    keys.sort_by_key(|key| key.span().start);
    let names: Vec<&str> = keys.into_iter().take(KEYS).map(|key| shown(key.get_ref())).collect();
    let more = if table.len() > KEYS { ", …" } else { "" };
    format!("table of {} ({}{more})", count(table.len(), "key"), names.join(", "))
}

fn shown(key: &str) -> &str {
    if key.is_empty() { "\"\"" } else { key }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::tests::{broken, outlined, told};

    fn check(text: &str, expect: &str) {
        assert_eq!(told::<Toml>(text), Ok(expect.to_owned()));
    }

    #[test]
    fn keys_and_tables_in_their_order() {
        check("", "");
        check("# only words\n", "");
        check(
            "title = 'x'\nports = [1, 2]\nwhen = 1979-05-27\n[package]\nname = 'a'\nedition = '2024'\n\
             [dependencies]\n[[bin]]\nname='b'\n[[bin]]\nname='c'\n",
            "title: string\nports: array of 2 items\nwhen: datetime\npackage: table of 2 keys (name, edition)\n\
             dependencies: empty table\nbin: array of 2 tables\n",
        );
        check("b.c.d = 1\r\na = true\r\n", "b: table of 1 key (c)\na: boolean\n");
        check("\"\" = 1.5\n'ключ x' = []\n", "\"\": float\nключ x: array of 0 items\n");
        let many: String = (0..20).map(|n| format!("k{n} = 1\n")).collect();
        check(
            &format!("[t]\n{many}"),
            "t: table of 20 keys (k0, k1, k2, k3, k4, k5, k6, k7, k8, k9, k10, k11, …)\n",
        );
    }

    #[test]
    fn what_is_broken_is_placed() {
        let check = |text: &str, line, column| {
            let (at_line, at_column, message) = broken::<Toml>(text);
            assert_eq!((at_line, at_column), (line, column), "{text:?}: {message}");
        };
        check("a = 1\nb = \n", 2, 5);
        check("a = 1\na = 2\n", 2, 1);
        check("x = 'open", 1, 10);
        assert!(told::<Toml>(&"#".repeat(MOST_PARSED + 1)).is_err());
    }

    #[test]
    fn an_entry_goes_on_to_the_next() {
        let text = "# words\na = 1 # one\n\n[[b.c]]\nd = 1\n\n[e]\n";
        assert_eq!(outlined::<Toml>(text), [("a", "a = 1 # one"), ("b", "[[b.c]]\nd = 1"), ("e", "[e]")]);
    }
}

//! TOML: the top-level keys and tables in the order they were written, with what they hold.

use ::toml::de::{DeTable, DeValue};

use super::sheet::{Sheet, Unreadable, count, cut, place};

/// The largest text that is parsed. A tree of it takes many times its size.
const LARGEST: usize = 16 * 1024 * 1024;
/// Keys named of one table.
const KEYS: usize = 12;

/// Each top-level key with its type; tables with the names of their keys.
pub fn summarise(text: &str) -> Result<String, Unreadable> {
    if text.len() > LARGEST {
        return Err(Unreadable { message: "too large to be parsed".into(), line: None, column: None });
    }
    let table = DeTable::parse(text).map_err(|error| {
        let place = error.span().map(|span| place(text, span.start));
        let message = error.message().lines().next().unwrap_or("broken").to_owned();
        Unreadable { message, line: place.map(|place| place.0), column: place.map(|place| place.1) }
    })?;
    let mut sheet = Sheet::new();
    for (key, value) in in_order(table.get_ref()) {
        sheet.line(0, &format!("{}: {}", short(key), shape(value)));
    }
    Ok(sheet.finish())
}

/// What a table holds, in the order of the file.
fn in_order<'t, 'i>(table: &'t DeTable<'i>) -> Vec<(&'t str, &'t DeValue<'i>)> {
    let mut entries: Vec<_> = table.iter().collect();
    entries.sort_by_key(|(key, _)| key.span().start);
    entries.into_iter().map(|(key, value)| (key.get_ref().as_ref(), value.get_ref())).collect()
}

fn shape(value: &DeValue<'_>) -> String {
    match value {
        DeValue::Table(table) => keys(table),
        DeValue::Array(array) => {
            let tables = !array.is_empty() && array.iter().all(|item| item.get_ref().is_table());
            match (tables, array.len()) {
                (true, length) => format!("array of {}", count(length, "table")),
                (false, length) => format!("array of {}", count(length, "item")),
            }
        }
        scalar => scalar.type_str().to_owned(),
    }
}

fn keys(table: &DeTable<'_>) -> String {
    if table.is_empty() {
        return "empty table".to_owned();
    }
    let names: Vec<String> = in_order(table).into_iter().take(KEYS).map(|(key, _)| short(key)).collect();
    let more = if table.len() > KEYS { ", …" } else { "" };
    format!("table of {} ({}{more})", count(table.len(), "key"), names.join(", "))
}

/// A key on one line.
fn short(key: &str) -> String {
    if key.is_empty() { "\"\"".to_owned() } else { cut(key) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: &str) {
        assert_eq!(summarise(text), Ok(expect.to_owned()));
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
            let broken = summarise(text).expect_err("broken");
            assert_eq!((broken.line, broken.column), (Some(line), Some(column)), "{text:?}: {broken}");
        };
        check("a = 1\nb = \n", 2, 5);
        check("a = 1\na = 2\n", 2, 1);
        check("x = 'open", 1, 10);
        assert!(summarise(&"#".repeat(LARGEST + 1)).is_err());
    }
}

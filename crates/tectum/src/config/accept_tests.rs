//! The values that every shape of key takes and refuses.

use super::{super::keys, *};

fn read(key: &Key, text: &str) -> Result<Value, String> {
    let base = Base { directory: Path::new("/project"), home: Some(Path::new("/home/me")) };
    let mut problems = Vec::new();
    let value = Written::from_text(key, text, Origin::Default).accept(key, base, &mut problems);
    value.ok_or_else(|| {
        format!("{} ({})", problems[0].message, problems[0].hint.as_deref().unwrap_or_default())
    })
}

fn texts(key: &Key, text: &str) -> Vec<String> {
    match read(key, text) {
        Ok(Value::List(items)) => items.into_iter().map(|item| item.text).collect(),
        other => panic!("{text}: {other:?}"),
    }
}

#[test]
fn sizes() {
    for (text, bytes) in [("2048", 2048), ("50k", 51_200), ("64M", 64 << 20), ("1 GiB", 1 << 30)] {
        assert_eq!(read(&keys::MAX_FILE, text), Ok(Value::Number(bytes)), "{text}");
    }
    for text in ["", "k", "50x", "-5k", "1.5M", "99999999999999G", "0"] {
        read(&keys::MAX_FILE, text).expect_err(text);
    }
}

#[test]
fn times() {
    let key = &super::super::servers::keys::TIMEOUT;
    for (text, milliseconds) in
        [("1", 1000), ("90s", 90_000), ("5m", 300_000), ("1500ms", 1500), ("2 h", 7_200_000)]
    {
        assert_eq!(read(key, text), Ok(Value::Number(milliseconds)), "{text}");
    }
    for text in ["", "s", "0", "999ms", "25h", "-1s", "1.5m", "soon", "99999999999999999h"] {
        read(key, text).expect_err(text);
    }
}

#[test]
fn a_wrong_value_is_told_what_to_write() {
    let check = |key: &Key, text: &str, expect: &str| {
        assert_eq!(read(key, text).expect_err(text), expect);
    };
    check(
        &keys::SYMLINKS,
        "always",
        r#"`workspace.symlinks` must be one of "inside", "never", got the text "always" (write symlinks = "inside")"#,
    );
    check(
        &keys::NATIVE,
        "yes",
        r#"`tools.native` must be true or false, got the text "yes" (write native = true or native = false)"#,
    );
    check(
        &keys::LISTEN,
        "localhost",
        r#"`http.listen` must be an IP address with a port, got the text "localhost" (write listen = "127.0.0.1:8999")"#,
    );
    check(
        &keys::VERSION,
        "2",
        "`version` must be 1, got the number 2 (this version supports only version = 1)",
    );
    check(
        &keys::THREADS,
        "0",
        "`tools.threads` must be a whole number from 1 to 256, got the number 0 (write threads = 1)",
    );
}

#[test]
fn a_list_splits_at_plain_commas_only() {
    assert_eq!(texts(&keys::DENY, "*.{pem,key}, secrets/**"), ["*.{pem,key}", "secrets/**"]);
    assert_eq!(texts(&keys::ALLOW, "shell(a, b),read_*"), ["shell(a, b)", "read_*"]);
}

#[test]
fn paths_become_absolute() {
    let found = texts(&keys::ROOTS, ".,src,../other,/etc,~/notes,~");
    let expect = ["/project", "/project/src", "/project/../other", "/etc", "/home/me/notes", "/home/me"];
    assert_eq!(found, expect);
}

#[test]
fn entries_are_checked_one_by_one() {
    assert!(read(&keys::DENY, "a[").expect_err("refused").contains("`a[` is not a pattern"));
    assert!(read(&keys::ALLOW, "edit_file(x").expect_err("refused").contains("not a rule"));
    assert!(read(&keys::ALLOW, "a,,b").expect_err("refused").contains("an entry is empty"));
}

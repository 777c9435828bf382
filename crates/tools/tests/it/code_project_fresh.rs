//! What was found out stays true: every change shows in the next answer, watched or not.

use serde_json::json;

use crate::{
    code_project_rig::{BOTH, By, Shop},
    files_rig::run,
};

const WORD: &str = "word()\n";

#[tokio::test]
async fn changes_from_outside_show_at_once() {
    for by in BOTH {
        let shop = Shop::by(by, &[("a.py", WORD), ("sub/b.py", WORD), ("c.py", "other()\n")]);
        assert_eq!(shop.places("word").await, ["a.py:1 call", "sub/b.py:1 call"], "{by:?}");
        shop.write("c.py", "\nword()\n");
        assert_eq!(shop.places("word").await, ["a.py:1 call", "c.py:2 call", "sub/b.py:1 call"], "{by:?}");
        shop.write("a.py", "same_()\n");
        assert_eq!(shop.places("word").await, ["c.py:2 call", "sub/b.py:1 call"], "{by:?}");
        run("mv", &["c.py", "sub/d.py"], shop.root());
        assert_eq!(shop.places("word").await, ["sub/b.py:1 call", "sub/d.py:2 call"], "{by:?}");
        run("rm", &["sub/b.py"], shop.root());
        assert_eq!(shop.places("word").await, ["sub/d.py:2 call"], "{by:?}");
        shop.write("new/deep/e.py", WORD);
        assert_eq!(shop.places("word").await, ["new/deep/e.py:1 call", "sub/d.py:2 call"], "{by:?}");
        shop.write("new/deep/f.py", WORD);
        assert_eq!(shop.places("word").await.len(), 3, "a folder that came later is known too: {by:?}");
        run("mv", &["new/deep", "moved"], shop.root());
        let moved = ["moved/e.py:1 call", "moved/f.py:1 call", "sub/d.py:2 call"];
        assert_eq!(shop.places("word").await, moved, "{by:?}");
        run("rm", &["-r", "moved", "sub"], shop.root());
        assert!(shop.places("word").await.is_empty(), "{by:?}");
    }
}

#[tokio::test]
async fn a_change_of_the_same_size_in_the_same_moment_shows() {
    for by in BOTH {
        let shop = Shop::by(by, &[("a.py", "aaaa()\n")]);
        for n in 0..20 {
            let (now, gone) = if n % 2 == 0 { ("aaaa", "bbbb") } else { ("bbbb", "aaaa") };
            shop.write("a.py", format!("{now}()\n"));
            assert_eq!(shop.places(now).await, ["a.py:1 call"], "{by:?}");
            assert!(shop.places(gone).await.is_empty(), "{by:?}");
        }
    }
}

#[tokio::test]
async fn rules_that_change_list_anew() {
    for by in BOTH {
        let shop = Shop::by(by, &[("a.py", WORD), ("sub/b.py", WORD), ("sub/deep/c.py", WORD)]);
        assert_eq!(shop.places("word").await.len(), 3, "{by:?}");
        shop.write("sub/.gitignore", "deep/\n");
        assert_eq!(shop.places("word").await, ["a.py:1 call", "sub/b.py:1 call"], "{by:?}");
        shop.write("sub/.ignore", "b.py\n!deep/\n");
        assert_eq!(shop.places("word").await, ["a.py:1 call", "sub/deep/c.py:1 call"], "{by:?}");
        run("rm", &["sub/.gitignore", "sub/.ignore"], shop.root());
        assert_eq!(shop.places("word").await.len(), 3, "{by:?}");
        // A repository's own excludes lie where no watch looks.
        shop.write(".git/info/exclude", "a.py\n");
        assert_eq!(shop.places("word").await.len(), 2, "{by:?}");
        shop.write(".git/info/exclude", "# nothing here\n");
        assert_eq!(shop.places("word").await.len(), 3, "{by:?}");
    }
}

#[tokio::test]
async fn rules_above_the_start_count_and_change() {
    for by in BOTH {
        let shop = Shop::by(by, &[("sub/a.py", WORD), ("sub/b.py", WORD)]);
        let count = async || {
            let data = shop.data("usages", json!({"path": "sub", "name": "word"})).await;
            data["matches"].as_array().expect("a list").len()
        };
        assert_eq!(count().await, 2, "{by:?}");
        shop.write(".gitignore", "b.py\n");
        assert_eq!(count().await, 1, "{by:?}");
        shop.write(".gitignore", "nothing.py\n");
        assert_eq!(count().await, 2, "{by:?}");
    }
}

#[tokio::test]
async fn the_house_sees_its_own_edits() {
    for by in BOTH {
        let shop = Shop::by(by, &[("a.py", WORD)]);
        assert_eq!(shop.places("word").await, ["a.py:1 call"], "{by:?}");
        shop.text("edit_file", json!({"path": "a.py", "old_string": "word", "new_string": "verb"})).await;
        assert!(shop.places("word").await.is_empty(), "{by:?}");
        assert_eq!(shop.places("verb").await, ["a.py:1 call"], "{by:?}");
        shop.text("write_file", json!({"path": "new/b.py", "content": "word()\n"})).await;
        assert_eq!(shop.places("word").await, ["new/b.py:1 call"], "{by:?}");
        shop.text("move_file", json!({"source": "new", "destination": "old"})).await;
        assert_eq!(shop.places("word").await, ["old/b.py:1 call"], "{by:?}");
    }
}

#[tokio::test]
async fn a_change_through_another_name_shows() {
    for by in BOTH {
        let shop = Shop::by(by, &[("in/a.py", WORD), ("x", "")]);
        run("ln", &["in/a.py", "other.txt"], shop.root());
        let ask = async |name: &str| {
            let data = shop.data("usages", json!({"path": "in", "name": name})).await;
            data["total"].as_u64().expect("a number")
        };
        assert_eq!((ask("word").await, ask("verb").await), (1, 0), "{by:?}");
        shop.write("other.txt", "verb()\n");
        assert_eq!((ask("word").await, ask("verb").await), (0, 1), "{by:?}");
    }
}

#[tokio::test]
async fn heavy_a_queue_that_ran_over_loses_nothing() {
    let shop = Shop::with(&[("a.py", WORD), ("sub/b.py", "x\n")]);
    assert_eq!(shop.places("word").await, ["a.py:1 call"]);
    shop.write("sub/b.py", WORD);
    shop.write("one.txt", "");
    let (one, two) = (shop.path("one.txt"), shop.path("two.txt"));
    for _ in 0..6_000 {
        rename(&one, &two);
        rename(&two, &one);
    }
    shop.write("a.py", "gone\n");
    assert_eq!(shop.places("word").await, ["sub/b.py:1 call"]);
    shop.write("a.py", WORD);
    assert_eq!(shop.places("word").await, ["a.py:1 call", "sub/b.py:1 call"], "and it is watched again");
}

#[expect(clippy::disallowed_methods, reason = "the test makes more changes than a queue holds")]
fn rename(from: &std::path::Path, to: &std::path::Path) {
    std::fs::rename(from, to).expect("renamed");
}

#[tokio::test]
async fn every_tool_sees_the_change() {
    for by in BOTH {
        let shop =
            Shop::by(by, &[("a.py", "class Base: pass\nclass Sub(Base): pass\n\ndef run():\n    go()\n")]);
        let ask = async || {
            let classes =
                shop.data("hierarchy", json!({"path": ".", "class_name": "Base"})).await["total"].clone();
            let calls = shop.data("calls", json!({"target": "run"})).await["external"].clone();
            let map = shop.data("map", json!({})).await["total_symbols"].clone();
            (classes, calls, map)
        };
        assert_eq!(ask().await, (json!(1), json!(1), json!(3)), "{by:?}");
        shop.write("b.py", "from a import Sub\nclass More(Sub): pass\ndef go(): pass\n");
        assert_eq!(ask().await, (json!(2), json!(0), json!(5)), "{by:?}");
        shop.write("a.py", "class Base: pass\ndef run():\n    go()\n");
        assert_eq!(ask().await, (json!(0), json!(0), json!(4)), "{by:?}");
    }
}

#[tokio::test]
async fn without_a_watch_the_answer_stays_the_same() {
    // Without a watch nothing is kept of files that changed just now; the answers are the same.
    let shop = Shop::by(By::Stamps, &[("a.py", WORD)]);
    for _ in 0..3 {
        assert_eq!(shop.places("word").await, ["a.py:1 call"]);
    }
}

//! What was learned under one policy is never told under another, protected files are never
//! read, and questions do not disturb each other.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use serde_json::{json, value::RawValue};
use tectum_core::{Call, FaultKind, Origin, Rule, Rules, SessionId, security::Allowlist};
use tectum_tools::Settings;

use crate::{
    code_project_rig::{BOTH, Shop, house, places},
    files_rig::{call, run},
};

const FILES: &[(&str, &str)] = &[("a.py", "word()\n"), ("secret/b.py", "word()\nclass Hidden: pass\n")];

fn rules(deny: &[&str]) -> Rules {
    let parse = |text: &&str| Rule::parse(text, Origin { file: None, line: 0 }).expect("a rule");
    Rules { deny: deny.iter().map(parse).collect(), ..Rules::default() }
}

#[tokio::test]
async fn another_allowlist_does_not_see_what_is_known() {
    for by in BOTH {
        let shop = Shop::by(by, FILES);
        let settings = Settings::default();
        let open = || Allowlist::builder().base(shop.root());
        let strict = house(&shop.code, &settings, open().deny(["secret/**", "secret"]), Rules::default());
        assert_eq!(shop.places("word").await, ["a.py:1 call", "secret/b.py:1 call"], "{by:?}");
        assert_eq!(places(&strict, "word").await, ["a.py:1 call"], "{by:?}");
        assert_eq!(shop.places("word").await.len(), 2, "{by:?}");
        let (text, data) = call(&strict, "map", json!({})).await.expect("works");
        assert!(!format!("{text}{data}").contains("Hidden"), "{text}");
        let (text, _) = call(&shop.house, "map", json!({})).await.expect("works");
        assert!(text.contains("Hidden"), "{text}");
        let fault = call(&strict, "hierarchy", json!({"path": ".", "class_name": "Hidden"})).await;
        assert_eq!(fault.expect_err("unknown there").kind, FaultKind::NotFound);
    }
}

#[tokio::test]
async fn rules_hide_from_one_tool_what_another_sees() {
    for by in BOTH {
        let shop = Shop::by(by, FILES);
        let list = Allowlist::builder().base(shop.root());
        let ruled = house(&shop.code, &Settings::default(), list, rules(&["usages(secret/**)"]));
        for _ in 0..2 {
            assert_eq!(shop.places("word").await.len(), 2, "{by:?}");
            assert_eq!(places(&ruled, "word").await, ["a.py:1 call"], "{by:?}");
            let (_, data) =
                call(&ruled, "py_usages", json!({"path": ".", "name": "word"})).await.expect("works");
            assert_eq!(data["total"], 2, "the rule is about the other tool: {by:?}");
        }
    }
}

#[tokio::test]
async fn protected_files_and_links_are_never_read() {
    for by in BOTH {
        let shop = Shop::by(by, &[("a.py", "word()\n"), (".env", "word = 'in the secret'\n")]);
        let outside = tempfile::tempdir().expect("a scratch directory");
        run("sh", &["-c", "echo 'word(outside)' > o.py"], outside.path());
        let target = outside.path().join("o.py");
        run("ln", &["-s", target.to_str().expect("UTF-8"), "link.py"], shop.root());
        run("ln", &["-s", outside.path().to_str().expect("UTF-8"), "linked"], shop.root());
        run("ln", &[".env", "alias.py"], shop.root());
        for _ in 0..2 {
            let (text, data) =
                shop.call("usages", json!({"path": ".", "name": "word"})).await.expect("works");
            assert!(!format!("{text}{data}").contains("secret"), "{by:?}: {text}");
            assert!(!text.contains("outside"), "{by:?}: {text}");
            assert_eq!(data["matches"].as_array().expect("a list").len(), 1, "{by:?}: {text}");
            assert_eq!(data["skipped"]["unreadable"], 1, "the alias is counted: {by:?}");
        }
        // What takes a known file's place is judged like everything else.
        run("sh", &["-c", "rm a.py && ln -s .env a.py"], shop.root());
        assert!(shop.places("word").await.is_empty(), "{by:?}");
        run("sh", &["-c", "rm a.py && ln .env a.py"], shop.root());
        assert!(shop.places("word").await.is_empty(), "{by:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn questions_at_the_same_time_all_get_the_truth() {
    for by in BOTH {
        let names: Vec<String> = (0..60).map(|n| format!("{n:02}.py")).collect();
        let shop = Arc::new(Shop::by(by, &[]));
        names.iter().for_each(|name| shop.write(name, "word()\nclass Sub(Base): pass\n"));
        let done = Arc::new(AtomicBool::new(false));
        let writer = {
            let (shop, done) = (shop.clone(), done.clone());
            std::thread::spawn(move || {
                for n in 0.. {
                    if done.load(Ordering::Relaxed) {
                        break;
                    }
                    shop.write("busy.py", format!("other_{n}()\n"));
                    shop.write(&format!("came/{}.py", n % 7), "x = 1\n");
                }
            })
        };
        let ask = |tool: &'static str, args: serde_json::Value| {
            let shop = shop.clone();
            tokio::spawn(async move {
                for _ in 0..8 {
                    let data = shop.data(tool, args.clone()).await;
                    assert_eq!(data["total"], 60);
                }
            })
        };
        let usages = json!({"path": ".", "name": "word"});
        let classes = json!({"path": ".", "class_name": "Base"});
        let tasks = [ask("usages", usages.clone()), ask("hierarchy", classes), ask("usages", usages)];
        for task in tasks {
            task.await.expect("every answer is right");
        }
        done.store(true, Ordering::Relaxed);
        writer.join().expect("ends");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancelled_question_ends_and_the_next_is_right() {
    for by in BOTH {
        let shop = Shop::by(by, &[]);
        (0..3_000).for_each(|n| shop.write(&format!("{}/{n}.py", n % 10), "word()\n"));
        let raw = RawValue::from_string(json!({"path": ".", "name": "word"}).to_string()).expect("JSON");
        let mut asked = Call::new(SessionId::new("test"), "usages", raw);
        let cancel = asked.cancel.clone();
        asked.progress = tectum_core::Progress::to(move |_| cancel.cancel());
        let outcome = shop.house.call(asked).await;
        assert_eq!(outcome.result.expect_err("cancelled").kind, FaultKind::Cancelled, "{by:?}");
        let data = shop.data("usages", json!({"path": ".", "name": "word"})).await;
        assert_eq!((&data["total"], &data["files"]), (&json!(3_000), &json!(3_000)), "{by:?}");
    }
}

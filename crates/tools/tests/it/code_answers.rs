//! Promises of the code readers: who derives, calls and uses what, and replies that are whole.

use serde_json::json;
use tectum_core::FaultKind;

use crate::edit_rig::Desk;

#[tokio::test]
async fn classes_that_derive_by_an_import_alias_are_found() {
    let desk = Desk::new();
    desk.put("core.py", "class Base: pass\n");
    desk.put("x.py", "from core import Base as B\n\n\nclass Child(B): pass\n");
    desk.put("y.py", "from x import Child as Base2\n\n\nclass Grandchild(Base2): pass\n");
    desk.put("z.py", "class B: pass\n\n\nclass Other(B): pass\n");
    let (text, data) = desk.works("code_hierarchy", json!({"path": ".", "class_name": "Base"})).await;
    assert!(text.contains("Child(B) x.py:4") && text.contains("Grandchild(Base2) y.py:4"), "{text}");
    assert_eq!((&data["direct"], &data["total"]), (&json!(1), &json!(2)), "{text}");
}

#[tokio::test]
async fn calls_of_imported_java_classes_are_followed() {
    let desk = Desk::new();
    desk.put("com/ex/a/Token.java", "package com.ex.a;\n\npublic class Token {\n  public static Token get(String s) { return parse(s); }\n  static Token parse(String s) { return null; }\n}\n");
    desk.put("com/ex/b/Main.java", "package com.ex.b;\n\nimport com.ex.a.Token;\n\nclass Main {\n  void run(String s) { Token.get(s); new Token(); List.of(s); }\n}\n");
    let (text, _) = desk.works("derive_code_path", json!({"target": "Main.run"})).await;
    assert!(text.contains("Token.get (com/ex/a/Token.java:4)"), "{text}");
    assert!(text.contains("Token (com/ex/a/Token.java:3)"), "{text}");
    assert!(text.contains("Token.parse (com/ex/a/Token.java:5)"), "{text}");
    assert!(text.contains("List.of [external]"), "{text}");
}

#[tokio::test]
async fn no_call_is_invented() {
    let desk = Desk::new();
    desk.put("q.rs", "struct Query;\nimpl Query { fn unwrap(self) {} fn special(self) {} }\nfn run(x: Option<u8>) { x.unwrap(); x.special(); }\n");
    let (text, _) = desk.works("derive_code_path", json!({"target": "q.rs::run"})).await;
    assert!(text.contains("x::unwrap [external]") && text.contains("Query::special (q.rs:2)"), "{text}");
    desk.put("h.py", "def fire(hooks, d):\n    for hook in hooks:\n        hook(d)\n    helper(d)\n");
    desk.put("tests/test_h.py", "def hook(d): pass\n\n\ndef helper(d): pass\n");
    let (text, _) = desk.works("derive_code_path", json!({"target": "fire"})).await;
    assert!(text.contains("hook [external]") && text.contains("helper [external]"), "{text}");
    desk.put("g.py", "def hook(d): pass\n");
    let (text, _) = desk.works("derive_code_path", json!({"target": "fire"})).await;
    assert!(text.contains("hook [external]"), "{text}");
}

#[tokio::test]
async fn calls_of_members_are_told_from_plain_ones() {
    let desk = Desk::new();
    desk.put("a.py", "def run(): pass\n\n\nrun()\nobj.run()\nobj.run\n");
    desk.put("a.ts", "run();\nobj.run();\n");
    let (text, _) = desk.works("code_usages", json!({"path": ".", "name": "run"})).await;
    for line in [
        "a.py:4: [call] run()",
        "a.py:5: [member_call] obj.run()",
        "a.py:6: [attribute] obj.run",
        "a.ts:1: [call]",
        "a.ts:2: [member_call]",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
    assert!(text.contains("2 calls, 2 member calls"), "{text}");
    let (_, calls) = desk.works("code_usages", json!({"path": ".", "name": "run", "roles": ["call"]})).await;
    assert_eq!(calls["total"], 4);
    let only = json!({"path": ".", "name": "run", "roles": ["member_call"]});
    assert_eq!(desk.works("code_usages", only).await.1["total"], 2);
}

#[tokio::test]
async fn bases_are_shown_with_their_arguments() {
    let desk = Desk::new();
    desk.put(
        "a.ts",
        "class A<T> extends Base<T, () => void> implements I<T> {}\nclass B extends A<string> {}\n",
    );
    let (text, _) = desk.works("code_outline", json!({"path": "a.ts"})).await;
    assert!(
        text.contains("extends Base<T, () => void>, I<T>") && text.contains("extends A<string>"),
        "{text}"
    );
    let (text, data) = desk.works("code_hierarchy", json!({"path": ".", "class_name": "A"})).await;
    assert_eq!(data["total"], 1, "{text}");
}

#[tokio::test]
async fn a_name_that_is_not_there_offers_those_that_are() {
    let desk = Desk::new();
    desk.put("a.py", "class Car:\n    def drive(self): pass\n\n\ndef park(): pass\n");
    let args = json!({"path": "a.py", "name": "zzzzzz"});
    let text = desk.fails("code_definition", args, FaultKind::NotFound).await;
    assert!(text.contains("it defines Car, park, Car.drive"), "{text}");
}

#[tokio::test]
async fn a_map_keeps_its_budget_with_its_last_line() {
    let desk = Desk::new();
    for n in 0..40 {
        desk.put(
            &format!("m{n}.py"),
            format!("class Thing{n}:\n    def work_{n}(self): pass\n\n\nThing{}()\n", (n + 1) % 40),
        );
    }
    for budget in [64, 256, 1024] {
        let (text, data) = desk.works("get_repo_map", json!({"budget_tokens": budget})).await;
        assert!(text.len() <= budget * 4, "{} bytes of {budget} tokens:\n{text}", text.len());
        assert!(data["tokens"].as_u64().is_some_and(|tokens| tokens <= budget as u64), "{text}");
    }
}

#[tokio::test]
async fn a_check_by_a_grammar_says_whose_opinion_it_is() {
    let desk = Desk::new();
    desk.put("a.ts", "let a = ;\n");
    desk.put("a.py", "def f(:\n");
    let (text, data) = desk.works("code_check", json!({"path": "a.ts"})).await;
    assert!(
        text.starts_with("Not understood in a.ts line 1") && text.contains("the compiler decides"),
        "{text}"
    );
    assert!(data["opinion"].is_string());
    let (text, data) = desk.works("code_check", json!({"path": "a.py"})).await;
    assert!(text.starts_with("SyntaxError in a.py line 1") && data["opinion"].is_null(), "{text}");
}

/// Name, description and input schema of the tools that a filter takes, as a client is told them.
fn listed(wanted: impl Fn(&str) -> bool) -> Vec<(String, usize)> {
    let tools = tectum_native::NativeSet::new(tectum_tools::catalog(&tectum_tools::Settings::default()));
    let size = |info: &tectum_core::ToolInfo| {
        let told = json!({"name": &*info.name, "description": &*info.description, "inputSchema": &*info.input_schema});
        (info.name.to_string(), told.to_string().len())
    };
    tectum_core::Provider::tools(&tools).iter().filter(|info| wanted(&info.name)).map(size).collect()
}

#[test]
fn the_code_tools_cost_a_client_little() {
    let others = ["derive_code_path", "get_repo_map"];
    let neutral = listed(|name| name.starts_with("code_") || others.contains(&name));
    let bytes: usize = neutral.iter().map(|(_, bytes)| bytes).sum();
    println!("{} code tools take {bytes} bytes: {neutral:?}", neutral.len());
    assert_eq!(neutral.len(), 15);
    assert!(bytes <= 6 * 1024, "{} code tools take {bytes} bytes: {neutral:?}", neutral.len());
    let aliases = listed(|name| name.starts_with("py_") || name.starts_with("ts_"));
    let bytes: usize = aliases.iter().map(|(_, bytes)| bytes).sum();
    println!("{} aliases take {bytes} bytes: {aliases:?}", aliases.len());
    assert!(bytes <= 400 * aliases.len(), "{} aliases take {bytes} bytes: {aliases:?}", aliases.len());
}

#[tokio::test]
async fn a_definition_says_where_it_stands() {
    let desk = Desk::new();
    desk.put("a.py", "x = 1\n\n\nclass A:\n    def f(self):\n        return 1\n");
    let (text, _) = desk.works("code_definition", json!({"path": "a.py", "name": "A.f"})).await;
    assert_eq!(text, "    def f(self):\n        return 1\n[a.py:5-6 method A.f]");
    let (text, _) = desk.works("code_signature", json!({"path": "a.py", "name": "A.f"})).await;
    assert_eq!(text, "def f(self):\n[a.py:5-6 method A.f]");
}

#[tokio::test]
async fn what_is_too_long_for_one_reply_can_be_continued() {
    let desk = Desk::new();
    let mut class = String::from("class Big:\n");
    (0..9_000).for_each(|n| class.push_str(&format!("    def method_{n}(self): return {n}  # padding\n")));
    desk.put("big.py", &class);
    let (text, data) = desk.works("code_definition", json!({"path": "big.py", "name": "Big"})).await;
    let next = data["found"][0]["next_line"].as_u64().expect("the rest begins somewhere");
    let pointer = format!("get_file_slice path=big.py start_line={next} end_line=9001");
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].contains(&pointer) && lines[lines.len() - 1].contains(&pointer), "{}", lines[0]);
    assert_eq!(lines[lines.len() - 2], "[big.py:1-9001 class Big]");
    let last = lines[lines.len() - 3];
    assert_eq!(last, class.lines().nth(next as usize - 2).expect("there"));
    for tool in ["code_outline", "code_skeleton"] {
        let (mut shown, mut from) = (0, 0);
        loop {
            let (text, data) = desk.works(tool, json!({"path": "big.py", "from_line": from})).await;
            assert!(text.len() <= 256 * 1024, "{tool}: {}", text.len());
            shown += text.matches("method_").count();
            let Some(next) = data["next_line"].as_u64() else { break };
            let (first, last) = (text.lines().next().expect("one"), text.lines().last().expect("one"));
            assert!(
                first.contains("follow") && last.contains(&format!("from_line={next}")),
                "{first}\n{last}"
            );
            assert!(next > from, "{tool} goes on");
            from = next;
        }
        assert_eq!(shown, 9_000, "{tool}");
    }
}

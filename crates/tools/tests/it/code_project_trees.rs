//! Classes, calls and the map of a project, in several languages.

use serde_json::{Value, json};
use tectum_core::FaultKind;

use crate::code_project_rig::Shop;

#[tokio::test]
async fn subclasses_are_listed_the_nearest_first() {
    let shop = Shop::with(&[
        ("base.py", "class Base(object):\n    pass\n"),
        ("pkg/one.py", "import base\n\nclass One(base.Base):\n    class Inner(One): pass\n"),
        (
            "pkg/two.py",
            "from .one import One\nclass Two(One, Mixin): pass\nclass Loop(Two): pass\nclass Two2(Loop): pass\n",
        ),
        ("far.py", "class Far(Unrelated): pass\n"),
        ("cycle.py", "class A(B): pass\nclass B(A): pass\n"),
    ]);
    let text = shop.text("hierarchy", json!({"path": ".", "class_name": "Base"})).await;
    let expect = "\
Base(object) base.py:1
  One(base.Base) pkg/one.py:3
    One.Inner(One) pkg/one.py:4
    Two(One, Mixin) pkg/two.py:2
      Loop(Two) pkg/two.py:3
        Two2(Loop) pkg/two.py:4
5 subclasses of `Base`: 1 direct, 4 further down";
    assert_eq!(text, expect);
    let data = shop.data("hierarchy", json!({"path": ".", "class_name": "A"})).await;
    assert_eq!(data["total"], 2, "a circle is cut");
    let data = shop.data("hierarchy", json!({"path": "pkg/two.py", "class_name": "Two"})).await;
    assert_eq!(data["total"], 2);
    let fault =
        shop.call("hierarchy", json!({"path": ".", "class_name": "Nobody"})).await.expect_err("unknown");
    assert_eq!(fault.kind, FaultKind::NotFound);
    let text = shop.text("hierarchy", json!({"path": ".", "class_name": "Unrelated"})).await;
    assert!(text.contains("note: `Unrelated` itself is not defined here"), "{text}");
}

#[tokio::test]
async fn names_with_several_meanings_are_told() {
    let shop = Shop::with(&[
        ("a.py", "class Base: pass\nclass Sub(Base): pass\n"),
        ("b.py", "class Base: pass\nclass Sub(Base): pass\nclass Low(Sub): pass\n"),
    ]);
    let text = shop.text("hierarchy", json!({"path": ".", "class_name": "Base"})).await;
    assert!(text.contains("note: 2 classes are named `Base` (a.py:1, b.py:1)"), "{text}");
    assert!(text.contains("Sub(Base) a.py:2 [ambiguous: 2 classes of this name]"), "{text}");
    assert!(text.contains("    Low(Sub) b.py:3\n"), "{text}");
}

#[tokio::test]
async fn traits_and_interfaces_have_implementors() {
    let shop = Shop::with(&[
        (
            "a.rs",
            "trait Shape { fn area(&self); }\nstruct Disc;\nimpl Shape for Disc { fn area(&self) {} }\n",
        ),
        ("A.java", "interface Runner {}\nclass Fast implements Runner {}\nclass Faster extends Fast {}\n"),
        ("a.ts", "interface Named {}\nclass Person implements Named {}\n"),
    ]);
    for (class, expect) in
        [("Shape", vec!["Disc"]), ("Runner", vec!["Fast", "Faster"]), ("Named", vec!["Person"])]
    {
        let data = shop.data("hierarchy", json!({"path": ".", "class_name": class})).await;
        let names: Vec<&str> = data["subclasses"]
            .as_array()
            .expect("a list")
            .iter()
            .filter_map(|class| class["name"].as_str())
            .collect();
        assert_eq!(names, expect, "{class}");
    }
}

#[tokio::test]
async fn many_names_are_followed_as_well_as_few() {
    let mut files = vec![("base.py".to_owned(), "class Base: pass\n".to_owned())];
    for n in 0..12 {
        files.push((format!("sub{n}.py"), format!("class Sub{n}(Base): pass\n")));
        files.push((format!("low{n}.py"), format!("class Low{n}(Sub{n}): pass\n")));
        files.push((format!("far{n}.ts"), format!("class Far{n} extends Low{n} {{}}\n")));
    }
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let shop = Shop::with(&files);
    for _ in 0..2 {
        let data = shop.data("hierarchy", json!({"path": ".", "class_name": "Base"})).await;
        assert_eq!((&data["direct"], &data["total"]), (&json!(12), &json!(36)));
    }
}

const MAIN: &str = "\
import json
import lib.tools as tools
from lib.base import Base, make

def main():
    make()
    tools.fix(1)
    json.dumps({})
    unknown.thing()
    worker = Worker()
    worker.start()
    make()

class Worker(Base):
    def __init__(self):
        self.reset()

    def start(self):
        def inner():
            self.start()
        inner()
        self.stop()
";

fn project() -> Shop {
    Shop::with(&[
        ("main.py", MAIN),
        ("lib/__init__.py", ""),
        (
            "lib/base.py",
            "class Base:\n    def reset(self):\n        pass\n    def stop(self):\n        make()\n\ndef make():\n    pass\n",
        ),
        ("lib/tools.py", "def fix(x):\n    return twice(x)\n\ndef twice(x):\n    return fix(x)\n"),
        (
            "other.py",
            "class X:\n    def go(self): pass\nclass Y:\n    def go(self): pass\ndef run(a):\n    a.go()\n    ValueError.go(a)\n",
        ),
        ("node_modules/m/main.py", "def main(): pass\n"),
    ])
}

#[tokio::test]
async fn calls_are_followed_by_name() {
    let text = project().text("calls", json!({"target": "main"})).await;
    let expect = "\
main (main.py:5)
├─ make (lib/base.py:7) ×2
├─ fix (lib/tools.py:1)
│ └─ twice (lib/tools.py:4)
│   └─ fix (lib/tools.py:1) [recursive]
├─ json.dumps [external]
├─ unknown.thing [external]
├─ Worker (main.py:14)
│ └─ Base.reset (lib/base.py:2)
└─ Worker.start (main.py:18)
  ├─ Worker.start.inner (main.py:19)
  │ └─ Worker.start (main.py:18) [recursive]
  └─ Base.stop (lib/base.py:4)
    └─ make (lib/base.py:7)
";
    assert!(text.starts_with(expect), "{text}");
    assert!(text.contains("2 unresolved: 2 external, 0 ambiguous"), "{text}");
}

#[tokio::test]
async fn depth_ambiguity_and_targets() {
    let shop = project();
    let text = shop.text("calls", json!({"target": "tools.fix", "max_depth": 1})).await;
    assert!(text.contains("└─ twice (lib/tools.py:4) [max depth]"), "{text}");
    let text = shop.text("calls", json!({"target": "other.py::run"})).await;
    assert!(text.contains("├─ a.go [ambiguous: 2] other.py:2, other.py:4"), "{text}");
    assert!(text.contains("└─ ValueError.go [external]"), "{text}");
    for target in ["Worker.start", "main.Worker.start", "main.py::Worker.start"] {
        let data = shop.data("calls", json!({"target": target})).await;
        assert_eq!(data["nodes"][0]["name"], "Worker.start", "{target}");
    }
    let fault = shop.call("calls", json!({"target": "go"})).await.expect_err("two of them");
    assert_eq!(fault.kind, FaultKind::Conflict);
    assert!(fault.text().contains("other.py::X.go (line 2)\n  other.py::Y.go (line 4)"), "{}", fault.text());
    let data = shop.data("calls", json!({"target": "other.py::X.go"})).await;
    assert_eq!(data["nodes"].as_array().expect("a list").len(), 1);
    let fault = shop.call("calls", json!({"target": "mainn"})).await.expect_err("unknown");
    assert!(fault.text().contains("main"), "{}", fault.text());
    let fault = shop.call("calls", json!({"target": "main", "max_depth": 0})).await.expect_err("refused");
    assert_eq!(fault.kind, FaultKind::InvalidInput);
    let fault = shop.call("calls", json!({"target": "::"})).await.expect_err("refused");
    assert_eq!(fault.kind, FaultKind::InvalidInput);
}

#[tokio::test]
async fn a_class_stands_below_what_it_derives_from() {
    let text =
        "class Base: pass\nclass D(Base): pass\nclass E(D): pass\nclass Z(Base): pass\nclass F(E, Z): pass\n";
    let shop = Shop::with(&[("a.py", text)]);
    let drawn = shop.text("hierarchy", json!({"path": ".", "class_name": "Base"})).await;
    let lines: Vec<&str> = drawn.lines().collect();
    let tree =
        ["Base a.py:1", "  D(Base) a.py:2", "    E(D) a.py:3", "  Z(Base) a.py:4", "    F(E, Z) a.py:5"];
    assert_eq!(lines[..5], tree);
    assert_eq!(lines[5], "4 subclasses of `Base`: 2 direct, 2 further down");
}

#[tokio::test]
async fn a_list_of_subclasses_is_bounded() {
    let mut text = String::from("class Base: pass\nclass Last(C0): pass\n");
    (0..8_000).for_each(|n| text.push_str(&format!("class C{n}(Base): pass\n")));
    let shop = Shop::with(&[("a.py", &text)]);
    let (told, data) =
        shop.call("hierarchy", json!({"path": ".", "class_name": "Base"})).await.expect("works");
    assert_eq!(data["subclasses"].as_array().expect("a list").len(), 300);
    assert_eq!(data["truncated"], true);
    assert_eq!(told.lines().count(), 303);
    assert!(told.starts_with("[cut: "), "{}", told.lines().next().expect("a line"));
    assert!(told.contains("the nearest 300 are listed and"), "{}", told.lines().last().expect("a line"));
}

#[tokio::test]
async fn calls_of_other_languages_are_followed_too() {
    let shop = Shop::with(&[
        (
            "a.rs",
            "fn main() { helper(); let s = S; s.go(); }\nfn helper() {}\nstruct S;\nimpl S { fn go(&self) { self.stop(); } fn stop(&self) {} }\n",
        ),
        ("b.go", "package b\nfunc Start() { finish() }\nfunc finish() {}\n"),
        ("c.ts", "export class C { run() { this.stop(); } stop() { free(); } }\nfunction free() {}\n"),
    ]);
    let names = async |target: &str| -> Vec<String> {
        let data = shop.data("calls", json!({"target": target})).await;
        let nodes = data["nodes"].as_array().expect("a list").iter();
        nodes.map(|node| node["name"].as_str().expect("a name").to_owned()).collect()
    };
    assert_eq!(names("a.rs::main").await, ["main", "helper", "S::go", "S::stop"]);
    assert_eq!(names("Start").await, ["Start", "finish"]);
    assert_eq!(names("C.run").await, ["C.run", "C.stop", "free"]);
}

#[tokio::test]
async fn an_overloaded_function_is_its_implementation() {
    let text = "from typing import overload\n@overload\ndef f(a: int) -> int: ...\n@overload\ndef f(a: str) -> str: ...\ndef f(a): return g(a)\ndef g(a): return a\ndef start(): f(1)\n";
    let shop = Shop::with(&[("a.py", text)]);
    let drawn = shop.text("calls", json!({"target": "start"})).await;
    assert!(drawn.starts_with("start (a.py:8)\n└─ f (a.py:6)\n  └─ g (a.py:7)\n"), "{drawn}");
}

#[tokio::test]
async fn a_tree_is_cut_at_its_largest_size() {
    let mut text = String::from("def start():\n");
    (0..400).for_each(|n| text.push_str(&format!("    f{n}()\n")));
    (0..400).for_each(|n| text.push_str(&format!("def f{n}():\n    pass\n")));
    let shop = Shop::with(&[("a.py", &text)]);
    let data = shop.data("calls", json!({"target": "start"})).await;
    assert_eq!(data["nodes"].as_array().expect("a list").len(), 300);
    assert_eq!(data["truncated"], true);
}

fn map_project() -> Shop {
    let mut files = vec![
        ("core/engine.py".to_owned(), "class Engine:\n    def start(self, speed):\n        pass\n    def unused(self):\n        pass\n\ndef lonely():\n    pass\n".to_owned()),
        ("util.py".to_owned(), "def main(): pass\ndef rarely(): pass\n".to_owned()),
    ];
    for n in 0..8 {
        files.push((
            format!("user{n}.py"),
            format!("from core.engine import Engine\ndef main():\n    Engine().start({n})\n"),
        ));
    }
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    Shop::with(&files)
}

#[tokio::test]
async fn the_map_shows_what_others_lean_on() {
    let shop = map_project();
    let text = shop.text("map", json!({"budget_tokens": 64})).await;
    assert!(text.starts_with("core/engine.py:\n1: class Engine:\n  2: def start(self, speed):\n"), "{text}");
    assert!(text.contains("of 10 files and"), "{text}");
    assert_eq!(text, shop.text("map", json!({"budget_tokens": 64})).await, "the same map every time");
    let fresh = map_project().text("map", json!({"budget_tokens": 64})).await;
    assert_eq!(text, fresh, "and in every process");
}

#[tokio::test]
async fn a_focus_draws_the_map_nearer() {
    let shop = map_project();
    for focus in ["rarely", "util.py", "./util.py"] {
        let text = shop.text("map", json!({"budget_tokens": 64, "focus": [focus]})).await;
        assert!(text.starts_with("util.py:\n"), "{focus}: {text}");
    }
    let data = shop.data("map", json!({"focus": ["nowhere", "core"]})).await;
    assert_eq!(data["unknown_focus"], json!(["nowhere"]));
    assert_eq!(data["files"][0]["path"], "core/engine.py");
}

#[tokio::test]
async fn a_map_stays_in_its_budget() {
    let shop = map_project();
    for budget in [64, 100, 200, 1_000] {
        let data = shop.data("map", json!({"budget_tokens": budget})).await;
        assert!(data["tokens"].as_u64().expect("a number") <= budget, "{budget}: {data}");
    }
    let all = shop.data("map", json!({"budget_tokens": 4_000})).await;
    let shown: usize = all["files"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|file| file["symbols"].as_array().map_or(0, Vec::len))
        .sum();
    assert_eq!(json!(shown), all["total_symbols"], "with enough room everything is shown");
    for budget in [0, 63, 1_000_000] {
        let fault = shop.call("map", json!({"budget_tokens": budget})).await.expect_err("refused");
        assert_eq!(fault.kind, FaultKind::InvalidInput);
    }
    let empty = Shop::with(&[]).data("map", json!({})).await;
    assert_eq!(empty["files"], Value::Array(Vec::new()));
}

//! `code_rename`: the plan, and what it does.

use serde_json::{Value, json};
use tectum_core::FaultKind;

use crate::edit_rig::Desk;

fn project(files: &[(&str, &str)]) -> Desk {
    let desk = Desk::new();
    files.iter().for_each(|(path, content)| desk.put(path, content));
    desk
}

fn read(desk: &Desk, path: &str) -> String {
    String::from_utf8(desk.get(path).expect("there")).expect("UTF-8")
}

/// Plans, then does what was planned.
async fn rename(desk: &Desk, path: &str, name: &str, new: &str) -> (String, Value) {
    let args = json!({"path": path, "name": name, "new_name": new});
    let (text, plan) = desk.works("code_rename", args.clone()).await;
    assert!(text.contains("Nothing was changed"), "{text}");
    let files: Vec<&Value> =
        plan["files"].as_array().expect("files").iter().map(|file| &file["path"]).collect();
    let mut args = args;
    args["apply_to"] = json!(files);
    args["plan"] = plan["plan"].clone();
    desk.works("code_rename", args).await
}

const LIB: &str = "def load(path):\n    return path\n\n\ndef other():\n    x = load('load')  # load\n    return x\n\n\ndef shadow(load):\n    return load(1)\n";

#[tokio::test]
async fn a_function_is_renamed_where_it_is_meant() {
    let desk = project(&[
        ("lib.py", LIB),
        ("named.py", "from lib import load\n\nload('a')\nx.load()\n"),
        ("aliased.py", "from lib import load as l\n\nl('a')\n"),
        ("module.py", "import lib\n\nlib.load('a')\nother.load()\n"),
        ("own.py", "def load(): pass\n\nload()\n"),
        ("stranger.py", "load()\n"),
    ]);
    let (text, data) = rename(&desk, "lib.py", "load", "fetch").await;
    assert_eq!(
        read(&desk, "lib.py"),
        "def fetch(path):\n    return path\n\n\ndef other():\n    x = fetch('load')  # load\n    return x\n\n\ndef shadow(load):\n    return load(1)\n"
    );
    assert_eq!(read(&desk, "named.py"), "from lib import fetch\n\nfetch('a')\nx.load()\n");
    assert_eq!(read(&desk, "aliased.py"), "from lib import fetch as l\n\nl('a')\n");
    assert_eq!(read(&desk, "module.py"), "import lib\n\nlib.fetch('a')\nother.load()\n");
    assert_eq!(read(&desk, "own.py"), "def load(): pass\n\nload()\n");
    assert_eq!(read(&desk, "stranger.py"), "load()\n");
    assert!(text.contains("2 mentions in strings and comments"), "{text}");
    let undo = data["undo"].as_str().expect("can be undone");
    desk.works("undo_edit", json!({"call_id": undo})).await;
    assert_eq!(read(&desk, "lib.py"), LIB);
    assert!(read(&desk, "module.py").contains("lib.load"));
}

#[tokio::test]
async fn a_method_is_renamed_through_its_own_object_and_the_rest_is_told() {
    let a = "class A:\n    def run(self):\n        return self.run()\n\n    def go(self, x):\n        return x.run()\n";
    let b = "class B:\n    def run(self): pass\n\ndef f(a):\n    a.run()\n    A.run(a)\n";
    let desk = project(&[("a.py", a), ("b.py", b)]);
    let (text, data) = rename(&desk, "a.py", "A.run", "start").await;
    assert_eq!(read(&desk, "a.py"), a.replace("def run", "def start").replace("self.run", "self.start"));
    assert_eq!(read(&desk, "b.py"), b.replace("A.run", "A.start"));
    assert!(text.contains("Uncertain, and left alone"), "{text}");
    let lines: Vec<i64> =
        data["uncertain"].as_array().unwrap().iter().map(|place| place["line"].as_i64().unwrap()).collect();
    assert_eq!(lines, [6, 5]);
    // Without another of that name, the members can only be it.
    let desk = project(&[("a.py", a), ("c.py", "def f(a):\n    a.run()\n")]);
    rename(&desk, "a.py", "A.run", "start").await;
    assert_eq!(read(&desk, "c.py"), "def f(a):\n    a.start()\n");
}

#[tokio::test]
async fn a_property_is_renamed_as_a_pair_and_a_local_function_inside_its_own() {
    let before = "class A:\n    @property\n    def size(self): return self._s\n\n    @size.setter\n    def size(self, v): self._s = v\n";
    let desk = project(&[("a.py", before)]);
    rename(&desk, "a.py", "size#1", "length").await;
    assert_eq!(read(&desk, "a.py"), before.replace("size", "length"));
    let before = "def outer():\n    def inner(): pass\n    inner()\n\n\ndef inner(): pass\ninner()\n";
    let desk = project(&[("a.py", before)]);
    rename(&desk, "a.py", "outer.inner", "deep").await;
    assert_eq!(
        read(&desk, "a.py"),
        "def outer():\n    def deep(): pass\n    deep()\n\n\ndef inner(): pass\ninner()\n"
    );
}

#[tokio::test]
async fn names_of_c_reach_every_file() {
    let desk = project(&[
        ("a.h", "int add(int a, int b);\n"),
        ("a.c", "#include \"a.h\"\n\nint add(int a, int b) { return a + b; }\n"),
        (
            "main.c",
            "#include \"a.h\"\n\nint main(void) { int x = s.add; return add(1, 2); }\nint g(int add) { return add; }\n",
        ),
    ]);
    rename(&desk, "a.c", "add", "sum").await;
    assert_eq!(read(&desk, "a.h"), "int sum(int a, int b);\n");
    assert_eq!(read(&desk, "a.c"), "#include \"a.h\"\n\nint sum(int a, int b) { return a + b; }\n");
    assert_eq!(
        read(&desk, "main.c"),
        "#include \"a.h\"\n\nint main(void) { int x = s.add; return sum(1, 2); }\nint g(int add) { return add; }\n"
    );
}

#[tokio::test]
async fn what_cannot_be_done_changes_nothing() {
    let desk = project(&[("lib.py", LIB), ("use.py", "from lib import load\nload()\n")]);
    let plan = json!({"path": "lib.py", "name": "load", "new_name": "fetch"});
    let with = |extra: &[(&str, Value)]| {
        let mut args = plan.clone();
        extra.iter().for_each(|(key, value)| args[*key] = value.clone());
        args
    };
    for (extra, kind, part) in [
        (vec![("new_name", json!("other"))], FaultKind::Conflict, "defined or imported in lib.py already"),
        (vec![("new_name", json!("1x"))], FaultKind::InvalidInput, "is no name"),
        (vec![("new_name", json!("load"))], FaultKind::InvalidInput, "already"),
        (vec![("name", json!("nothing"))], FaultKind::NotFound, "no symbol nothing"),
        (vec![("apply_to", json!(["lib.py"]))], FaultKind::Conflict, "also changes use.py"),
        (
            vec![("apply_to", json!(["lib.py", "use.py"])), ("plan", json!("0"))],
            FaultKind::Conflict,
            "changed since",
        ),
        (
            vec![("new_name", json!("class")), ("apply_to", json!(["lib.py", "use.py"]))],
            FaultKind::Conflict,
            "break the syntax",
        ),
    ] {
        let text = desk.fails("code_rename", with(&extra), kind).await;
        assert!(text.contains(part), "{text}");
        assert_eq!(read(&desk, "lib.py"), LIB);
        assert_eq!(read(&desk, "use.py"), "from lib import load\nload()\n");
    }
    desk.put("more.py", "x\n");
    desk.fails(
        "code_rename",
        with(&[("apply_to", json!(["lib.py", "use.py", "more.py"]))]),
        FaultKind::Conflict,
    )
    .await;
}

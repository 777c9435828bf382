//! Promises of the code writers about names that exist, indentation and overloads.

use serde_json::{Value, json};
use tectum_core::FaultKind;

use crate::edit_rig::Desk;

/// Calls a tool on one file of a fresh project; the file afterwards and the text.
async fn written(tool: &str, file: &str, before: &str, mut args: Value) -> (String, String) {
    let desk = Desk::new();
    desk.put(file, before);
    args["path"] = json!(file);
    let (text, _) = desk.works(tool, args).await;
    (String::from_utf8(desk.get(file).expect("there")).expect("UTF-8"), text)
}

#[tokio::test]
async fn a_decorator_is_no_leave_to_define_a_name_twice() {
    let desk = Desk::new();
    desk.put("c.py", "def g():\n    return 3\n");
    desk.put("d.py", "import functools\n\n\n@functools.cache\ndef g():\n    return 4\n");
    let decorated = "@functools.cache\ndef g():\n    return 4\n";
    for tool in ["py_add_def", "code_add"] {
        let args = json!({"path": "c.py", "name": "g", "new_content": decorated});
        let text = desk.fails(tool, args, FaultKind::Conflict).await;
        assert!(text.contains("g exists already in c.py at line 1"), "{text}");
    }
    for tool in ["py_move_def", "code_move"] {
        let args = json!({"src_path": "d.py", "dest_path": "c.py", "name": "g"});
        let text = desk.fails(tool, args, FaultKind::Conflict).await;
        assert!(text.contains("g exists already in c.py at line 1"), "{text}");
    }
    assert_eq!(desk.get("c.py").expect("there"), b"def g():\n    return 3\n");
}

#[tokio::test]
async fn parts_of_a_property_and_overloads_may_share_a_name() {
    let class = "class A:\n    @property\n    def x(self):\n        return 1\n";
    let args = |content: &str| json!({"name": "x", "new_content": content, "anchor_type": "inside_end", "anchor_symbol": "A"});
    let (after, _) =
        written("code_add", "a.py", class, args("@x.setter\ndef x(self, to):\n    self.y = to")).await;
    assert_eq!(after, format!("{class}\n    @x.setter\n    def x(self, to):\n        self.y = to\n"));
    let overloaded = "@overload\ndef f(a: int) -> int: ...\n";
    let more = "@typing.overload\ndef f(a: str) -> str: ...";
    let (after, _) = written("code_add", "a.py", overloaded, json!({"name": "f", "new_content": more})).await;
    assert_eq!(after, format!("{overloaded}\n\n{more}\n"));
    // The one that the overloads announce is a part as well; a second of it is not.
    let real = "def f(a):\n    return a";
    let args = json!({"name": "f", "new_content": real});
    let (after, _) = written("code_add", "a.py", overloaded, args.clone()).await;
    let desk = Desk::new();
    desk.put("a.py", &after);
    let mut again = args;
    again["path"] = json!("a.py");
    desk.fails("code_add", again, FaultKind::Conflict).await;
}

#[tokio::test]
async fn a_docstring_moves_along_and_other_strings_stay() {
    let class = "class A:\n    def one(self):\n        pass\n";
    let dedented = "def one(self):\n    \"\"\"Short.\n\n    Long.\n    \"\"\"\n    return '''\n  data\n'''\n";
    let indented = "    def one(self):\n        \"\"\"Short.\n\n        Long.\n        \"\"\"\n        return '''\n  data\n'''\n";
    let (after, text) =
        written("code_update_definition", "a.py", class, json!({"name": "A.one", "new_content": dedented}))
            .await;
    assert_eq!(after, format!("class A:\n{indented}"));
    assert!(text.contains("re-indented"), "{text}");
    let (after, _) = written(
        "code_add",
        "a.py",
        "class A:\n    x = 1\n",
        json!({"name": "one", "new_content": dedented, "anchor_type": "inside_end", "anchor_symbol": "A"}),
    )
    .await;
    assert_eq!(after, format!("class A:\n    x = 1\n\n{indented}"));
    // As it stands in the file, it stays as it is.
    let quoted = indented.replace("return", "return 1 and");
    let (after, text) =
        written("code_update_definition", "a.py", class, json!({"name": "A.one", "new_content": quoted}))
            .await;
    assert_eq!(after, format!("class A:\n{quoted}"));
    assert!(!text.contains("re-indented"), "{text}");
}

#[tokio::test]
async fn source_that_is_rightly_indented_is_taken_as_it_is() {
    for (file, name, before, old, new) in [
        (
            "a.bash",
            "f",
            "f() { # c\n  if [[ $p != /* ]]; then\n    p=1\n  fi\n}\n",
            "    p=1\n",
            "    p=1\n    q=2\n",
        ),
        (
            "A.java",
            "A.f",
            "class A {\n  int f(int a)\n      throws IOException {\n    return b\n        .c()\n        .d();\n  }\n\n  void g() {\n    h();\n  }\n}\n",
            ".d()",
            ".e()",
        ),
        (
            "I.java",
            "I.f",
            "interface I {\n  int f(int a)\n      throws IOException;\n\n  void g() {\n    h();\n  }\n}\n",
            "IOException",
            "Exception",
        ),
        (
            "a.ts",
            "X",
            "type X<T> = T extends A\n  ? { b: T }\n  : never;\n\nfunction f() {\n  g();\n}\n",
            "never",
            "null",
        ),
        (
            "b.ts",
            "f",
            "function f(a: A): B<a> extends C\n    ? D\n    : E {\n  g();\n  \n  h();\n}\n",
            "h()",
            "i()",
        ),
    ] {
        let expect = before.replace(old, new);
        // Quoted from the file: from the line of its first word to its end.
        let at = expect.find(name.rsplit('.').next().expect("a name")).expect("there");
        let start = expect[..at].rfind('\n').map_or(0, |line| line + 1);
        let end = expect[start..].find("\n\n").map_or(expect.len(), |end| start + end);
        let end = if file.ends_with("bash") || file == "b.ts" { expect.len() } else { end };
        let content = &expect[start..end];
        let (after, text) =
            written("code_update_definition", file, before, json!({"name": name, "new_content": content}))
                .await;
        assert_eq!(after, expect, "{file}: {text}");
        assert!(!text.contains("re-indented"), "{text}");
    }
}

#[tokio::test]
async fn dry_runs_say_what_they_would_do() {
    let before = "def f():\n    return 1\n";
    let (after, text) = written(
        "code_update_definition",
        "a.py",
        before,
        json!({"name": "f", "new_content": "def f():\n    return 2\n", "dry_run": true}),
    )
    .await;
    assert_eq!(after, before);
    assert!(text.starts_with("Would update f in a.py"), "{text}");
    let add = json!({"name": "g", "new_content": "def g():\n    return 2\n", "dry_run": true});
    let (_, text) = written("code_add", "a.py", before, add).await;
    assert!(text.starts_with("Would add g to a.py"), "{text}");
    let (_, text) = written("code_remove", "a.py", before, json!({"name": "f", "dry_run": true})).await;
    assert!(text.starts_with("Would remove f"), "{text}");
}

#[tokio::test]
async fn a_method_wrapped_in_its_class_is_unwrapped() {
    let before = "class A:\n    def one(self):\n        return 1\n\n    def two(self):\n        return 2\n";
    let wrapped = "class A:\n    def two(self):\n        return 3\n";
    let args = json!({"name": "A.two", "new_content": wrapped});
    let (after, text) = written("code_update_definition", "a.py", before, args).await;
    assert_eq!(after, before.replace("return 2", "return 3"));
    assert!(text.contains("class A around it was left out"), "{text}");
    let java = "class A {\n    int one() {\n        return 1;\n    }\n}\n";
    let args = json!({"name": "A.one", "new_content": java.replace('1', "2")});
    let (after, _) = written("code_update_definition", "A.java", java, args).await;
    assert_eq!(after, java.replace('1', "2"));
    // With something else in it, nobody knows what is meant.
    let desk = Desk::new();
    desk.put("a.py", before);
    let more = "class A:\n    def two(self):\n        return 3\n\n    def three(self):\n        return 3\n";
    let args = json!({"path": "a.py", "name": "A.two", "new_content": more});
    let text = desk.fails("code_update_definition", args, FaultKind::InvalidInput).await;
    assert!(text.contains("class A") && text.contains("three"), "{text}");
}

#[tokio::test]
async fn overloads_are_renamed_as_one() {
    let python = "class C:\n    @overload\n    def run(self, a: int): ...\n    @overload\n    def run(self, a: str): ...\n    def run(self, a):\n        return self.run(a)\n";
    let args = json!({"name": "C.run", "new_name": "go", "apply_to": ["a.py"]});
    let (after, _) = written("code_rename", "a.py", python, args).await;
    assert_eq!(after, python.replace("run", "go"));
    let ts = "export const Shape = 1;\nexport type Shape = number;\nconst a: Shape = Shape;\n";
    let args = json!({"name": "Shape", "new_name": "Form", "apply_to": ["a.ts"]});
    let (after, _) = written("code_rename", "a.ts", ts, args).await;
    assert_eq!(after, ts.replace("Shape", "Form"));
}

#[tokio::test]
async fn overloads_are_followed_as_one() {
    let desk = Desk::new();
    desk.put(
        "a.py",
        "class C:\n    @overload\n    def run(self, a: int): ...\n    @overload\n    def run(self, a: str): ...\n    def run(self, a):\n        return work(a)\n\n\ndef work(a):\n    pass\n",
    );
    let (text, _) = desk.works("derive_code_path", json!({"target": "C.run"})).await;
    assert!(text.contains("work (a.py:10)") && text.contains("C.run (a.py:6)"), "{text}");
}

#[tokio::test]
async fn names_of_bash_with_colons_are_reachable() {
    let desk = Desk::new();
    desk.put("a.bash", "bats::on_failure() {\n  echo no\n}\n");
    for name in ["bats::on_failure", "on_failure"] {
        let (text, _) = desk.works("code_definition", json!({"path": "a.bash", "name": name})).await;
        assert!(text.contains("echo no"), "{text}");
    }
    let text = desk.fails(
        "code_definition",
        json!({"path": "a.bash", "name": "bats::on_fail"}),
        FaultKind::NotFound,
    );
    assert!(text.await.contains("bats::on_failure"));
}

#[tokio::test]
async fn names_in_exports_and_quoted_types_are_listed_as_uncertain() {
    let desk = Desk::new();
    desk.put(
        "m.py",
        "__all__ = [\"Ctx\", \"run\"]\n\n\nclass Ctx:\n    pass\n\n\ndef use(x: \"Ctx\") -> \"list[Ctx]\":\n    \"\"\"Uses a Ctx.\"\"\"\n    return cast(\"Ctx\", x)\n\n\nT = TypeVar(\"T\", bound=\"Ctx | None\")\n\n\ndef run():\n    print(\"run\")\n",
    );
    let (text, data) =
        desk.works("code_rename", json!({"path": "m.py", "name": "Ctx", "new_name": "Env"})).await;
    let lines: Vec<u64> = data["uncertain"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|at| at["line"].as_u64().unwrap_or(0))
        .collect();
    assert_eq!(lines, [1, 8, 8, 10, 13], "{text}");
    assert!(text.contains("m.py:13: T = TypeVar"), "{text}");
    assert_eq!(data["in_text"], 1, "{text}");
    let (text, data) =
        desk.works("code_rename", json!({"path": "m.py", "name": "run", "new_name": "go"})).await;
    assert_eq!(data["uncertain"][0]["line"], 1, "{text}");
    assert_eq!(
        (data["uncertain"].as_array().map(Vec::len), &data["in_text"]),
        (Some(1), &json!(1)),
        "{text}"
    );
}

#[tokio::test]
async fn constructors_of_nested_types_go_with_them() {
    for (file, before) in [
        (
            "A.java",
            "class Outer {\n  static class In {\n    In() {}\n    In(int a) {}\n    In copy() { return new In(); }\n  }\n  In make() { return new In(1); }\n}\n",
        ),
        (
            "a.cs",
            "class Outer {\n  public class In {\n    public In() {}\n    public In Copy() => new In();\n  }\n}\n",
        ),
        (
            "a.cpp",
            "struct Outer {\n  struct In {\n    In(int k);\n    ~In();\n  };\n};\nOuter::In::In(int k) {}\nOuter::In::~In() {}\n",
        ),
    ] {
        let separator = if file == "a.cpp" { "::" } else { "." };
        let name = format!("Outer{separator}In");
        let args = json!({"name": name, "new_name": "Node", "apply_to": [file]});
        let (after, text) = written("code_rename", file, before, args).await;
        let expect = before.replace("In(", "Node(").replace("In ", "Node ").replace("::In", "::Node");
        assert_eq!(after, expect, "{text}");
    }
}

#[tokio::test]
async fn a_public_type_that_its_file_is_named_after_says_so() {
    let desk = Desk::new();
    desk.put("a/Pub.java", "package a;\n\npublic class Pub {}\n");
    let args = json!({"path": "a/Pub.java", "name": "Pub", "new_name": "Public"});
    let (text, data) = desk.works("code_rename", args).await;
    assert!(text.contains("a/Pub.java must become a/Public.java"), "{text}");
    assert!(data["note"].as_str().is_some_and(|note| note.contains("a/Public.java")));
}

#[tokio::test]
async fn the_id_of_a_plan_is_enough_to_do_it() {
    let desk = Desk::new();
    desk.put("a.py", "def one(): pass\n");
    desk.put("b.py", "from a import one\none()\n");
    let args = json!({"path": "a.py", "name": "one", "new_name": "two"});
    let (text, data) = desk.works("code_rename", args.clone()).await;
    let plan = data["plan"].as_str().expect("an id");
    assert!(text.contains(&format!("repeat the call with plan=\"{plan}\"")), "{text}");
    let mut unknown = args.clone();
    unknown["plan"] = json!("0123456789abcdef");
    desk.fails("code_rename", unknown, FaultKind::Conflict).await;
    let mut again = args;
    again["plan"] = json!(plan);
    let (_, done) = desk.works("code_rename", again.clone()).await;
    assert_eq!(done["applied"], true);
    assert_eq!(desk.get("b.py").expect("there"), b"from a import two\ntwo()\n");
}

#[tokio::test]
async fn a_large_rename_tells_what_it_does_not_list() {
    let desk = Desk::new();
    desk.put("a.py", "def one(): pass\n");
    (0..80).for_each(|n| desk.put(&format!("b{n}.py"), "from a import one\none()\n"));
    let args = json!({"path": "a.py", "name": "one", "new_name": "two"});
    let (text, data) = desk.works("code_rename", args.clone()).await;
    assert!(text.contains("161 places in 81 files") && text.contains("… and 21 more files"), "{text}");
    assert_eq!(data["files"].as_array().map(Vec::len), Some(81));
    let mut again = args;
    again["plan"] = data["plan"].clone();
    desk.works("code_rename", again).await;
    assert_eq!(desk.get("b79.py").expect("there"), b"from a import two\ntwo()\n");
}

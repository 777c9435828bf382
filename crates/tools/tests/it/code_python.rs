//! The Python rows through the real house: what each says and what it leaves on the disk.

use serde_json::{Value, json};
use tectum_core::FaultKind;

use crate::edit_rig::Desk;

const SHAPES: &str = "\
\"\"\"Shapes.\"\"\"
import math
from typing import overload

LIMIT = 10

@decorated
@with_args(1,
           2)
async def area(r: float) -> float:
    \"\"\"The area.

    More.
    \"\"\"
    return math.pi * r ** 2


class Shape(Base):
    \"\"\"A shape.\"\"\"

    sides: int = 0

    @property
    def name(self):
        return self._name

    @name.setter
    def name(self, value):
        self._name = value

    class Inner:
        def method(self): pass


if LIMIT:
    def choose(): return 1
else:
    def choose(): return 2
";

/// Calls a writer on a file and compares what it left.
#[track_caller]
fn writes(tool: &str, before: &str, args: Value, after: &str) -> String {
    tokio::runtime::Runtime::new().expect("a runtime").block_on(async {
        let desk = Desk::new();
        desk.put("a.py", before);
        let (text, _) = desk.works(tool, with_path(args)).await;
        let left = String::from_utf8(desk.get("a.py").expect("there")).expect("UTF-8");
        assert_eq!(left, after, "{text}");
        text
    })
}

/// Calls a writer that refuses, and sees that nothing changed.
#[track_caller]
fn refuses(tool: &str, before: &str, args: Value, kind: FaultKind) -> String {
    tokio::runtime::Runtime::new().expect("a runtime").block_on(async {
        let desk = Desk::new();
        desk.put("a.py", before);
        let text = desk.fails(tool, with_path(args), kind).await;
        assert_eq!(desk.get("a.py").expect("there"), before.as_bytes(), "{text}");
        text
    })
}

/// What a reader says.
#[track_caller]
fn reads(tool: &str, source: &str, args: Value) -> String {
    tokio::runtime::Runtime::new().expect("a runtime").block_on(async {
        let desk = Desk::new();
        desk.put("a.py", source);
        desk.works(tool, with_path(args)).await.0
    })
}

fn with_path(mut args: Value) -> Value {
    if args.get("src_path").is_none() {
        args["path"] = json!("a.py");
    }
    args
}

#[test]
fn an_outline_nests_and_counts_decorators() {
    let outline = reads("py_get_code_outline", SHAPES, json!({}));
    assert_eq!(
        outline,
        "\
[Async Func] area (Lines 7-15) — The area.
[Class] Shape (Lines 18-32) extends Base — A shape.
  [Method] name (Lines 23-25)
  [Method] name (Lines 27-29)
  [Class] Inner (Lines 31-32)
    [Method] method (Lines 32-32)
[Func] choose (Lines 36-36)
[Func] choose (Lines 38-38)"
    );
    let fuller = reads("code_outline", SHAPES, json!({"full": true}));
    assert!(
        fuller.contains("[Const] LIMIT (Lines 5-5)") && fuller.contains("  [Var] sides (Lines 21-21)"),
        "{fuller}"
    );
    assert_eq!(reads("py_get_code_outline", "x = 1\n", json!({})), "No definitions in a.py (Python, 1 line)");
}

#[test]
fn a_skeleton_keeps_what_is_said_and_leaves_out_what_is_done() {
    let skeleton = reads("py_get_skeleton", SHAPES, json!({}));
    assert!(
        skeleton.contains(
            "async def area(r: float) -> float:\n    \"\"\"The area.\n\n    More.\n    \"\"\"\n    ...\n"
        ),
        "{skeleton}"
    );
    assert!(skeleton.contains("    @name.setter\n    def name(self, value):\n        ...\n"), "{skeleton}");
    assert!(skeleton.contains("def method(self): ...\n"), "{skeleton}");
    assert!(skeleton.contains("LIMIT = 10") && skeleton.contains("import math"), "{skeleton}");
    assert!(!skeleton.contains("math.pi"), "{skeleton}");
    let hot = "def a():\n    # [HOT]\n    return 1\n\n@core_logic\ndef b():\n    return 2\n\ndef c():\n    return 3\n";
    let skeleton = reads("py_get_skeleton", hot, json!({}));
    assert!(
        skeleton.contains("return 1") && skeleton.contains("return 2") && !skeleton.contains("return 3"),
        "{skeleton}"
    );
    let crlf = reads("py_get_skeleton", "def a():\r\n    'doc'\r\n    return 1\r\n", json!({}));
    assert_eq!(crlf, "def a():\r\n    'doc'\r\n    ...\r\n");
}

#[tokio::test]
async fn skeletons_are_python() {
    let odd = [
        SHAPES,
        "def f(x): \"doc\"; return 1\nclass A: x = 1; y = 2\n",
        "class A:\n\tasync def f(self): # why\n\t\t# only a comment first\n\t\tawait x\n",
        "def f():\n    '''doc''' 'more'\n    return 1\nif a: pass\nelse:\n  def g(): pass\n",
        "@d\ndef f(a=lambda: {1: 2}, *, b: 'int' = \":\") -> {1: 2}[1]: return a\n",
        "def outer():\n    def inner():\n        return 1\n    return inner\nmatch x:\n  case 1:\n    def h(): pass\n",
        "def f[T: int](x: T) -> T:\n    return f'{x[\"a\"]}'\n",
        "def f(\n):\n    \"\"\"doc\n    def not_one(): pass\n    \"\"\"\n    yield\n",
    ];
    let desk = Desk::new();
    for source in odd {
        for source in [source.to_owned(), source.replace('\n', "\r\n")] {
            desk.put("a.py", &source);
            let (_, data) = desk.works("py_get_skeleton", json!({"path": "a.py"})).await;
            desk.put("b.py", data["skeleton"].as_str().expect("a skeleton"));
            let (said, _) = desk.works("py_check_syntax", json!({"path": "b.py"})).await;
            assert_eq!(said, "Syntax OK: b.py", "{source}\n---\n{}", data["skeleton"]);
        }
    }
}

#[test]
fn names_lead_to_definitions() {
    let area = reads("py_get_definition", SHAPES, json!({"name": "area"}));
    assert!(area.starts_with("@decorated\n@with_args(1,\n") && area.ends_with("r ** 2"), "{area}");
    let method = reads("py_get_definition", SHAPES, json!({"name": "Shape.Inner.method"}));
    assert_eq!(method, "        def method(self): pass");
    assert_eq!(reads("py_get_definition", SHAPES, json!({"name": "Inner.method"})), method);
    let both = reads("py_get_definition", SHAPES, json!({"name": "Shape.name"}));
    assert!(
        both.contains("# Shape.name#1 of 2: Shape.name (Lines 23-25)") && both.contains("#2 of 2"),
        "{both}"
    );
    let second = reads("py_get_definition", SHAPES, json!({"name": "Shape.name#2"}));
    assert!(second.starts_with("    @name.setter"), "{second}");
    assert_eq!(
        reads("py_get_signature", SHAPES, json!({"name": "area"})),
        "async def area(r: float) -> float:"
    );
    assert_eq!(reads("py_get_signature", SHAPES, json!({"name": "Shape"})), "class Shape(Base):");
    let missing = refuses("py_get_definition", SHAPES, json!({"name": "aera"}), FaultKind::NotFound);
    assert!(missing.contains("did you mean area?"), "{missing}");
    let third = refuses("py_get_definition", SHAPES, json!({"name": "choose#3"}), FaultKind::NotFound);
    assert!(third.contains("no number 3"), "{third}");
}

#[test]
fn summaries_documentation_variables_and_imports() {
    let summary = reads("py_get_class_summary", SHAPES, json!({"name": "Shape"}));
    assert_eq!(
        summary,
        "class Shape(Base): (Lines 18-32)\n  A shape.\n  def name(self): (Lines 23-25)\n  def name(self, value): (Lines 27-29)"
    );
    assert_eq!(reads("py_get_docstring", SHAPES, json!({"name": "area"})), "The area.\n\nMore.");
    assert_eq!(reads("py_get_docstring", SHAPES, json!({"name": "module"})), "Shapes.");
    assert_eq!(reads("py_get_docstring", SHAPES, json!({"name": ""})), "Shapes.");
    assert_eq!(reads("py_get_docstring", SHAPES, json!({"name": "Inner"})), "No docstring found");
    assert_eq!(reads("py_get_var_declaration", SHAPES, json!({"name": "LIMIT"})), "LIMIT = 10");
    assert_eq!(reads("py_get_var_declaration", SHAPES, json!({"name": "Shape.sides"})), "    sides: int = 0");
    assert_eq!(
        reads("py_get_var_declaration", "A = [\n  1,\n  2,\n]\nb = 1\n", json!({"name": "A"})),
        "A = [\n  1,\n  2,\n]"
    );
    let imports = "import os.path, sys as s\nfrom .. import up\nfrom .near import a as b, c\nfrom far import *\nimport sys\n";
    assert_eq!(reads("py_get_imports", imports, json!({})), "..up\n.near.a\n.near.c\nfar\nos.path\nsys");
}

#[test]
fn errors_are_those_of_cpython() {
    assert_eq!(reads("py_check_syntax", SHAPES, json!({})), "Syntax OK: a.py");
    let broken = reads("py_check_syntax", "def f(:\n  pass\n", json!({}));
    assert!(broken.starts_with("SyntaxError in a.py line 1, col 7:"), "{broken}");
    for wrong in [
        "return 1\n",
        "x = 1 +\n",
        "f(a=1, a=2)\n",
        "def f(a, a): pass\n",
        "async def f():\n  yield from x\n",
        "1 = x\n",
    ] {
        let said = reads("py_check_syntax", wrong, json!({}));
        assert!(said.starts_with("SyntaxError"), "{wrong}: {said}");
    }
    for right in [
        "type X[T: int] = list[T]\n",
        "def f[T](x: T): ...\n",
        "f'{x[\"a\"]} {'b'}'\n",
        "match x:\n  case [1, *_]: pass\n",
        "print((yield))\n",
    ] {
        let said = reads("py_check_syntax", right, json!({}));
        assert!(right.contains("yield") || said.starts_with("Syntax OK"), "{right}: {said}");
    }
}

#[test]
fn an_update_keeps_decorators_unless_it_brings_some() {
    let before = "@a\n@b(1)\ndef f():\n    return 1\n\nx = 1\n";
    let text = writes(
        "py_update_definition",
        before,
        json!({"name": "f", "new_content": "def f():\n    return 2\n"}),
        "@a\n@b(1)\ndef f():\n    return 2\n\nx = 1\n",
    );
    assert!(text.contains("its decorators stay"), "{text}");
    let text = writes(
        "py_update_definition",
        before,
        json!({"name": "f", "new_content": "@c\ndef f():\n    return 2"}),
        "@c\ndef f():\n    return 2\n\nx = 1\n",
    );
    assert!(text.contains("decorators were replaced"), "{text}");
}

#[test]
fn an_update_is_fitted_to_its_place() {
    writes(
        "py_update_definition",
        "class A:\n def f(self):\n  return 1\n def g(self): pass\n",
        json!({"name": "A.f", "new_content": "def f(self):\n    if x:\n        return '''\n  kept\n'''\n"}),
        "class A:\n def f(self):\n  if x:\n   return '''\n  kept\n'''\n def g(self): pass\n",
    );
    writes(
        "py_update_definition",
        "class A:\r\n\tdef f(self):\r\n\t\treturn 1\r\n",
        json!({"name": "f", "new_content": "def f(self, x):\n    return g(1,\n             2)"}),
        "class A:\r\n\tdef f(self, x):\r\n\t\treturn g(1,\r\n\t\t         2)\r\n",
    );
    // A byte order mark, a coding cookie and a form feed stay where they are.
    writes(
        "py_update_definition",
        "\u{feff}# coding: utf-8\n\x0c\ndef f(): pass\n",
        json!({"name": "f", "new_content": "def f():\n    return 'ü'"}),
        "\u{feff}# coding: utf-8\n\x0c\ndef f():\n    return 'ü'\n",
    );
}

#[test]
fn a_broken_update_changes_nothing_and_old_errors_do_not_block() {
    let text = refuses(
        "py_update_definition",
        "def f():\n    return 1\n",
        json!({"name": "f", "new_content": "def f(:\n    return 1"}),
        FaultKind::Conflict,
    );
    assert!(text.contains("nothing was written") && text.contains("line 1"), "{text}");
    writes(
        "py_update_definition",
        "def f():\n    return 1\n\ndef broken(:\n    pass\n",
        json!({"name": "f", "new_content": "def f():\n    return 2"}),
        "def f():\n    return 2\n\ndef broken(:\n    pass\n",
    );
    let text = refuses(
        "py_update_definition",
        "def f(): pass\n",
        json!({"name": "f", "new_content": "x\n"}),
        FaultKind::InvalidInput,
    );
    assert!(text.contains("defines nothing"), "{text}");
    refuses(
        "py_update_definition",
        "def f(): pass\n",
        json!({"name": "f", "new_content": " \n"}),
        FaultKind::InvalidInput,
    );
}

#[test]
fn an_ambiguous_name_lists_its_meanings() {
    let text = refuses(
        "py_update_definition",
        SHAPES,
        json!({"name": "choose", "new_content": "def choose(): return 3"}),
        FaultKind::Conflict,
    );
    assert!(text.contains("choose#1: line 36") && text.contains("choose#2: line 38"), "{text}");
    let after = SHAPES.replace("def choose(): return 2", "def choose(): return 3");
    writes(
        "py_update_definition",
        SHAPES,
        json!({"name": "choose#2", "new_content": "def choose(): return 3"}),
        &after,
    );
}

#[test]
fn signatures_and_variables_are_set() {
    let text = writes(
        "py_set_signature",
        "@d\nasync def f(a): # why\n    return a\n",
        json!({"name": "f", "new_signature": "async def f(a, b=':') -> int"}),
        "@d\nasync def f(a, b=':') -> int: # why\n    return a\n",
    );
    assert!(text.contains("its body is unchanged"), "{text}");
    refuses(
        "py_set_signature",
        "def f(): pass\n",
        json!({"name": "f", "new_signature": "def f(("}),
        FaultKind::Conflict,
    );
    refuses(
        "py_set_signature",
        "def f(): pass\n",
        json!({"name": "f", "new_signature": "@a\ndef f():"}),
        FaultKind::InvalidInput,
    );
    writes(
        "py_set_var_declaration",
        "class A:\n    x: list = [\n        1,\n    ]\n    y = 2\n",
        json!({"name": "A.x", "new_declaration": "x: dict = {\n    'a': 1,\n}"}),
        "class A:\n    x: dict = {\n        'a': 1,\n    }\n    y = 2\n",
    );
}

#[test]
fn a_definition_is_removed_with_what_belongs_to_it() {
    writes(
        "py_remove_def",
        "import a\n\n\n@d\ndef f():\n    pass\n\n\ndef g():\n    pass\n",
        json!({"name": "f"}),
        "import a\n\n\ndef g():\n    pass\n",
    );
    writes("py_remove_def", "def f(): pass\n\n\ndef g(): pass\n", json!({"name": "g"}), "def f(): pass\n");
    let text = writes(
        "py_remove_def",
        "class A:\n    def f(self):\n        return 1\n\nx = A()\n",
        json!({"name": "A.f"}),
        "class A:\n    pass\n\nx = A()\n",
    );
    assert!(text.contains("`pass` stands there now"), "{text}");
    refuses("py_remove_def", SHAPES, json!({"name": "Shape.name"}), FaultKind::Conflict);
}

#[test]
fn a_definition_is_added_at_every_anchor() {
    let before = "\"\"\"Doc.\"\"\"\nimport a\n\n\n@d\ndef f():\n    pass\n\n\nclass C:\n    \"\"\"Doc.\"\"\"\n\n    def m(self):\n        pass\n";
    let add = |anchor: &str, symbol: Option<&str>, content: &str, name: &str, after: &str| {
        let mut args = json!({"name": name, "new_content": content, "anchor_type": anchor});
        if let Some(symbol) = symbol {
            args["anchor_symbol"] = json!(symbol);
        }
        writes("py_add_def", before, args, after);
    };
    add("before", Some("f"), "def n(): pass", "n", &before.replace("@d\n", "def n(): pass\n\n\n@d\n"));
    add(
        "after",
        Some("f"),
        "def n(): pass",
        "n",
        &before.replace("    pass\n\n\nclass", "    pass\n\n\ndef n(): pass\n\n\nclass"),
    );
    add(
        "inside_start",
        Some("C"),
        "def n(self):\n  pass",
        "n",
        &before.replace("    \"\"\"Doc.\"\"\"\n", "    \"\"\"Doc.\"\"\"\n\n    def n(self):\n        pass\n"),
    );
    add("inside_end", Some("C"), "def n(self): pass", "C.n", &format!("{before}\n    def n(self): pass\n"));
    add(
        "top",
        None,
        "def n(): pass",
        "n",
        &before.replace("import a\n\n\n", "import a\n\n\ndef n(): pass\n\n\n"),
    );
    add("bottom", None, "\n\ndef n():\n    pass\n\n", "n", &format!("{before}\n\ndef n():\n    pass\n"));
}

#[test]
fn what_cannot_be_added_is_refused() {
    let before = "def f(): pass\n\nclass C: pass\n";
    let refuse = |args: Value, kind, part: &str| {
        let text = refuses("py_add_def", before, args, kind);
        assert!(text.contains(part), "{text}");
    };
    refuse(json!({"name": "f", "new_content": "def f(): pass"}), FaultKind::Conflict, "exists already");
    refuse(json!({"name": "g", "new_content": "def h(): pass"}), FaultKind::InvalidInput, "defines h, not g");
    refuse(json!({"name": "g", "new_content": "def g(: pass"}), FaultKind::Conflict, "break the syntax");
    refuse(
        json!({"name": "g", "new_content": "def g(): pass", "anchor_type": "before"}),
        FaultKind::InvalidInput,
        "anchor_symbol",
    );
    refuse(
        json!({"name": "g", "new_content": "def g(): pass", "anchor_type": "after", "anchor_symbol": "nope"}),
        FaultKind::NotFound,
        "nope",
    );
    refuse(
        json!({"name": "g", "new_content": "def g(): pass", "anchor_type": "inside_end", "anchor_symbol": "C"}),
        FaultKind::Conflict,
        "one line",
    );
}

#[test]
fn a_region_is_wrapped_where_it_breaks_nothing() {
    writes(
        "py_region_wrap",
        "class A:\n    x = 1\n    y = 2\n",
        json!({"start_line": 2, "end_line": 3, "region_name": "Fields"}),
        "class A:\n    #region: Fields\n    x = 1\n    y = 2\n    #endregion: Fields\n",
    );
    writes(
        "py_region_wrap",
        "x = 1",
        json!({"start_line": 1, "end_line": 1, "region_name": "X"}),
        "#region: X\nx = 1\n#endregion: X",
    );
    refuses(
        "py_region_wrap",
        "x = '''\na\n'''\n",
        json!({"start_line": 2, "end_line": 2, "region_name": "X"}),
        FaultKind::InvalidInput,
    );
    refuses(
        "py_region_wrap",
        "x = 1\n",
        json!({"start_line": 2, "end_line": 3, "region_name": "X"}),
        FaultKind::InvalidInput,
    );
    refuses(
        "py_region_wrap",
        "x = 1 + \\\n  2\n",
        json!({"start_line": 2, "end_line": 2, "region_name": "X"}),
        FaultKind::InvalidInput,
    );
}

#[tokio::test]
async fn a_definition_moves_to_another_file_with_its_imports() {
    let desk = Desk::new();
    desk.put("a.py", "import os\nimport sys as s\nfrom typing import Any\n\nK = 1\n\n\n@d\ndef f(x: Any):\n    return os.path.join(s.path[0], K)\n\n\ndef g():\n    return f(1)\n");
    desk.put("b.py", "\"\"\"B.\"\"\"\nimport os\n\n\ndef h():\n    pass\n");
    let (text, data) = desk
        .works("py_move_def", json!({"src_path": "a.py", "dest_path": "b.py", "name": "f", "dest_name": "moved", "anchor_type": "before", "anchor_symbol": "h"}))
        .await;
    assert_eq!(
        String::from_utf8(desk.get("a.py").unwrap()).unwrap(),
        "import os\nimport sys as s\nfrom typing import Any\n\nK = 1\n\n\ndef g():\n    return f(1)\n"
    );
    assert_eq!(
        String::from_utf8(desk.get("b.py").unwrap()).unwrap(),
        "\"\"\"B.\"\"\"\nimport os\nimport sys as s\nfrom typing import Any\n\n\n@d\ndef moved(x: Any):\n    return os.path.join(s.path[0], K)\n\n\ndef h():\n    pass\n"
    );
    assert!(
        text.contains("uses K")
            && text.contains("still uses f at line 9")
            && text.contains("uses d") == text.contains("defined in a.py; import it in b.py: d"),
        "{text}"
    );
    let undo = data["undo"].as_str().expect("can be undone").to_owned();
    desk.works("undo_edit", json!({"call_id": undo})).await;
    assert!(String::from_utf8(desk.get("a.py").unwrap()).unwrap().contains("def f(x: Any)"));
    assert!(!String::from_utf8(desk.get("b.py").unwrap()).unwrap().contains("moved"));
}

#[tokio::test]
async fn a_move_is_all_or_nothing() {
    let desk = Desk::new();
    let (a, b) = ("def f(): pass\n\n\nclass C:\n    def f(self): pass\n", "def f(): pass\n");
    desk.put("a.py", a);
    desk.put("b.py", b);
    let same = |desk: &Desk| {
        assert_eq!(desk.get("a.py").unwrap(), a.as_bytes());
        assert_eq!(desk.get("b.py").unwrap(), b.as_bytes());
    };
    let text = desk
        .fails(
            "py_move_def",
            json!({"src_path": "a.py", "dest_path": "b.py", "name": "f"}),
            FaultKind::Conflict,
        )
        .await;
    assert!(text.contains("exists already in b.py"), "{text}");
    same(&desk);
    desk.fails(
        "py_move_def",
        json!({"src_path": "a.py", "dest_path": "c.txt", "name": "f"}),
        FaultKind::InvalidInput,
    )
    .await;
    same(&desk);
    desk.works(
        "py_move_def",
        json!({"src_path": "a.py", "dest_path": "new.py", "name": "f", "dry_run": true}),
    )
    .await;
    same(&desk);
    assert_eq!(desk.get("new.py"), None);
    desk.works("py_move_def", json!({"src_path": "a.py", "dest_path": "sub/new.py", "name": "f"})).await;
    assert_eq!(desk.get("sub/new.py").unwrap(), b"def f(): pass\n");
    assert_eq!(desk.get("a.py").unwrap(), b"class C:\n    def f(self): pass\n");
    desk.works("py_move_def", json!({"src_path": "a.py", "dest_path": "a.py", "name": "C.f", "anchor_type": "before", "anchor_symbol": "C"})).await;
    assert_eq!(desk.get("a.py").unwrap(), b"def f(self): pass\n\n\nclass C:\n    pass\n");
}

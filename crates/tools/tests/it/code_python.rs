//! The Python rows that read, through the real house: what each says.

use serde_json::{Value, json};
use tectum_core::FaultKind;

use crate::edit_rig::Desk;

pub(crate) const SHAPES: &str = "\
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

/// The reply of a reader.
#[track_caller]
fn reads(tool: &str, source: &str, args: Value) -> String {
    tokio::runtime::Runtime::new().expect("a runtime").block_on(async {
        let desk = Desk::new();
        desk.put("a.py", source);
        let (text, data) = desk.works(tool, with_path(args)).await;
        without_place(text, &data)
    })
}

/// A reply without the line that tells where a single definition stands, which must be as the
/// data tells it.
pub(crate) fn without_place(text: String, data: &Value) -> String {
    let Some([one]) = data["found"].as_array().map(Vec::as_slice) else { return text };
    let kind = one["kind"].as_str().expect("a kind").to_lowercase();
    let (path, name) = (data["path"].as_str().expect("a path"), one["name"].as_str().expect("a name"));
    let place = format!("\n[{path}:{}-{} {kind} {name}]", one["first"], one["last"]);
    text.strip_suffix(&place).unwrap_or_else(|| panic!("{place} does not end {text}")).to_owned()
}

/// Calls a tool that refuses, and sees that nothing changed.
#[track_caller]
pub(crate) fn refuses(tool: &str, before: &str, args: Value, kind: FaultKind) -> String {
    tokio::runtime::Runtime::new().expect("a runtime").block_on(async {
        let desk = Desk::new();
        desk.put("a.py", before);
        let text = desk.fails(tool, with_path(args), kind).await;
        assert_eq!(desk.get("a.py").expect("there"), before.as_bytes(), "{text}");
        text
    })
}

pub(crate) fn with_path(mut args: Value) -> Value {
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

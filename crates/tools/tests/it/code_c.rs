//! The C and C++ rows through the real house.

use serde_json::{Value, json};
use tectum_core::FaultKind;

use crate::{code_python::without_place, edit_rig::Desk};

const CPP: &str = r#"#include <string>
#include "base.h"

namespace a::b {

/// A thing.
template <typename T>
class Thing : public Base<T>, private Other {
public:
    Thing() : x_(0) {}
    ~Thing();
    bool operator==(const Thing &other) const { return x_ == other.x_; }
    operator bool() const { return x_ != 0; }
    void set(int x);
    void set(const char *text) { parse(text); }
    template <typename U> U as() const { return static_cast<U>(x_); }

private:
    int x_ = 0;
};

template <typename T>
void Thing<T>::set(int x) {
    x_ = x;
}

}  // namespace a::b

extern "C" int c_entry(void) { return 1; }

#ifdef WIDE
int width(int a) {
#else
int width(long a) {
#endif
    return 2;
}

DECLARE_THING(x)
EXPORT static inline int after_macro(void) { return 3; }
"#;

const C: &str = r#"typedef struct {
    int a;
} Point;

struct node { struct node *next; };

int (*handler(int kind))(char) {
    return 0;
}

int old_style(a, b)
    int a;
    char *b;
{
    return a;
}

static int
gnu_style (void)
{
  return 1;
}
"#;

#[track_caller]
fn reads(tool: &str, file: &str, source: &str, mut args: Value) -> String {
    tokio::runtime::Runtime::new().expect("a runtime").block_on(async {
        let desk = Desk::new();
        desk.put(file, source);
        args["path"] = json!(file);
        let (text, data) = desk.works(tool, args).await;
        without_place(text, &data)
    })
}

#[track_caller]
fn definition(name: &str) -> String {
    reads("ts_cpp_get_definition", "a.cpp", CPP, json!({"name": name}))
}

#[test]
fn an_outline_shows_scopes_and_bases() {
    let outline = reads("ts_cpp_get_code_outline", "a.cpp", CPP, json!({}));
    for line in [
        "[Namespace] a::b (Lines 4-27)",
        "  [Class] Thing (Lines 7-20) extends Base, Other — A thing.",
        "    [Method] ~Thing (Lines 11-11)",
        "    [Method] operator bool (Lines 13-13)",
        "  [Method] Thing<T>::set (Lines 22-25)",
        "[Func] c_entry (Lines 29-29)",
        "[Func] after_macro",
    ] {
        assert!(outline.contains(line), "{line}\nis not in\n{outline}");
    }
    let outline = reads("ts_c_get_code_outline", "a.c", C, json!({}));
    for line in [
        "[Struct] Point (Lines 1-3)",
        "[Struct] node (Lines 5-5)",
        "[Func] handler (Lines 7-9)",
        "[Func] old_style (Lines 11-16)",
        "[Func] gnu_style (Lines 18-22)",
    ] {
        assert!(outline.contains(line), "{line}\nis not in\n{outline}");
    }
}

#[test]
fn names_are_found_as_people_write_them() {
    assert!(definition("a::b::Thing").starts_with("template <typename T>\nclass Thing"));
    assert_eq!(
        definition("Thing::operator=="),
        "    bool operator==(const Thing &other) const { return x_ == other.x_; }"
    );
    assert_eq!(definition("operator bool"), "    operator bool() const { return x_ != 0; }");
    assert_eq!(definition("Thing::~Thing"), "    ~Thing();");
    assert_eq!(definition("c_entry"), "extern \"C\" int c_entry(void) { return 1; }");
    assert!(definition("Thing::set(int)").contains("x_ = x;"));
    assert!(definition("Thing::set(const char*)").contains("parse(text)"));
    let all = definition("Thing::set");
    assert!(all.contains("#1 of 2") && all.contains("parse(text)") && all.contains("x_ = x;"), "{all}");
    assert_eq!(
        reads("ts_cpp_get_signature", "a.cpp", CPP, json!({"name": "Thing::as"})).trim(),
        "U as() const"
    );
    assert_eq!(
        reads("ts_c_get_signature", "a.c", C, json!({"name": "handler"})),
        "int (*handler(int kind))(char)"
    );
    let width = definition("width");
    assert!(width.contains("int width(int a)") && width.contains("return 2;"), "{width}");
}

#[test]
fn a_skeleton_leaves_no_branch_open() {
    let torn =
        "#ifdef W\nint p() { return 1;\n#else\nint p() { return 2;\n#endif\n}\nint q() { return 3; }\n";
    let skeleton = reads("code_skeleton", "a.c", torn, json!({}));
    assert!(skeleton.contains("#else\n") && skeleton.contains("#endif\n"), "{skeleton}");
    assert!(skeleton.contains("int q() { ... }"), "{skeleton}");
    let whole = "int p() {\n#if W\n  a();\n#else\n  b();\n#endif\n}\n";
    assert_eq!(reads("code_skeleton", "a.c", whole, json!({})), "int p() { ... }\n");
    // In other languages the sign begins a comment.
    let python = "def f():\n    x = 1\n    # else\n    return x\n";
    assert_eq!(reads("code_skeleton", "a.py", python, json!({})), "def f():\n    ...\n");
}

#[test]
fn a_skeleton_has_no_bodies() {
    let skeleton = reads("ts_cpp_get_skeleton", "a.cpp", CPP, json!({}));
    assert!(skeleton.contains("void Thing<T>::set(int x) { ... }"), "{skeleton}");
    assert!(skeleton.contains("bool operator==(const Thing &other) const { ... }"), "{skeleton}");
    assert!(skeleton.contains("class Thing : public Base<T>, private Other {"), "{skeleton}");
    assert!(!skeleton.contains("parse(text)"), "{skeleton}");
    assert!(
        reads("ts_c_get_skeleton", "a.c", C, json!({})).contains("typedef struct {\n    int a;\n} Point;")
    );
}

#[tokio::test]
async fn an_update_keeps_the_template_head_and_the_other_overloads() {
    let desk = Desk::new();
    desk.put("a.cpp", CPP);
    let args = |name: &str, content: &str| json!({"path": "a.cpp", "name": name, "new_content": content});
    let text = desk
        .fails("ts_cpp_update_definition", args("Thing::set", "void set() {}"), FaultKind::Conflict)
        .await;
    assert!(text.contains("Thing::set#1") && text.contains("Thing::set#2"), "{text}");
    desk.works(
        "ts_cpp_update_definition",
        args("Thing::set(int)", "void Thing<T>::set(int x) {\n  x_ = x + 1;\n}"),
    )
    .await;
    let after = String::from_utf8(desk.get("a.cpp").unwrap()).unwrap();
    assert_eq!(after, CPP.replace("    x_ = x;\n", "    x_ = x + 1;\n"));
    let text = desk
        .fails(
            "ts_cpp_update_definition",
            args("c_entry", "int c_entry(void) { return (1; }"),
            FaultKind::Conflict,
        )
        .await;
    assert!(text.contains("nothing was written"), "{text}");
    desk.put("h.h", "int f(void);\n");
    desk.works("ts_c_get_code_outline", json!({"path": "h.h"})).await;
    desk.works("ts_cpp_get_code_outline", json!({"path": "h.h"})).await;
    desk.put("p.py", "");
    let text = desk.fails("ts_c_get_skeleton", json!({"path": "p.py"}), FaultKind::InvalidInput).await;
    assert!(text.contains("not a C file"), "{text}");
}

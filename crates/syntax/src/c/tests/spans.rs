//! The beginnings and ends of the parts of a symbol.

use super::super::{outline_c, outline_cpp};
use crate::{Detail, Span, Symbol};

fn nth(text: &str, index: usize) -> Symbol {
    outline_cpp(text, Detail::Full).symbols[index]
}

fn check(text: &str, index: usize, part: fn(&Symbol) -> Span, expect: &str) {
    assert_eq!(part(&nth(text, index)).slice(text), expect, "{text}");
}

#[test]
fn whole() {
    check("  static int\nf(void)\n{ x; }\n", 0, |symbol| symbol.whole, "static int\nf(void)\n{ x; }");
    check(
        "template <class T>\nstruct A { } ;",
        0,
        |symbol| symbol.whole,
        "template <class T>\nstruct A { } ;",
    );
    check("typedef struct { int a; } N;", 0, |symbol| symbol.whole, "typedef struct { int a; } N;");
    check("extern \"C\" int f(void);", 0, |symbol| symbol.whole, "extern \"C\" int f(void);");
    check("API(x)\nint f(void);", 0, |symbol| symbol.whole, "API(x)\nint f(void);");
    check("#define A(x) \\\n  x\nint b;", 0, |symbol| symbol.whole, "#define A(x) \\\n  x");
    check("int f() try { } catch (...) { }", 0, |symbol| symbol.whole, "int f() try { } catch (...) { }");
    check(
        "#if A\nint f() {\n#else\nint g() {\n#endif\n}",
        0,
        |symbol| symbol.whole,
        "int f() {\n#else\nint g() {\n#endif\n}",
    );
    check("#if A\nint f() {\n#else\nint g() {\n#endif\n}", 1, |symbol| symbol.whole, "int g() {\n#endif\n}");
}

#[test]
fn head() {
    check("template <class T> int f(T t) { }", 0, |symbol| symbol.head, "int f(T t)");
    check("A::A(int a)  : b(a) { }", 0, |symbol| symbol.head, "A::A(int a)");
    check("class A : public B { };", 0, |symbol| symbol.head, "class A : public B");
    check("int f(void) ;", 0, |symbol| symbol.head, "int f(void)");
    check("int f(void) const noexcept { }", 0, |symbol| symbol.head, "int f(void) const noexcept");
    check("A::A() try : b() { } catch (...) { }", 0, |symbol| symbol.head, "A::A()");
    check("#define A(x, y) x", 0, |symbol| symbol.head, "#define A(x, y)");
}

#[test]
fn body() {
    check("int f(void) { x; }", 0, |symbol| symbol.body, "{ x; }");
    check("A::A() : b{1} { x; }", 0, |symbol| symbol.body, "{ x; }");
    check("A::A() = default;", 0, |symbol| symbol.body, "");
    check("struct A { int a; } b;", 0, |symbol| symbol.body, "{ int a; }");
    check("namespace a { }", 0, |symbol| symbol.body, "{ }");
    check("int f(void);", 0, |symbol| symbol.body, "");
}

#[test]
fn doc() {
    check("/** a\n b */\nint f(void);", 0, |symbol| symbol.doc, "/** a\n b */");
    check("// a\n// b\nint f(void);", 0, |symbol| symbol.doc, "// a\n// b");
    check("/// a\n\nint f(void);", 0, |symbol| symbol.doc, "");
    check("int a; // about a\nint b;", 1, |symbol| symbol.doc, "");
    check("// far\n\n// near\nint b;", 0, |symbol| symbol.doc, "// near");
    check("struct s {\n  // a\n  int a;\n};", 1, |symbol| symbol.doc, "// a");
    check("// m\n#define M(x) x", 0, |symbol| symbol.doc, "// m");
    check("// t\ntemplate <class T>\nint f(T);", 0, |symbol| symbol.doc, "// t");
}

#[test]
fn nothing_is_declared_that_is_given() {
    let declared =
        |text: &str| outline_cpp(text, Detail::Outline).symbols.last().map(|symbol| symbol.declaration);
    assert_eq!(declared("struct A { A() = default; };"), Some(false));
    assert_eq!(declared("struct A { void f() = delete; };"), Some(false));
    assert_eq!(declared("struct A { virtual void f() = 0; };"), Some(true));
    assert_eq!(declared("void f();"), Some(true));
    assert_eq!(declared("void f() {}"), Some(false));
}

#[test]
fn order_and_parents() {
    let text = "typedef struct tag { int a; } Name;";
    let outline = outline_c(text, Detail::Full);
    let names: Vec<&str> = outline.symbols.iter().map(|symbol| symbol.name.slice(text)).collect();
    assert_eq!(names, ["tag", "Name", "a"]);
    assert_eq!(outline.symbols[2].parent, Some(0));
}

//! Branches, and what is broken anyway.

use super::{both, c, cpp};

#[test]
fn each_branch_is_read() {
    both(
        "#if A\nint f(void) {}\n#else\nint g(void) {}\n#endif\nint h(void);",
        "Func f(void){}\nFunc g(void){}\nFunc h(void);",
    );
    both("#if 0\nint f(void) {}\n#endif\nint h(void);", "Func f(void){}\nFunc h(void);");
    both("#if 0\nint f(void) { {{{\n don't\n#endif\nint h(void);", "Func f(void){}\nFunc h(void);");
    both(
        "#ifdef A\n#elif B\nint f(void);\n#elif C\nint g(void);\n#endif\nint h(void);",
        "Func f(void);\nFunc g(void);\nFunc h(void);",
    );
}

#[test]
fn one_body_under_two_headers() {
    both(
        "#ifdef A\nint f(int a)\n#else\nint f(long a)\n#endif\n{ }\nint g(void) {}",
        "Func f(int a){}\nFunc g(void){}",
    );
    both(
        "#ifdef A\nint f(int a) {\n#else\nint f(long a) {\n#endif\n}\nint g(void) {}",
        "Func f(int a){}\nFunc f(long a){}\nFunc g(void){}",
    );
    both(
        "static int\n#ifdef A\nf(int a)\n#else\ng(int a)\n#endif\n{ }\nint h(void) {}",
        "Func f(int a){}\nFunc h(void){}",
    );
    both(
        "int f(int a\n#ifdef A\n , int b)\n#else\n , int c)\n#endif\n{ }\nint h(void) {}",
        "Func f(int a\n#ifdef A\n , int b){}\nFunc h(void){}",
    );
}

#[test]
fn braces_across_branches() {
    both(
        "void f(void) {\n#if A\nif (x) {\n#else\nif (y) {\n#endif\n}\n}\nint g(void) {}",
        "Func f(void){}\nFunc g(void){}",
    );
    both(
        "void f(void) {\n#if A\nif (x) {\n#endif\ny();\n#if A\n}\n#endif\n}\nint g(void) {}",
        "Func f(void){}\nFunc g(void){}",
    );
    both(
        "void f(void) {\n#ifdef A\n} else {\n#else\n}\n#endif\n",
        "Func f(void){}\ngap: a bracket is not closed",
    );
    cpp(
        "bool f() {\n#ifdef NO\n x();\n#else\n try {\n#endif\n y();\n#ifndef NO\n } catch (int) { }\n#endif\n}\nint g() {}",
        "Func f(){}\nFunc g(){}",
    );
    cpp(
        "#ifdef A\nclass X : B {\n#else\nclass X {\n#endif\n int f();\n};\nint g() {}",
        "Class X{}\nClass X{}\n  Method f();\nFunc g(){}",
    );
    cpp(
        "#if defined(A)\nnamespace a {\n#endif\nint f();\n#ifdef A\n}\n#endif\nint g();",
        "Namespace a{}\n  Func f();\nFunc g();",
    );
}

#[test]
fn directives_hide_nothing() {
    both("#define A {\n#define B '\nint f(void) {}", "Func f(void){}");
    both("#error don't\nint f(void) {}", "Func f(void){}");
    both("#include <a/*b>\nint f(void) {}\n/* */", "");
    both("#define X /* a\n b */ {\nint f(void) {}", "Func f(void){}");
    both("#define GLOB \"/*\"\nint f(void) {}", "Func f(void){}");
    both("#else\n#endif\n#elif\nint f(void) {}", "Func f(void){}");
}

#[test]
fn broken_text_is_a_gap() {
    both(
        "int f(void) {\n  if (x) {\n}\n\nint g(void)\n{\n}\n",
        "Func f(void){}\nFunc g(void){}\ngap: a body is not closed",
    );
    both("}\nint f(void) {}", "Func f(void){}\ngap: a brace closes nothing");
    both("int f(int a;\nint g(void) {}", "Func g(void){}\ngap: a bracket is not closed");
    cpp("namespace a {\nint f();", "Namespace a{}\n  Func f();\ngap: a brace is not closed");
    both("int f(void) { \"abc\n}\nint g(void) {}", "Func f(void){}\nFunc g(void){}");
    both("/* never closed\nint f(void) {}", "");
    let many = "int f(void) {\n  if (x) {\n}\n".repeat(20);
    let found = super::super::outline_c(&many, crate::Detail::Outline);
    assert_eq!(found.symbols.len(), 20);
    c("int f(void) {\nout:\nfoo();\nif (x) {\n}\n", "Func f(void){}\ngap: a bracket is not closed");
}

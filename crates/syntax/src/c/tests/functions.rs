//! Functions, methods and operators.

use super::{both, c, cpp};

#[test]
fn plain_functions() {
    both("", "");
    both("int f(void) { return 1; }", "Func f(void){}");
    both("int f(int a, char *b);", "Func f(int a, char *b);");
    both("static inline const char *\nname(int x)\n{\n}\n", "Func name(int x){}");
    both("struct foo *f(void) { if (x) { y(); } }", "Func f(void){}");
    both("struct foo f(void) {}\nenum e g(int);", "Func f(void){}\nFunc g(int);");
    both("unsigned long long f(x_t);", "Func f(x_t);");
    both("main() {}", "Func main(){}");
    both("void f() {}; void g() {}", "Func f(){}\nFunc g(){}");
    both("int \u{e9}t\u{e9}(void) {}", "Func \u{e9}t\u{e9}(void){}");
    both("int f(void)\r\n{\r\n}\r\nint g(void);\r\n", "Func f(void){}\nFunc g(void);");
}

#[test]
fn functions_that_return_functions() {
    both("int (*f(int a))(char) { }", "Func f(int a){}");
    both("void (*signal(int sig, void (*func)(int)))(int);", "Func signal(int sig, void (*func)(int));");
    both("foo_t (*f(int a))(char);", "Func f(int a);");
    both("int (*(*f(int a))(char))(long) {}", "Func f(int a){}");
    both("int (*f(void))[10] { }", "Func f(void){}");
    both("int (isdigit)(int c) { }", "Func isdigit(int c){}");
    both("int (*pointer)(int);", "");
}

#[test]
fn old_definitions() {
    c("int f(a, b) int a; char *b; { return a; }\nint g(void);", "Func f(a, b){}\nFunc g(void);");
    c("main(argc, argv)\n\tint argc;\n\tchar **argv;\n{\n}\n", "Func main(argc, argv){}");
    c("VOID stop(s, n) char *s; ftnlen n;\n{ }", "Func stop(s, n){}");
}

#[test]
fn macros_around_functions() {
    both("static __always_inline int f(void) __attribute__((x)) { }", "Func f(void){}");
    both("NPY_NO_EXPORT int\nfoo(int a)\n{\n}", "Func foo(int a){}");
    both("PyAPI_FUNC(int) foo(void);", "Func foo(void);");
    both("extern PyAPI_FUNC(int) foo(void);", "Func foo(void);");
    both("int WINAPI f(HANDLE h) { }", "Func f(HANDLE h){}");
    both("__declspec(dllexport) int f(void) {}", "Func f(void){}");
    both("int f(void) NOTHROW ATTR(x) { }", "Func f(void){}");
    both("int ATTR_SECTION(.text.hot) hot(void) { }", "Func hot(void){}");
    both("EXPORT int NOTHROW\nATTR(nonnull(1))\nje_align(void **p) { }", "Func je_align(void **p){}");
    both("__printf(1, 2) int f(const char *s, ...);", "Func f(const char *s, ...);");
    both("static STACK_OF(X509) *certs(int n) { }", "Func certs(int n){}");
    both("int f(int x) asm(\"name\");", "Func f(int x);");
    cpp("void f(int a) ABSL_LOCKS_EXCLUDED(mu);", "Func f(int a);");
}

#[test]
fn macros_that_are_functions() {
    both(
        "SYSCALL_DEFINE3(read, unsigned int, fd) { x(); }",
        "Func SYSCALL_DEFINE3(read, unsigned int, fd){}",
    );
    both("BOOST_AUTO_TEST_CASE(x) { f(); }", "Func BOOST_AUTO_TEST_CASE(x){}");
    both("TEST(Foo, Bar) {}\nTEST(Foo, Baz) {}", "Func TEST(Foo, Bar){}\nFunc TEST(Foo, Baz){}");
    both("void PREFIX(name)(int a) { }", "Func PREFIX(int a){}");
}

#[test]
fn lines_of_macros() {
    both("MODULE_LICENSE(\"GPL\");\nint f(void) {}", "Func f(void){}");
    both("G_DEFINE_TYPE(Foo, foo, BAR)\n\nint f(void) {}", "Func f(void){}");
    both(
        "int g(void) {}\nEXPORT_SYMBOL(g)\nEXPORT_SYMBOL(h)\n\nint f(void) {}",
        "Func g(void){}\nFunc f(void){}",
    );
    both("ITEM(X) = {\n A(1),\n} END(X)\n\nint f(void) { }", "Func f(void){}");
    both("ITEM(X) = TYPE(\n a, b)\nEND(X)\n\nstatic int f(void) { }", "Func f(void){}");
    both("CAST(a, double y = f(x);)\nint f(void) {}", "Func f(void){}");
    cpp("class A {\n  Q_OBJECT\n public:\n  int f();\n};", "Class A{}\n  Method f();");
    cpp("NAMESPACE_BEGIN(x)\nclass A { };\nNAMESPACE_END(x)\n", "Class A{}");
}

#[test]
fn values_are_not_functions() {
    both("static struct file_operations x = { .open = f, };\nint g(void) {}", "Func g(void){}");
    both("int a[] = { 1, 2 }; struct foo bar = { 0 };", "");
    both("int x = f(1);", "");
    both("_Static_assert(sizeof(int) == 4, \"no\");", "");
    cpp("Foo x(1, 2); std::string s(\"a\"); Bar y(&z);", "");
    cpp("int x{5}; std::vector<int> v{1, 2};\nvoid f() {}", "Func f(){}");
    cpp("auto f = [](int a) -> int { return a; };\nvoid g() {}", "Func g(){}");
    cpp("class A { int x ABSL_GUARDED_BY(mu); int y GUARDED_BY(m) = 0; };", "Class A{}");
    cpp("BENCHMARK(BM_x)->Range(0, 1024);", "");
    cpp("static_assert(a::b(), \"x\"); using namespace std; using a::b;", "");
    cpp("import foo; export module bar; module;", "");
}

#[test]
fn bodies_yield_nothing() {
    both("void f(void) { struct s { int a; }; int g(void); x: y(); }", "Func f(void){}");
    both("void f(void) { char c = '}'; char *s = \"}\"; /* } */ }\nint g;", "Func f(void){}");
    cpp("void f() { auto s = R\"x( } )\" )x\"; int n = 1'000'000; }\nvoid g();", "Func f(){}\nFunc g();");
    cpp("void f() { n = 0xab'cd'ef; c = u8'}'; s = L\"}\"; }\nvoid g();", "Func f(){}\nFunc g();");
}

#[test]
fn methods() {
    cpp("void A::B::f(int a) const { }", "Method A::B::f(int a){}");
    cpp("A::A(int a) : x(a), y{a} { }", "Method A::A(int a){}");
    cpp("A::~A() { }", "Method A::~A(){}");
    cpp("A::A() = default;\nA::~A() = default;", "Method A::A()\nMethod A::~A()");
    cpp("template <class T> int Foo<T>::f() { }", "Method Foo<T>::f(){}");
    cpp(
        "class A { A(); explicit A(int) ; ~A(); A(const A&) = delete; virtual void f() = 0; void g() {} };",
        "Class A{}\n  Method A();\n  Method A(int);\n  Method ~A();\n  Method A(const A&)\n  Method f();\n  Method g(){}",
    );
    cpp("struct A { A(int x) NOTE(y) : b(x) {} int b; };", "Struct A{}\n  Method A(int x){}");
    cpp("struct A { friend void f(A a) {} friend class B; };", "Struct A{}\n  Func f(A a){}");
    cpp("std::pair<int, long> ns::f(std::map<int, int> m) { }", "Method ns::f(std::map<int, int> m){}");
}

#[test]
fn operators() {
    for name in [
        "operator==",
        "operator()",
        "operator[]",
        "operator->",
        "operator<<",
        "operator<",
        "operator>",
        "operator=",
        "operator,",
        "operator<=>",
        "operator new",
        "operator new[]",
        "operator delete",
        "operator!",
        "operator\"\"_x",
        "operator \"\" _x",
        "operator&&",
        "operator->*",
        "operator++",
    ] {
        cpp(&format!("T {name}(A a) {{ }}\nint f();"), &format!("Func {name}(A a){{}}\nFunc f();"));
        cpp(&format!("struct A {{ T {name}(A a); }};"), &format!("Struct A{{}}\n  Method {name}(A a);"));
        cpp(&format!("T A::{name}(A a) {{ }}"), &format!("Method A::{name}(A a){{}}"));
    }
    for name in ["operator bool", "operator const T*", "operator std::string", "operator std::map<int, int>"]
    {
        cpp(&format!("A::{name}() const {{ }}"), &format!("Method A::{name}(){{}}"));
        cpp(
            &format!("struct A {{ explicit {name}() const; }};"),
            &format!("Struct A{{}}\n  Method {name}();"),
        );
    }
}

#[test]
fn what_follows_parameters() {
    cpp("auto f(int a) -> std::vector<int> { }", "Func f(int a){}");
    cpp("auto f() -> int;", "Func f();");
    cpp("void f() noexcept(noexcept(g())) { }", "Func f(){}");
    cpp("void f() noexcept override final;", "Func f();");
    cpp("template <class T> requires C<T> && D<T> void f(T t) { }", "Func f(T t){}");
    cpp("template <class T> void f(T t) requires(C<T>) { }\nvoid g();", "Func f(T t){}\nFunc g();");
    cpp("template <class T> requires requires(T t) { t.x(); } void f(T t) { }", "Func f(T t){}");
    cpp("A::A() try : x(1) { } catch (...) { }\nvoid g() {}", "Method A::A(){}\nFunc g(){}");
    cpp("int f() try { } catch (int) { } catch (...) { }\nvoid g() {}", "Func f(){}\nFunc g(){}");
    cpp("[[nodiscard]] int f();\n[[a, b(c)]] int g() {}", "Func f();\nFunc g(){}");
    cpp("constexpr int f() { }\nconsteval int g() { }", "Func f(){}\nFunc g(){}");
    cpp("template <> void f<int>(int a) { }", "Func f(int a){}");
    cpp("A(int) -> A<int>;\nvoid f();", "Func f();");
    cpp("template <class T = std::enable_if_t<(x > 1), int>> void f(T t = {}) {}", "Func f(T t = {}){}");
    cpp("decltype(g(1)) f() { }", "Func f(){}");
}

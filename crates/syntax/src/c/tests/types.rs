//! Types, names for types, namespaces, variables and members.

use super::{both, c, cpp, full};

#[test]
fn structs() {
    both("struct x;", "");
    both("struct x { int a; };", "Struct x{}");
    both("union u { int a; float b; } v;\nenum e { A, B };", "Union u{}\nEnum e{}");
    both("struct __attribute__((packed)) x { int a; };", "Struct x{}");
    both("struct x { int a; } __attribute__((packed));", "Struct x{}");
    both("struct a { struct b { int c; } d; };", "Struct a{}\n  Struct b{}");
    both("struct a { struct { int c; }; };", "Struct a{}\n  Struct {}");
    c("struct class { int template; };", "Struct class{}");
}

#[test]
fn classes() {
    cpp("class A : public B, private C<int> { };", "Class A{}");
    cpp("class EXPORT A final : B { };", "Class A{}");
    cpp("class alignas(16) __declspec(x) [[y]] A { };", "Class A{}");
    cpp("class A::B { int f(); };", "Class A::B{}\n  Method f();");
    cpp("template <> struct X<int> { };\ntemplate <class T> struct X<T*> { };", "Struct X{}\nStruct X{}");
    cpp("enum class E : int { A };\nenum F : unsigned char { B };", "Enum E{}\nEnum F{}");
    cpp(
        "class A { public: class B { void f(); }; private: void g(); };",
        "Class A{}\n  Class B{}\n    Method f();\n  Method g();",
    );
    cpp("class A { public slots: void f(); signals: void g(); };", "Class A{}\n  Method f();\n  Method g();");
    cpp("template <template <class> class T, int N = 3> class A { };", "Class A{}");
    cpp("template class A<int>; extern template class A<long>; class B;", "");
    cpp("struct A { int a : 3; int f() { return a; } };", "Struct A{}\n  Method f(){}");
}

#[test]
fn typedefs() {
    both("typedef int a;", "Typedef a");
    both("typedef struct { int a; } Name;", "Struct Name{}");
    both("typedef struct tag { int a; } Name, *Pointer;", "Struct tag{}\nTypedef Name\nTypedef Pointer");
    both("typedef enum { A } E;\ntypedef union { int a; } U;", "Enum E{}\nUnion U{}");
    both("typedef int (*fp)(int, char);\ntypedef void fn(int);", "Typedef fp\nTypedef fn");
    both("typedef int array[10];\ntypedef struct x x_t;", "Typedef array\nTypedef x_t");
    both("typedef ssize_t (read_cb)(void *p);", "Typedef read_cb");
    both("typedef LIST_OF(item) items;", "Typedef items");
    both("EXTENSION typedef signed __int128 big;", "Typedef big");
    both("typedef int a __attribute__((aligned(8)));", "Typedef a");
    cpp("typedef std::map<int, int> M;\nusing X = std::vector<int>;", "Typedef M\nTypedef X");
    cpp("template <class T> using P = T*;\nusing Y [[a]] = int;", "Typedef P\nTypedef Y");
    cpp("template <class T> concept C = requires(T t) { t.f(); };\nvoid f();", "Typedef C\nFunc f();");
}

#[test]
fn namespaces() {
    cpp("namespace a { void f(); }", "Namespace a{}\n  Func f();");
    cpp("namespace a::b { void f(); }", "Namespace a::b{}\n  Func f();");
    cpp("namespace { void f(); }", "Namespace {}\n  Func f();");
    cpp("inline namespace v1 { int f() {} }", "Namespace v1{}\n  Func f(){}");
    cpp("namespace [[deprecated]] a { }\nnamespace b = a;", "Namespace a{}");
    cpp("extern \"C\" { void f(); }\nextern \"C\" int g(void) { }", "Func f();\nFunc g(void){}");
    c(
        "#ifdef __cplusplus\nextern \"C\" {\n#endif\nint f(void);\n#ifdef __cplusplus\n}\n#endif\n",
        "Func f(void);",
    );
}

#[test]
fn members_and_variables_in_full() {
    full("int a, *b = 0, c[3]; extern int d;", "Var a\nVar b\nVar c\nVar d;");
    full(
        "struct s { int a, *b; int c : 3; int (*fp)(int); };",
        "Struct s{}\n  Field a\n  Field b\n  Field c\n  Field fp",
    );
    full("enum e { A = 1, B = f(1, 2), C };", "Enum e{}\n  Const A\n  Const B\n  Const C");
    full("struct foo bar = { 1, 2 };\nstruct foo *p;", "Var bar\nVar p");
    full("#define N 3\n#define M(a) a\n", "Const N\nMacro M(a)");
    full("std::map<int, int> m;\nint x GUARDED_BY(mu);\nint y UNUSED = 1;", "Var m\nVar x\nVar y");
    full("struct s {\n  PyObject_HEAD\n  int __x;\n};", "Struct s{}\n  Field __x");
    full("import foo;\nFOO;\nusing a::b;", "");
    full("static const struct { int a; } t[] = { {1} };", "Struct {}\nVar t\n  Field a");
    full("Foo x(1, 2);", "Var x");
}

#[test]
fn macros() {
    both("#define N 3\n#define F(a, b) ((a) + \\\n  (b))\nint f(void);", "Macro F(a, b)\nFunc f(void);");
    both("#  define G(...) x(__VA_ARGS__) // not )\n", "Macro G(...)");
    both("void f(void) {\n#define X(a) a\n}\n", "Func f(void){}\nMacro X(a)");
    both("#define\n#define \n#\n#define 1\n", "");
}

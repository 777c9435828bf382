//! The words that matter to a reader of declarations, in C and in C++.

/// The meaning of a word in a declaration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Key {
    /// `template`.
    Template,
    /// `class`.
    Class,
    /// `struct`.
    Struct,
    /// `union`.
    Union,
    /// `enum`.
    Enum,
    /// `namespace`.
    Namespace,
    /// `typedef`.
    Typedef,
    /// `using`.
    Using,
    /// `extern`.
    Extern,
    /// Says how something is kept or called, not what it is: `static`, `inline`, `virtual`.
    Storage,
    /// `friend`.
    Friend,
    /// `operator`.
    Operator,
    /// `const` and its kin.
    Qualifier,
    /// `requires`.
    Requires,
    /// `concept`.
    Concept,
    /// Stands after parameters: `noexcept`, `override`, `throw`.
    Trailing,
    /// `try`.
    Try,
    /// `catch`.
    Catch,
    /// May be followed by parentheses that are not parameters: `__attribute__`, `alignas`.
    Attribute,
    /// A type made by parentheses: `decltype(x)`.
    TypeOf,
    /// A type of the language: `int`.
    Primitive,
    /// `public`, `private`, `protected`.
    Access,
    /// Begins a statement: `if`, `return`.
    Control,
    /// `static_assert`.
    Assert,
    /// `default`, `delete`.
    Defaulted,
    /// `typename`.
    Typename,
}

/// The meaning of a word; `None` for a name.
pub(super) fn key(word: &[u8], cpp: bool) -> Option<Key> {
    if word.len() < 2 || word.len() > 18 || word[0].is_ascii_uppercase() {
        return None;
    }
    c_key(word).or_else(|| if cpp { cpp_key(word) } else { None })
}

fn c_key(word: &[u8]) -> Option<Key> {
    Some(match word {
        b"struct" => Key::Struct,
        b"union" => Key::Union,
        b"enum" => Key::Enum,
        b"typedef" => Key::Typedef,
        b"extern" => Key::Extern,
        b"static" | b"inline" | b"__inline" | b"__inline__" | b"register" | b"_Noreturn"
        | b"__extension__" | b"_Thread_local" | b"__thread" | b"__forceinline" => Key::Storage,
        b"const" | b"volatile" | b"restrict" | b"__restrict" | b"__restrict__" | b"__const"
        | b"__volatile__" => Key::Qualifier,
        b"int" | b"void" | b"char" | b"long" | b"short" | b"unsigned" | b"signed" | b"float" | b"double"
        | b"bool" | b"_Bool" | b"__int128" | b"_Complex" | b"__signed__" | b"size_t" | b"auto" => {
            Key::Primitive
        }
        b"__attribute__" | b"__attribute" | b"__declspec" | b"_Alignas" | b"asm" | b"__asm__" | b"__asm" => {
            Key::Attribute
        }
        b"typeof" | b"__typeof__" | b"__typeof" | b"_Atomic" | b"_BitInt" | b"typeof_unqual" => Key::TypeOf,
        b"_Static_assert" | b"static_assert" => Key::Assert,
        b"if" | b"else" | b"for" | b"while" | b"do" | b"switch" | b"case" | b"return" | b"goto"
        | b"break" | b"continue" | b"sizeof" | b"default" => return c_control(word),
        _ => return None,
    })
}

fn c_control(word: &[u8]) -> Option<Key> {
    Some(if word == b"default" { Key::Defaulted } else { Key::Control })
}

fn cpp_key(word: &[u8]) -> Option<Key> {
    Some(match word {
        b"template" => Key::Template,
        b"class" => Key::Class,
        b"namespace" => Key::Namespace,
        b"using" => Key::Using,
        b"virtual" | b"constexpr" | b"consteval" | b"constinit" | b"mutable" | b"thread_local"
        | b"export" => Key::Storage,
        b"friend" => Key::Friend,
        b"operator" => Key::Operator,
        b"requires" => Key::Requires,
        b"concept" => Key::Concept,
        b"noexcept" | b"override" | b"final" | b"throw" => Key::Trailing,
        b"try" => Key::Try,
        b"catch" => Key::Catch,
        b"alignas" | b"explicit" => Key::Attribute,
        b"decltype" => Key::TypeOf,
        b"public" | b"private" | b"protected" => Key::Access,
        b"delete" => Key::Defaulted,
        b"typename" => Key::Typename,
        b"wchar_t" | b"char8_t" | b"char16_t" | b"char32_t" => Key::Primitive,
        b"co_return" | b"co_await" | b"co_yield" | b"new" => Key::Control,
        _ => return None,
    })
}

//! Decorators that make one of several definitions of a name, which together are one symbol.

/// True if decorators say that another definition follows: `@overload`.
pub fn is_announced(decorators: &str) -> bool {
    paths(decorators).any(|path| path.rsplit('.').next() == Some("overload"))
}

/// True if decorators make a part of what has this name: `@overload`, `@name.setter`.
pub fn is_part(decorators: &str, name: &str) -> bool {
    let of_name = |path: &str| path.strip_prefix(name).is_some_and(|rest| rest.starts_with('.'));
    is_announced(decorators) || paths(decorators).any(of_name)
}

/// The names in the decorators that begin a line, without their arguments.
fn paths(decorators: &str) -> impl Iterator<Item = &str> {
    let named = decorators.lines().filter_map(|line| line.trim_start().strip_prefix('@'));
    named.map(|line| line.split(['(', ' ', '#']).next().unwrap_or(line).trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_told_by_their_decorators() {
        for (decorators, announced, part) in [
            ("@overload\n", true, true),
            ("@typing.overload\n@deprecated('x')", true, true),
            ("    @x.setter\n    ", false, true),
            ("@xx.setter", false, false),
            ("@functools.cache\n", false, false),
            ("@property", false, false),
            ("", false, false),
        ] {
            assert_eq!(
                (is_announced(decorators), is_part(decorators, "x")),
                (announced, part),
                "{decorators}"
            );
        }
    }
}

//! The role of a name in its statement: judged by the brackets around it and the tokens beside it,
//! without a tree.

use super::{
    lex::{PythonToken, Sort},
    statements::Statement,
    variables::{is_keyword, targets, type_alias},
};
use crate::{Mention, Role};

/// Judges the names of one statement.
pub(super) struct PythonRoles<'k> {
    text: &'k str,
    tokens: &'k [PythonToken],
    form: RoleForm,
    /// The names that the statement assigns or annotates, in order.
    targets: Vec<PythonToken>,
    frames: Vec<RoleFrame>,
    /// The parentheses of a definition have come: brackets behind them hold only values.
    past_parentheses: bool,
}

/// The statements that bind names in ways of their own.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RoleForm {
    Function,
    Class,
    Alias,
    Case,
    Other,
}

/// One level of brackets.
#[derive(Clone, Copy)]
struct RoleFrame {
    bracket: RoleBracket,
    /// Names here are bound: between `for` and `in`, or in the brackets after `as`.
    binds: bool,
    /// Lambdas whose colon has not come yet.
    lambdas: u32,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum RoleBracket {
    /// Of a definition's parameters, or of its type parameters.
    Parameters,
    /// After a value: a call's arguments, a class's bases, a subscript.
    Arguments,
    /// Any other, or none.
    Group,
}

impl<'k> PythonRoles<'k> {
    /// For one statement.
    pub(super) fn new(text: &'k str, statement: Statement<'k>) -> Self {
        let tokens = statement.tokens;
        let word = |index: usize| tokens.get(index).map_or("", |token| token.text(text));
        let form = match word(0) {
            "def" => RoleForm::Function,
            "async" if word(1) == "def" => RoleForm::Function,
            "class" => RoleForm::Class,
            "case" if statement.head => RoleForm::Case,
            _ if type_alias(text, tokens).is_some() => RoleForm::Alias,
            _ => RoleForm::Other,
        };
        let targets = match form {
            RoleForm::Alias => type_alias(text, tokens).into_iter().collect(),
            RoleForm::Other if !statement.head => targets(text, tokens),
            _ => Vec::new(),
        };
        let outside = RoleFrame { bracket: RoleBracket::Group, binds: form == RoleForm::Case, lambdas: 0 };
        Self { text, tokens, form, targets, frames: vec![outside], past_parentheses: false }
    }

    /// Adds a mention for each of the names, given by their places among the tokens, in order.
    pub(super) fn judge(mut self, names: &[usize], found: &mut Vec<Mention>) {
        let mut names = names.iter().copied().peekable();
        for (index, token) in self.tokens.iter().enumerate() {
            if names.next_if_eq(&index).is_some() {
                let (role, member) = self.role(index);
                found.push(Mention { span: token.span(), role, member });
            }
            if names.peek().is_none() {
                return;
            }
            self.step(index, *token);
        }
    }

    fn step(&mut self, index: usize, token: PythonToken) {
        let depth = self.frames.len();
        let Some(frame) = self.frames.last_mut() else { return };
        match token.sort {
            Sort::Open => {
                let frame = *frame;
                let inner = self.opened(index, token, frame, depth);
                self.frames.push(inner);
            }
            Sort::Close if depth > 1 => {
                self.frames.pop();
            }
            Sort::Name => match token.text(self.text) {
                "for" => frame.binds = true,
                "in" => frame.binds = false,
                // The guard of a case binds nothing.
                "if" => frame.binds = false,
                "lambda" => frame.lambdas += 1,
                _ => {}
            },
            Sort::Operator if token.is(b':') => frame.lambdas = frame.lambdas.saturating_sub(1),
            _ => {}
        }
    }

    fn opened(&mut self, index: usize, token: PythonToken, outer: RoleFrame, depth: usize) -> RoleFrame {
        let before = index.checked_sub(1).map(|before| self.tokens[before]);
        let own = depth == 1
            && !self.past_parentheses
            && match self.form {
                RoleForm::Function => !token.is(b'{'),
                RoleForm::Class => token.is(b'['),
                RoleForm::Alias => token.is(b'[') && index == 2,
                _ => false,
            };
        self.past_parentheses |= depth == 1 && token.is(b'(');
        let after_value = before.is_some_and(|before| {
            before.ends_value() && !(before.sort == Sort::Name && is_keyword(before.text(self.text)))
        });
        let bracket = match () {
            () if own => RoleBracket::Parameters,
            () if after_value => RoleBracket::Arguments,
            () => RoleBracket::Group,
        };
        let after_as = before.is_some_and(|before| before.text(self.text) == "as");
        let binds = match bracket {
            RoleBracket::Parameters => false,
            RoleBracket::Arguments => outer.binds && self.form == RoleForm::Case,
            RoleBracket::Group => outer.binds || after_as,
        };
        RoleFrame { bracket, binds, lambdas: 0 }
    }

    fn role(&self, index: usize) -> (Role, bool) {
        let frame = self.frames[self.frames.len() - 1];
        let token = self.tokens[index];
        let before = index.checked_sub(1).map(|before| self.tokens[before]);
        let after = self.tokens.get(index + 1);
        let called = after.is_some_and(|after| after.is(b'('));
        let before_is = |byte: u8| before.is_some_and(|before| before.is(byte));
        let after_is = |byte: u8| after.is_some_and(|after| after.is(byte));
        let word_before =
            before.filter(|before| before.sort == Sort::Name).map(|before| before.text(self.text));
        if is_keyword(token.text(self.text)) {
            return (Role::Reference, false);
        }
        if before_is(b'.') {
            return (if called && self.form != RoleForm::Case { Role::Call } else { Role::Attribute }, true);
        }
        let defined = matches!(word_before, Some("def" | "class" | "as"))
            || self.is_parameter(index, frame)
            || after.is_some_and(|after| after.is_with_equals(b':'))
            || self.targets.binary_search_by_key(&token.start, |target| target.start).is_ok();
        if defined {
            return (Role::Definition, false);
        }
        if frame.bracket == RoleBracket::Arguments && after_is(b'=') && (before_is(b'(') || before_is(b',')) {
            return (Role::Attribute, false);
        }
        let plain = !called && !after_is(b'.') && !after_is(b'[');
        if frame.binds && plain && token.text(self.text) != "case" {
            return (Role::Definition, false);
        }
        (if called && self.form != RoleForm::Case { Role::Call } else { Role::Reference }, false)
    }

    /// True if a name is a parameter: it begins one, after stars or not.
    fn is_parameter(&self, index: usize, frame: RoleFrame) -> bool {
        if frame.bracket != RoleBracket::Parameters && frame.lambdas == 0 {
            return false;
        }
        let mut before = index;
        while before > 0 && self.tokens[before - 1].is(b'*') {
            before -= 1;
        }
        before.checked_sub(1).is_some_and(|before| {
            let before = self.tokens[before];
            before.is(b',') || before.sort == Sort::Open || before.text(self.text) == "lambda"
        })
    }
}

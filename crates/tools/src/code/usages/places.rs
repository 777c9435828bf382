//! The places that an answer shows, and their order, without a list of all of them: code by path and
//! line, then strings and comments.

use std::{collections::HashSet, sync::Arc};

use tectum_syntax::Role;

use super::hits::{HitRow, Hits, ROLES};

/// Every role, with its name for one and for many.
pub(super) const NAMES: [(Role, &str, &str); ROLES] = [
    (Role::Definition, "definition", "definitions"),
    (Role::Call, "call", "calls"),
    (Role::MemberCall, "member call", "member calls"),
    (Role::Import, "import", "imports"),
    (Role::Attribute, "attribute", "attributes"),
    (Role::Reference, "reference", "references"),
    (Role::String, "string", "strings"),
    (Role::Comment, "comment", "comments"),
];

/// The places to be shown, in files that are told apart by where they stand in a list.
pub(super) struct UsagePlaces<'f, F> {
    found: &'f [(F, Arc<Hits>)],
    wanted: [bool; ROLES],
    /// Definitions that are not shown: a file and a row of it.
    left_out: HashSet<(usize, usize)>,
    /// The number of usages, held or not.
    pub(super) counts: [u64; ROLES],
    /// Files with a usage.
    pub(super) files: usize,
    /// Some places are only counted.
    pub(super) cut: bool,
}

/// One place: a file and a row of it, by their numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct UsagePlace {
    pub(super) file: usize,
    pub(super) row: usize,
}

impl<'f, F> UsagePlaces<'f, F> {
    /// The places in these roles.
    pub(super) fn sort(found: &'f [(F, Arc<Hits>)], wants: impl Fn(Role) -> bool) -> Self {
        let mut wanted = [false; ROLES];
        NAMES.iter().for_each(|(role, ..)| wanted[*role as usize] = wants(*role));
        let mut places =
            Self { found, wanted, left_out: HashSet::new(), counts: [0; ROLES], files: 0, cut: false };
        for (_, hits) in found {
            let mut any = false;
            for role in (0..ROLES).filter(|role| wanted[*role]) {
                places.counts[role] += hits.counts[role];
                any |= hits.counts[role] > 0;
            }
            places.files += usize::from(any);
            places.cut |= any && hits.cut;
        }
        places
    }

    /// Leaves out the definitions that do not fit, if some do.
    pub(super) fn choose(&mut self, fits: impl Fn(usize, u32) -> bool) {
        if !self.wanted[Role::Definition as usize] {
            return;
        }
        let (mut defined, mut others) = (0, HashSet::new());
        for (file, (_, hits)) in self.found.iter().enumerate().filter(|(_, (_, hits))| hits.defines()) {
            for (at, row) in hits.rows.iter().enumerate().filter(|(_, row)| row.role == Role::Definition) {
                defined += 1;
                if !fits(file, row.line) {
                    others.insert((file, at));
                }
            }
        }
        if others.len() == defined {
            return;
        }
        let count = &mut self.counts[Role::Definition as usize];
        *count = count.saturating_sub(others.len() as u64);
        self.left_out = others;
    }

    /// The number of places that can be shown.
    pub(super) fn len(&self) -> usize {
        let held = |hits: &Hits| self.held(hits, true) + self.held(hits, false);
        self.found.iter().map(|(_, hits)| held(hits)).sum::<usize>() - self.left_out.len()
    }

    /// The number of definitions that are left out.
    pub(super) fn left_out(&self) -> usize {
        self.left_out.len()
    }

    /// So many places after those that are passed over.
    pub(super) fn page(&self, from: usize, limit: usize) -> Vec<UsagePlace> {
        let mut page = Vec::new();
        let mut over = from;
        for code in [true, false] {
            for (file, (_, hits)) in self.found.iter().enumerate() {
                let held = self.held(hits, code);
                // Some of them may be left out; only a look at the rows tells.
                if held == 0 || (held <= over && self.left_out.is_empty()) {
                    over -= held;
                    continue;
                }
                let shown = |(at, row): &(usize, &HitRow)| {
                    row.role.is_code() == code
                        && self.wanted[row.role as usize]
                        && (self.left_out.is_empty() || !self.left_out.contains(&(file, *at)))
                };
                for (row, _) in hits.rows.iter().enumerate().filter(shown) {
                    if over > 0 {
                        over -= 1;
                        continue;
                    }
                    if page.len() == limit {
                        return page;
                    }
                    page.push(UsagePlace { file, row });
                }
            }
        }
        page
    }

    /// The number of held rows of a file, of those in code or of those in text.
    fn held(&self, hits: &Hits, code: bool) -> usize {
        let of_kind = NAMES.iter().filter(|(role, ..)| role.is_code() == code && self.wanted[*role as usize]);
        of_kind.map(|(role, ..)| hits.held[*role as usize] as usize).sum()
    }
}

#[cfg(test)]
mod tests {
    use tectum_syntax::{Mention, Span};

    use super::{super::hits::Room, *};

    /// Files with one word on each line, in these roles.
    fn found(files: &[&[Role]]) -> Vec<((), Arc<Hits>)> {
        let file = |roles: &&[Role]| {
            let mention = |(line, role): (usize, &Role)| Mention {
                span: Span::new(line * 2, line * 2 + 1),
                role: *role,
                member: false,
            };
            let mentions: Vec<Mention> = roles.iter().enumerate().map(mention).collect();
            let room = Room { rows: 100, texts: false };
            let hits = Hits::find(&"w\n".repeat(roles.len()), &mentions, room).expect("some");
            ((), Arc::new(hits))
        };
        files.iter().map(file).collect()
    }

    /// Every page of every size is a stretch of the whole list.
    #[track_caller]
    fn check(places: &UsagePlaces<'_, ()>, expect: &[(usize, usize)]) {
        let expect: Vec<UsagePlace> =
            expect.iter().map(|(file, row)| UsagePlace { file: *file, row: *row }).collect();
        assert_eq!(places.len(), expect.len());
        for from in 0..=expect.len() + 1 {
            for limit in 1..=expect.len() + 1 {
                let rest = expect.get(from..).unwrap_or_default();
                assert_eq!(places.page(from, limit), rest[..rest.len().min(limit)], "{from} {limit}");
            }
        }
    }

    #[test]
    fn code_comes_before_text_and_pages_join() {
        use Role::{Call, Comment, Definition};
        let found = found(&[&[Comment, Call], &[Comment], &[Definition, Call, Comment]]);
        check(&UsagePlaces::sort(&found, |_| true), &[(0, 1), (2, 0), (2, 1), (0, 0), (1, 0), (2, 2)]);
        check(&UsagePlaces::sort(&found, |role| role == Call), &[(0, 1), (2, 1)]);
        check(&UsagePlaces::sort(&found, |_| false), &[]);
    }

    #[test]
    fn definitions_that_do_not_fit_are_left_out_unless_all_are() {
        use Role::{Call, Definition};
        let found = found(&[&[Definition, Call], &[Definition], &[Call]]);
        let mut places = UsagePlaces::sort(&found, |_| true);
        places.choose(|_, _| false);
        check(&places, &[(0, 0), (0, 1), (1, 0), (2, 0)]);
        places.choose(|file, line| file == 1 && line == 1);
        check(&places, &[(0, 1), (1, 0), (2, 0)]);
        assert_eq!((places.left_out(), places.counts[Definition as usize]), (1, 1));
        let mut calls = UsagePlaces::sort(&found, |role| role == Call);
        calls.choose(|file, _| file == 1);
        check(&calls, &[(0, 1), (2, 0)]);
    }
}

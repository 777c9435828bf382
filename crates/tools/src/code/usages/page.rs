//! One page of usages, as text and as data.

use std::{collections::HashMap, fmt::Write, sync::Arc};

use tectum_core::{Ctx, Fault, Reply};
use tectum_syntax::Role;

use super::{
    super::{
        Only,
        project::{Entry, Facts, Sources},
    },
    RoleCount, Usage, UsagesOutput,
    hits::{Hits, ROLES, Row},
};
use crate::files::{skipped::Skipped, spelling::count};

/// Room left for the summary.
const SUMMARY: usize = 2 * 1024;
/// Every role, with its name for one and for many.
const NAMES: [(Role, &str, &str); ROLES] = [
    (Role::Definition, "definition", "definitions"),
    (Role::Call, "call", "calls"),
    (Role::Import, "import", "imports"),
    (Role::Attribute, "attribute", "attributes"),
    (Role::Reference, "reference", "references"),
    (Role::String, "string", "strings"),
    (Role::Comment, "comment", "comments"),
];

/// Every place to be shown, in order: code first, then strings and comments.
pub(super) struct Places {
    /// A file and a row of it, by their numbers.
    list: Vec<(usize, usize, Role, u32)>,
    /// How many usages there are, held or not.
    counts: [u64; ROLES],
    files: usize,
    cut: bool,
    left_out: usize,
}

impl Places {
    /// The places in these roles.
    pub(super) fn of(found: &[(Arc<Entry>, Arc<Hits>)], wanted: impl Fn(Role) -> bool) -> Self {
        let mut places = Self { list: Vec::new(), counts: [0; ROLES], files: 0, cut: false, left_out: 0 };
        for (_, hits) in found {
            let mut any = false;
            for (role, ..) in NAMES.iter().filter(|(role, ..)| wanted(*role)) {
                places.counts[*role as usize] += hits.counts[*role as usize];
                any |= hits.counts[*role as usize] > 0;
            }
            places.files += usize::from(any);
            places.cut |= any && hits.cut;
        }
        for code in [true, false] {
            for (file, (_, hits)) in found.iter().enumerate() {
                let rows = hits.rows.iter().enumerate();
                let rows = rows.filter(|(_, row)| row.role.is_code() == code && wanted(row.role));
                places.list.extend(rows.map(|(at, row)| (file, at, row.role, row.line)));
            }
        }
        places
    }

    /// Leaves out the definitions that do not fit, if some do.
    pub(super) fn choose(&mut self, fits: impl Fn(usize, u32) -> bool) {
        let keeps = |(file, _, role, line): &(usize, usize, Role, u32)| {
            *role != Role::Definition || fits(*file, *line)
        };
        let kept: Vec<bool> = self.list.iter().map(keeps).collect();
        let defined = self.list.iter().filter(|(_, _, role, _)| *role == Role::Definition).count();
        let others = kept.iter().filter(|kept| !**kept).count();
        if others == 0 || others == defined {
            return;
        }
        let mut kept = kept.into_iter();
        self.list.retain(|_| kept.next().unwrap_or(true));
        self.left_out = others;
        self.counts[Role::Definition as usize] =
            self.counts[Role::Definition as usize].saturating_sub(others as u64);
    }
}

/// A page to be written.
pub(super) struct Page<'p> {
    pub(super) sources: &'p Sources<'p>,
    pub(super) found: &'p [(Arc<Entry>, Arc<Hits>)],
    pub(super) places: Places,
    pub(super) word: &'p str,
    pub(super) only: Only,
    pub(super) limit: usize,
    pub(super) from: usize,
}

impl Page<'_> {
    pub(super) fn write(
        self,
        ctx: &Ctx,
        searched: usize,
        skipped: Skipped,
    ) -> Result<Reply<UsagesOutput>, Fault> {
        let list = self.places.list.get(self.from..).unwrap_or_default();
        let list = &list[..list.len().min(self.limit)];
        let around = self.around(list)?;
        let budget = ctx.max_output.saturating_sub(SUMMARY);
        let mut text = String::new();
        let mut matches = Vec::new();
        let mut spelled: HashMap<usize, String> = HashMap::new();
        for (file, row, role, _) in list {
            let (entry, hits) = &self.found[*file];
            let row = &hits.rows[*row];
            let path = spelled.entry(*file).or_insert_with(|| self.sources.spell(entry));
            // The first place is shown whatever it takes, so that every page goes further.
            let size = path.len() + row.text.len() + 32;
            if !matches.is_empty() && text.len() + size > budget {
                break;
            }
            let _ = writeln!(text, "{path}:{}: [{}] {}", row.line, role.label(), row.text);
            matches.push(usage(path.clone(), row, around.get(file)));
        }
        let total = self.places.counts.iter().sum();
        let next = self.from + matches.len();
        let more = next < self.places.list.len();
        let by_role = NAMES.iter().map(|(role, ..)| (role, self.places.counts[*role as usize]));
        let by_role = by_role.filter(|(_, count)| *count > 0);
        let output = UsagesOutput {
            name: self.word.to_owned(),
            total,
            files: self.places.files,
            by_role: by_role.map(|(role, count)| RoleCount { role: role.label(), count }).collect(),
            searched_files: searched,
            skipped,
            other_definitions: self.places.left_out,
            truncated: (more && !matches.is_empty()) || self.places.cut,
            next: (more && !matches.is_empty()).then_some(next),
            matches,
        };
        text.push_str(&self.summary(&output));
        Ok(Reply::new(text, output))
    }

    /// The facts of the files on the page, where the language tells them fast.
    fn around(&self, list: &[(usize, usize, Role, u32)]) -> Result<HashMap<usize, Arc<Facts>>, Fault> {
        let skims =
            |file: &usize| self.found[*file].0.named.as_ref().is_some_and(|language| language.skims());
        let mut files: Vec<usize> = list.iter().map(|(file, ..)| *file).filter(skims).collect();
        files.sort_unstable();
        files.dedup();
        let entries: Vec<Arc<Entry>> = files.iter().map(|file| self.found[*file].0.clone()).collect();
        let facts = self.sources.facts(&entries, self.only, false)?;
        Ok(facts.into_iter().map(|(at, facts)| (files[at], facts)).collect())
    }

    /// `12 usages in 4 files: 2 definitions, 10 calls; …`.
    fn summary(&self, output: &UsagesOutput) -> String {
        let counts = &self.places.counts;
        let named = NAMES.iter().filter(|(role, ..)| counts[*role as usize] > 0);
        let named: Vec<String> =
            named.map(|(role, one, many)| count(counts[*role as usize], one, many)).collect();
        let mut text = format!(
            "{} of `{}` in {}",
            count(output.total, "usage", "usages"),
            self.word,
            count(output.files as u64, "file", "files")
        );
        if !named.is_empty() {
            let _ = write!(text, ": {}", named.join(", "));
        }
        if output.other_definitions > 0 {
            let others = count(output.other_definitions as u64, "definition", "definitions");
            let _ = write!(text, "; {others} of that name elsewhere left out");
        }
        let what = match self.only {
            Only::Any => "of known languages",
            Only::One(id) => self.sources.code().packs.named(id).map_or(id, |language| language.pack().title),
        };
        let files = count(output.searched_files as u64, "file", "files");
        let _ = match self.only {
            Only::Any => write!(text, "; searched {files} {what}"),
            Only::One(_) => write!(text, "; searched {files} ({what} only)"),
        };
        let skipped = output.skipped.describe();
        if !skipped.is_empty() {
            let _ = write!(text, "; skipped: {skipped}");
        }
        match output.next {
            Some(next) => {
                let left = self.places.list.len() - next;
                let _ = write!(
                    text,
                    "; {} shown, {left} more lines, continue with from={next}",
                    output.matches.len()
                );
            }
            None if output.truncated => {
                text.push_str("; some are counted only: name a smaller directory to see them");
            }
            None if self.from > 0 && output.matches.is_empty() => {
                let _ = write!(text, "; nothing at from={}", self.from);
            }
            None => {}
        }
        text
    }
}

fn usage(path: String, row: &Row, facts: Option<&Arc<Facts>>) -> Usage {
    let symbol = facts.and_then(|facts| facts.around(row.line).map(|index| facts.full_name(index)));
    Usage {
        path,
        line: row.line,
        column: row.column,
        role: row.role.label(),
        text: row.text.to_string(),
        times: (row.times > 1).then_some(row.times),
        symbol,
    }
}

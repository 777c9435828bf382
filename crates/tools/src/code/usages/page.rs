//! One page of usages, as text and as data.

use std::{
    collections::{BTreeMap, HashMap},
    fmt::Write,
    sync::Arc,
};

use schemars::JsonSchema;
use serde::Serialize;
use tectum_core::{Ctx, Fault, Reply};

use super::{
    super::{
        Only,
        project::{Entry, SourceFacts, Sources},
    },
    hits::{HitRow, Hits},
    line::Line,
    places::{NAMES, UsagePlace, UsagePlaces},
};
use crate::files::{skipped::Skipped, spelling::count};

/// A page of usages.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct UsagesOutput {
    /// The word that was searched.
    pub name: String,
    /// The usages of this page: code by path and line, then strings and comments.
    pub matches: Vec<Usage>,
    /// How many usages there are on all pages.
    pub total: u64,
    /// Files with a usage.
    pub files: usize,
    /// Usages by what the name is there.
    pub by_role: Vec<RoleCount>,
    /// Files of known languages that were searched; others are not.
    pub searched_files: usize,
    /// What was left out.
    pub skipped: Skipped,
    /// Definitions left out because they belong to something else than was asked for.
    pub other_definitions: usize,
    /// True when there are more usages than this page shows.
    pub truncated: bool,
    /// What to pass as `from` for the next page.
    pub next: Option<usize>,
}

/// How many usages have a role.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RoleCount {
    /// The role.
    pub role: &'static str,
    /// How many.
    pub count: u64,
}

/// A line on which the name stands in one role.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Usage {
    /// The file, as other calls take it.
    pub path: String,
    /// The line, from 1.
    pub line: u32,
    /// The character where the name first stands there, from 1.
    pub column: u32,
    /// What the name is there.
    pub role: &'static str,
    /// The line, trimmed, and cut around the name when it is long.
    pub text: String,
    /// How often it stands there, when more than once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub times: Option<u32>,
    /// The symbol around it, in languages that are skimmed fast enough to tell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub symbol: Option<String>,
}

/// Room left for the summary.
const SUMMARY: usize = 2 * 1024;
/// A page to be written.
pub(super) struct UsagesPage<'p> {
    pub(super) sources: &'p Sources<'p>,
    pub(super) found: &'p [(Arc<Entry>, Arc<Hits>)],
    pub(super) places: UsagePlaces<'p, Arc<Entry>>,
    pub(super) word: &'p str,
    pub(super) only: Only,
    pub(super) limit: usize,
    pub(super) from: usize,
}

impl UsagesPage<'_> {
    pub(super) fn write(
        self,
        ctx: &Ctx,
        searched: usize,
        skipped: Skipped,
    ) -> Result<Reply<UsagesOutput>, Fault> {
        let list = self.places.page(self.from, self.limit);
        let around = self.around(&list)?;
        let again = self.read_again(&list)?;
        let budget = ctx.max_output.saturating_sub(SUMMARY);
        let mut text = String::new();
        let mut matches = Vec::new();
        let mut spelled: HashMap<usize, String> = HashMap::new();
        for place in list {
            let (entry, hits) = &self.found[place.file];
            let row = &hits.rows[place.row];
            let known = hits.texts.get(place.row).or_else(|| again.get(&place));
            let shown = known.map_or("", |text| text);
            let path = spelled.entry(place.file).or_insert_with(|| self.sources.spell(entry));
            // The first place is shown whatever it takes, so that every page goes further.
            let size = path.len() + shown.len() + 32;
            if !matches.is_empty() && text.len() + size > budget {
                break;
            }
            let _ = writeln!(text, "{path}:{}: [{}] {shown}", row.line, row.role.label());
            matches.push(usage(path.clone(), row, shown, around.get(&place.file)));
        }
        let total = self.places.counts.iter().sum();
        let next = self.from + matches.len();
        let lines = self.places.len();
        let more = next < lines;
        let by_role = NAMES.iter().map(|(role, ..)| (role, self.places.counts[*role as usize]));
        let by_role = by_role.filter(|(_, count)| *count > 0);
        let output = UsagesOutput {
            name: self.word.to_owned(),
            total,
            files: self.places.files,
            by_role: by_role.map(|(role, count)| RoleCount { role: role.label(), count }).collect(),
            searched_files: searched,
            skipped,
            other_definitions: self.places.left_out(),
            truncated: (more && !matches.is_empty()) || self.places.cut,
            next: (more && !matches.is_empty()).then_some(next),
            matches,
        };
        text.push_str(&self.summary(&output));
        if let Some(next) = output.next {
            text.insert_str(0, &format!("[more follows: continue with from={next}]\n"));
        }
        Ok(Reply::new(text, output))
    }

    /// The facts of the files on the page, where the language tells them fast.
    fn around(&self, list: &[UsagePlace]) -> Result<HashMap<usize, Arc<SourceFacts>>, Fault> {
        let skims =
            |file: &usize| self.found[*file].0.named.as_ref().is_some_and(|language| language.skims());
        let mut files: Vec<usize> = list.iter().map(|place| place.file).filter(skims).collect();
        files.sort_unstable();
        files.dedup();
        let entries: Vec<Arc<Entry>> = files.iter().map(|file| self.found[*file].0.clone()).collect();
        let facts = self.sources.facts(&entries, self.only, false)?;
        Ok(facts.into_iter().map(|(at, facts)| (files[at], facts)).collect())
    }

    /// The lines on the page that are not held. A file that changed since this question began
    /// shows what stands on the line now; the next question finds its places anew.
    fn read_again(&self, list: &[UsagePlace]) -> Result<HashMap<UsagePlace, Box<str>>, Fault> {
        let mut wanted: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for place in list.iter().filter(|place| self.found[place.file].1.texts.is_empty()) {
            wanted.entry(place.file).or_default().push(place.row);
        }
        let files: Vec<usize> = wanted.keys().copied().collect();
        let by_serial: HashMap<u64, usize> =
            files.iter().map(|file| (self.found[*file].0.serial, *file)).collect();
        let entries: Vec<Arc<Entry>> = files.iter().map(|file| self.found[*file].0.clone()).collect();
        let read = self.sources.each(&entries, |entry, content| {
            let file = by_serial.get(&entry.serial)?;
            let mut rows = wanted.get(file)?.clone();
            rows.sort_unstable();
            Some(shown(&content.text()?, &self.found[*file].1, &rows))
        })?;
        let places = read.into_iter().flat_map(|(at, texts)| {
            texts.into_iter().map({
                let file = files[at];
                move |(row, text)| (UsagePlace { file, row }, text)
            })
        });
        Ok(places.collect())
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
            Only::Any | Only::Outlined => "of known languages".to_owned(),
            Only::One(id) => {
                let named = self.sources.languages().packs.named(id);
                format!("({} only)", named.map_or(id, |language| language.pack().title))
            }
        };
        let files = count(output.searched_files as u64, "file", "files");
        let _ = write!(text, "; searched {files} {what}");
        let skipped = output.skipped.describe();
        if !skipped.is_empty() {
            let _ = write!(text, "; skipped: {skipped}");
        }
        match output.next {
            Some(next) => {
                let left = self.places.len() - next;
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

/// The lines of these rows, given in the order of the text.
fn shown(text: &str, hits: &Hits, rows: &[usize]) -> Vec<(usize, Box<str>)> {
    let mut line = Line::first(text);
    let mut texts = Vec::with_capacity(rows.len());
    for row in rows {
        let HitRow { line: number, column, .. } = hits.rows[*row];
        if !line.advance_to(number) {
            break;
        }
        texts.push((*row, line.shown(line.offset(column))));
    }
    texts
}

fn usage(path: String, row: &HitRow, text: &str, facts: Option<&Arc<SourceFacts>>) -> Usage {
    let symbol = facts.and_then(|facts| facts.around(row.line).map(|index| facts.full_name(index)));
    Usage {
        path,
        line: row.line,
        column: row.column,
        role: row.role.label(),
        text: text.to_owned(),
        times: (row.times() > 1).then_some(row.times()),
        symbol,
    }
}

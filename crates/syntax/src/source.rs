//! One text in one language, with what was found out about it so far.

use std::{
    ops::Range,
    sync::{Arc, OnceLock},
};

use tree_sitter::Tree;

use crate::{
    Detail, Language, Outline, Problem, Span,
    language::faults,
    query::FoundSymbols,
    tree::{self, Stop, Unparsed},
};

/// A text with what is known about it. Everything is found out once, when it is first asked.
#[derive(Debug)]
pub struct Source {
    language: Arc<Language>,
    text: Arc<str>,
    tree: OnceLock<Tree>,
    outlines: [OnceLock<Arc<Outline>>; 2],
    found: OnceLock<FoundSymbols>,
}

impl Source {
    /// Nothing is known yet.
    pub fn new(language: Arc<Language>, text: Arc<str>) -> Self {
        let outlines = [OnceLock::new(), OnceLock::new()];
        Self { language, text, tree: OnceLock::new(), outlines, found: OnceLock::new() }
    }

    /// Its language.
    pub fn language(&self) -> &Arc<Language> {
        &self.language
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Its definitions.
    pub fn outline(&self, detail: Detail, stop: Stop<'_>) -> Result<Arc<Outline>, Unparsed> {
        let known = &self.outlines[detail as usize];
        if let Some(outline) = known.get() {
            return Ok(outline.clone());
        }
        let outline = match self.language.pack().front.outline {
            Some(outline) => outline(&self.text, detail),
            None => self.language.found(self.tree(stop)?, &self.text, detail)?.outline,
        };
        Ok(known.get_or_init(|| Arc::new(outline)).clone())
    }

    /// The bases of a symbol of its outline, as written.
    pub fn bases(&self, detail: Detail, index: u32, stop: Stop<'_>) -> Result<Vec<Span>, Unparsed> {
        if let Some(bases) = self.language.pack().front.bases {
            let outline = self.outline(detail, stop)?;
            return Ok(bases(&self.text, outline.symbols[index as usize].head));
        }
        if self.language.skims() {
            return Ok(Vec::new());
        }
        if self.found.get().is_none() {
            let found = self.language.found(self.tree(stop)?, &self.text, Detail::Full)?;
            self.found.get_or_init(|| found);
        }
        let Some(found) = self.found.get() else { return Ok(Vec::new()) };
        // The place in a full outline differs from that in a short one; the name does not.
        let name = self.outline(detail, stop)?.symbols[index as usize].name;
        let full = found.outline.symbols.iter().position(|symbol| symbol.name == name);
        let of_this = found.bases.iter().filter(|(at, _)| full == Some(*at as usize));
        Ok(of_this.map(|(_, base)| with_arguments(&self.text, *base)).collect())
    }

    /// The problems that a compiler would report.
    pub fn check(&self, stop: Stop<'_>) -> Result<Vec<Problem>, Unparsed> {
        match self.language.pack().front.check {
            Some(check) => check(&self.text),
            None => Ok(faults(self.tree(stop)?, &self.text)),
        }
    }

    /// The same file after one edit. If there was a tree, it is parsed again only where it
    /// changed, unless the edit broke something.
    pub fn edited(&self, range: &Range<usize>, inserted: &str, after: Arc<str>, stop: Stop<'_>) -> Self {
        let next = Self::new(self.language.clone(), after);
        if let Some(old) = self.tree.get() {
            let mut old = old.clone();
            tree::edit(&mut old, &self.text, range, inserted);
            // A tree with errors depends on how it came about; such a text is parsed anew, so that
            // its outline is the same whoever asks.
            if let Ok(tree) = self.language.parse(&next.text, Some(&old), stop)
                && !tree.root_node().has_error()
            {
                next.tree.get_or_init(|| tree);
            }
        }
        next
    }

    fn tree(&self, stop: Stop<'_>) -> Result<&Tree, Unparsed> {
        if self.tree.get().is_none() {
            let tree = self.language.parse(&self.text, None, stop)?;
            self.tree.get_or_init(|| tree);
        }
        self.tree.get().ok_or(Unparsed::Stopped)
    }
}

/// A base with the type arguments behind it, where a grammar does not count them to it.
fn with_arguments(text: &str, base: Span) -> Span {
    /// Longer ones are not shown.
    const MOST: usize = 200;
    let rest = &text[base.end as usize..];
    if !rest.starts_with('<') {
        return base;
    }
    let (mut depth, mut before) = (0usize, ' ');
    for (at, c) in rest.char_indices().take(MOST) {
        match c {
            '<' => depth += 1,
            // The arrow of a function's type closes nothing.
            '>' if before != '=' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Span { start: base.start, end: base.end + at as u32 + 1 };
        }
        before = c;
    }
    base
}

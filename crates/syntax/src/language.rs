//! A language at work: a pack with its queries compiled when they are first needed. Each
//! question goes to the pack's own front end if it has one, to the tree if not.

use std::sync::{Arc, OnceLock};

use tree_sitter::{Query, QueryError, Tree};

use crate::{
    CallSite, Detail, Import, Mention, Outline, Pack, Problem, Queries, Shadow, Span,
    faults::each_fault,
    imports, locals,
    query::{FoundSymbols, Symbols},
    references::{self, words},
    tree::{self, Stop, Unparsed, span},
};

/// Problems told of one file; a broken file has thousands, and the first are the ones to mend.
const MOST_PROBLEMS: usize = 100;

/// A language, ready for questions about texts.
#[derive(Debug)]
pub struct Language {
    pack: &'static Pack,
    symbols: OnceLock<Result<Symbols, QueryError>>,
    references: Compiled,
    imports: Compiled,
    locals: Compiled,
}

/// A query that is compiled when it is first asked for, and never where it is empty: compiling
/// all of a language takes longer than outlining a file.
type Compiled = OnceLock<Result<Option<Query>, QueryError>>;

impl Language {
    /// Nothing is compiled yet.
    pub fn new(pack: &'static Pack) -> Arc<Self> {
        Arc::new(Self {
            pack,
            symbols: OnceLock::new(),
            references: Compiled::new(),
            imports: Compiled::new(),
            locals: Compiled::new(),
        })
    }

    /// The language as data.
    pub fn pack(&self) -> &'static Pack {
        self.pack
    }

    /// Compiles everything now, to learn whether it compiles.
    pub fn compile(&self) -> Result<(), String> {
        let Ok(grammar) = self.grammar() else { return Ok(()) };
        let failed = |error: &QueryError| format!("{}: {error}", self.pack.id);
        self.symbols(&grammar).map_err(failed)?;
        for (query, kept) in self.queries() {
            query_of(&grammar, query, kept).map_err(failed)?;
        }
        Ok(())
    }

    fn grammar(&self) -> Result<tree_sitter::Language, Unparsed> {
        self.pack.grammar.map(|grammar| grammar()).ok_or(Unparsed::Grammar(self.pack.title))
    }

    fn symbols(&self, grammar: &tree_sitter::Language) -> Result<&Symbols, &QueryError> {
        let compile = || Symbols::compile(grammar, self.pack.queries.symbols);
        self.symbols.get_or_init(compile).as_ref()
    }

    /// The queries that are not about symbols, each with its place.
    fn queries(&self) -> [(&'static str, &Compiled); 3] {
        let Queries { references, imports, locals, .. } = &self.pack.queries;
        [(references, &self.references), (imports, &self.imports), (locals, &self.locals)]
    }

    fn asked<'l>(&self, query: &str, kept: &'l Compiled) -> Result<Option<&'l Query>, Unparsed> {
        query_of(&self.grammar()?, query, kept).map_err(|_| Unparsed::Grammar(self.pack.title))
    }

    fn references(&self) -> Result<Option<&Query>, Unparsed> {
        self.asked(self.pack.queries.references, &self.references)
    }

    fn imported(&self) -> Result<Option<&Query>, Unparsed> {
        self.asked(self.pack.queries.imports, &self.imports)
    }

    fn locals(&self) -> Result<Option<&Query>, Unparsed> {
        self.asked(self.pack.queries.locals, &self.locals)
    }

    /// True if a tree is needed for outlines.
    pub fn skims(&self) -> bool {
        self.pack.front.outline.is_some()
    }

    /// Parses with the grammar.
    pub(crate) fn parse(&self, text: &str, old: Option<&Tree>, stop: Stop<'_>) -> Result<Tree, Unparsed> {
        tree::parse((&self.grammar()?, self.pack.title), text, old, stop)
    }

    /// The definitions of a text, parsed anew if the pack does not skim.
    pub fn outline(&self, text: &str, detail: Detail, stop: Stop<'_>) -> Result<Outline, Unparsed> {
        match self.pack.front.outline {
            Some(outline) => Ok(outline(text, detail)),
            None => Ok(self.found(&self.parse(text, None, stop)?, text, detail)?.outline),
        }
    }

    /// Symbols and bases from a tree.
    pub(crate) fn found(&self, tree: &Tree, text: &str, detail: Detail) -> Result<FoundSymbols, Unparsed> {
        let symbols = self.symbols(&self.grammar()?).map_err(|_| Unparsed::Grammar(self.pack.title))?;
        Ok(symbols.find(tree, text, detail))
    }

    /// Every place where a word stands. A text without it is not parsed.
    pub fn mentions(&self, text: &str, word: &str, stop: Stop<'_>) -> Result<Vec<Mention>, Unparsed> {
        if let Some(mentions) = self.pack.front.mentions {
            return Ok(mentions(text, word));
        }
        if words(text, word).next().is_none() {
            return Ok(Vec::new());
        }
        match self.parse(text, None, stop) {
            Ok(tree) => {
                let outline = self.found(&tree, text, Detail::Full)?.outline;
                let queries = (self.references()?, self.imported()?);
                Ok(references::mentions(queries, &tree, text, word, &outline))
            }
            // What is too large to parse is still searched.
            Err(Unparsed::TooLarge(_)) => Ok(references::plain_mentions(text, word)),
            Err(error) => Err(error),
        }
    }

    /// The imports of a text.
    pub fn imports(&self, text: &str, stop: Stop<'_>) -> Result<Vec<Import>, Unparsed> {
        match self.pack.front.imports {
            Some(imports) => Ok(imports(text)),
            None => {
                let separator = self.pack.style.separator;
                Ok(imports::find(self.imported()?, &self.parse(text, None, stop)?, text, separator))
            }
        }
    }

    /// The calls in a stretch of a text, but for those in functions defined inside it.
    pub fn calls(
        &self,
        text: &str,
        within: Span,
        outline: &Outline,
        stop: Stop<'_>,
    ) -> Result<Vec<CallSite>, Unparsed> {
        if let Some(calls) = self.pack.front.calls {
            return Ok(calls(text, within));
        }
        let nested = outline.symbols.iter().filter(|symbol| symbol.kind.is_callable());
        let nested: Vec<Span> = nested
            .map(|symbol| symbol.whole)
            .filter(|whole| within.holds(*whole) && *whole != within)
            .collect();
        Ok(references::calls(self.references()?, &self.parse(text, None, stop)?, text, within, nested))
    }

    /// Stretches in which a word is bound anew, so that it does not mean the outer one: in order
    /// and apart from one another.
    pub fn shadows(&self, text: &str, word: &str, stop: Stop<'_>) -> Result<Vec<Shadow>, Unparsed> {
        match self.pack.front.shadows {
            Some(shadows) => Ok(shadows(text, word)),
            // A text without the word binds it nowhere.
            None if words(text, word).next().is_none() => Ok(Vec::new()),
            None => Ok(locals::shadows(self.locals()?, &self.parse(text, None, stop)?, text, word)),
        }
    }

    /// The places where a word is a key and its value in one, `{ word }`, in order.
    pub fn shorts(&self, text: &str, word: &str, stop: Stop<'_>) -> Result<Vec<Span>, Unparsed> {
        let has_them = self.pack.queries.references.contains("@short");
        if !has_them || words(text, word).next().is_none() {
            return Ok(Vec::new());
        }
        Ok(references::shorts(self.references()?, &self.parse(text, None, stop)?, text, word))
    }

    /// The string literals of a text; none of a text that cannot be parsed.
    pub fn strings(&self, text: &str) -> Vec<Span> {
        if let Some(strings) = self.pack.front.strings {
            return strings(text);
        }
        match (self.parse(text, None, &|| false), self.references()) {
            (Ok(tree), Ok(query)) => references::strings(query, &tree, text),
            _ => Vec::new(),
        }
    }

    /// The problems that a compiler would report.
    pub fn check(&self, text: &str, stop: Stop<'_>) -> Result<Vec<Problem>, Unparsed> {
        match self.pack.front.check {
            Some(check) => check(text),
            None => Ok(faults(&self.parse(text, None, stop)?, text)),
        }
    }
}

fn query_of<'l>(
    grammar: &tree_sitter::Language,
    query: &str,
    kept: &'l Compiled,
) -> Result<Option<&'l Query>, &'l QueryError> {
    let compile = || if query.trim().is_empty() { Ok(None) } else { Query::new(grammar, query).map(Some) };
    kept.get_or_init(compile).as_ref().map(Option::as_ref)
}

/// The errors of a tree, in words.
pub(crate) fn faults(tree: &Tree, text: &str) -> Vec<Problem> {
    let mut problems = Vec::new();
    each_fault(tree.root_node(), &mut |node| {
        let span = span(node);
        let message = if node.is_missing() {
            format!("missing `{}`", node.kind())
        } else {
            match span.slice(text).split_whitespace().next() {
                None => "unexpected end of file".to_owned(),
                Some(word) => format!("unexpected `{}`", word.chars().take(40).collect::<String>()),
            }
        };
        problems.push(Problem { span, message });
        problems.len() < MOST_PROBLEMS
    });
    problems
}

//! Reads a command line as bash and `sh` both would, and stops at whatever they might not read
//! alike or that decides only while it runs what is run.

use super::{
    part::{Part, by_last_name, names},
    programs,
    word::Word,
};

/// How deep commands may stand in each other.
const DEEPEST: usize = 16;

/// Words that begin or end something else than a simple command where a command's name is due.
const RESERVED: [&str; 21] = [
    "if", "then", "elif", "else", "fi", "for", "while", "until", "do", "done", "case", "esac", "in",
    "select", "function", "time", "coproc", "{", "}", "!", "[[",
];

/// Why a line cannot be read, for people.
type Why = String;

/// A here-document whose text follows the line.
struct HereDocument {
    end: String,
    /// Whether its text is taken as it stands.
    literal: bool,
    tabs: bool,
}

/// A command line being read.
pub(super) struct LineReader<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
    documents: Vec<HereDocument>,
    /// What was found so far.
    pub(super) found: Vec<Part>,
}

impl<'a> LineReader<'a> {
    pub(super) fn new(text: &'a str, depth: usize) -> Self {
        Self { text, at: 0, depth, documents: Vec::new(), found: Vec::new() }
    }

    /// Reads the whole text.
    pub(super) fn all(&mut self) -> Result<(), Why> {
        self.list(false)
    }

    fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += c.len_utf8();
        Some(c)
    }

    fn takes(&mut self, what: &str) -> bool {
        let takes = self.text[self.at..].starts_with(what);
        self.at += if takes { what.len() } else { 0 };
        takes
    }

    /// Commands up to the end of the text or, inside parentheses, up to the one that closes.
    fn list(&mut self, inside: bool) -> Result<(), Why> {
        loop {
            self.command()?;
            match self.next() {
                None if inside => return Err("a parenthesis is not closed".into()),
                None if !self.documents.is_empty() => return Err("a here-document has no text".into()),
                None => return Ok(()),
                Some(')') if inside => return Ok(()),
                Some(')') => return Err("a parenthesis closes what was not opened".into()),
                Some('\n') if inside => self.no_documents()?,
                Some('\n') => self.read_documents()?,
                Some(';') if matches!(self.peek(), Some(';' | '&')) => {
                    return Err("`case` is not read".into());
                }
                Some('&') if self.peek() == Some('>') => return Err("`&>` differs between shells".into()),
                Some('|') if self.peek() == Some('&') => return Err("`|&` differs between shells".into()),
                // Which separator it is does not matter: what stands on either side is a part.
                Some(_) => {}
            }
        }
    }

    /// A list in parentheses, of which the first has been read.
    fn inner(&mut self) -> Result<(), Why> {
        if self.peek() == Some('(') {
            return Err("arithmetic is not read".into());
        }
        self.deeper()?;
        self.list(true)?;
        self.depth -= 1;
        Ok(())
    }

    fn deeper(&mut self) -> Result<(), Why> {
        self.depth += 1;
        if self.depth > DEEPEST { Err("its commands are nested too deep".into()) } else { Ok(()) }
    }

    /// One simple command or one subshell, with its redirections.
    fn command(&mut self) -> Result<(), Why> {
        let (mut words, mut reads, mut redirected, mut closed) = (Vec::new(), Vec::new(), false, false);
        loop {
            self.skip_blanks()?;
            match self.peek() {
                None | Some(';' | '&' | '|' | '\n' | ')') => break,
                Some('#') => {
                    let rest = &self.text[self.at..];
                    self.at += rest.find('\n').unwrap_or(rest.len());
                }
                Some('<' | '>') => {
                    self.redirection(&mut reads)?;
                    redirected = true;
                }
                Some('(') if words.is_empty() && !redirected && !closed => {
                    self.next();
                    self.inner()?;
                    closed = true;
                }
                Some('(') => return Err("a function or a pattern in parentheses is not read".into()),
                Some(_) if closed => return Err("a word follows a parenthesis".into()),
                Some(_) => {
                    let word = self.word()?;
                    if matches!(self.peek(), Some('<' | '>')) {
                        let digits = word.text.bytes().all(|b| b.is_ascii_digit());
                        if digits && word.is_bare() && word.text.len() == 1 {
                            self.redirection(&mut reads)?;
                            redirected = true;
                            continue;
                        }
                        if digits || word.joined || word.raw.ends_with('}') {
                            return Err(format!("`{}` before a redirection is not read", word.raw));
                        }
                    }
                    words.push(word);
                }
            }
        }
        if words.is_empty() {
            return Ok(());
        }
        self.found.push(part(&words, &reads)?);
        Ok(())
    }

    /// Blanks and escaped line breaks.
    fn skip_blanks(&mut self) -> Result<(), Why> {
        loop {
            if self.takes("\\\n") {
                self.no_documents()?;
            } else if !(self.takes(" ") || self.takes("\t")) {
                return Ok(());
            }
        }
    }

    /// Shells differ in where the text of a here-document begins if the line goes on.
    fn no_documents(&self) -> Result<(), Why> {
        if self.documents.is_empty() { Ok(()) } else { Err("a line goes on behind a here-document".into()) }
    }

    fn word(&mut self) -> Result<Word, Why> {
        let from = self.at;
        let mut word = Word::default();
        while let Some(c) = self.peek() {
            if matches!(c, ' ' | '\t' | '\n' | ';' | '&' | '|' | '(' | ')' | '<' | '>') {
                break;
            }
            self.next();
            match c {
                '\\' => match self.next() {
                    None => return Err("it ends in a backslash".into()),
                    Some('\n') => word.joined = true,
                    Some(c) => word.text.push(c),
                },
                '\'' => {
                    let rest = &self.text[self.at..];
                    let end = rest.find('\'').ok_or("a quote is not closed")?;
                    word.text.push_str(&rest[..end]);
                    self.at += end + 1;
                }
                '"' => self.double_quoted(&mut word)?,
                '`' => self.backticks(&mut word, false)?,
                '$' => self.dollar(&mut word, false)?,
                '*' | '?' | '[' | '{' | '~' => {
                    word.open = true;
                    word.text.push(c);
                }
                c => word.text.push(c),
            }
        }
        word.raw = self.text[from..self.at].to_owned();
        // The name of a command, and its last argument.
        word.open &= word.raw != "[";
        if word.raw.contains('\n') {
            self.no_documents()?;
        }
        Ok(word)
    }

    fn double_quoted(&mut self, word: &mut Word) -> Result<(), Why> {
        loop {
            match self.next().ok_or("a quote is not closed")? {
                '"' => return Ok(()),
                '\\' => match self.next().ok_or("a quote is not closed")? {
                    c @ ('$' | '`' | '"' | '\\') => word.text.push(c),
                    '\n' => word.joined = true,
                    c => word.text.extend(['\\', c]),
                },
                '`' => self.backticks(word, true)?,
                '$' => self.dollar(word, true)?,
                c => word.text.push(c),
            }
        }
    }

    /// What follows a `$`: a variable, or a command whose output becomes a part of the word.
    fn dollar(&mut self, word: &mut Word, quoted: bool) -> Result<(), Why> {
        let name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        match self.peek() {
            Some('(') => {
                self.next();
                self.inner()?;
            }
            Some('{') => {
                let rest = &self.text[self.at + 1..];
                let end = rest.find('}').unwrap_or(0);
                if end == 0
                    || rest.starts_with(|c: char| c.is_ascii_digit())
                    || !rest[..end].chars().all(name)
                {
                    return Err("an expansion other than `${NAME}` is not read".into());
                }
                self.at += end + 2;
            }
            Some('?') => self.at += 1,
            Some(c) if name(c) && !c.is_ascii_digit() => {
                let rest = &self.text[self.at..];
                self.at += rest.find(|c| !name(c)).unwrap_or(rest.len());
            }
            Some('"' | ' ' | '|' | ')' | '/' | '.' | ',' | ':' | ';') if quoted => {
                word.text.push('$');
                return Ok(());
            }
            _ => return Err("what follows a `$` is not read".into()),
        }
        word.open = true;
        Ok(())
    }

    /// A command in backticks, read as a text of its own.
    fn backticks(&mut self, word: &mut Word, quoted: bool) -> Result<(), Why> {
        let rest = &self.text[self.at..];
        let end = rest.find('`').ok_or("a backtick is not closed")?;
        let text = &rest[..end];
        if text.contains('\\') || (quoted && text.contains('"')) {
            return Err("quotes within backticks differ between shells".into());
        }
        let mut inner = LineReader::new(text, self.depth);
        inner.deeper()?;
        let read = inner.all();
        self.found.append(&mut inner.found);
        self.at += end + 1;
        word.open = true;
        read
    }

    /// From `<` or `>` to the end of its target. A file that is written to is a part of its own;
    /// one that is read from belongs to its command.
    fn redirection(&mut self, reads: &mut Vec<String>) -> Result<(), Why> {
        if self.takes("<<") {
            reads.push("<<".to_owned());
            return self.document();
        }
        if self.takes(">&") || self.takes("<&") {
            let to = self.next();
            let ends = matches!(self.peek(), None | Some(' ' | '\t' | '\n' | ';' | '&' | '|' | ')'));
            return match to {
                Some('-' | '0'..='9') if ends => Ok(()),
                _ => Err("a redirection to something else than a number is not read".into()),
            };
        }
        let write = ["<>", ">>", ">|", ">"].into_iter().find(|operator| self.takes(operator));
        if write.is_none() {
            self.takes("<");
        }
        let target = self.target()?;
        match (write, target.text.as_str()) {
            (_, "/dev/null") => {}
            (None, _) => reads.push(format!("< {}", target.spelled())),
            (Some(write), _) => {
                let operator = if write == ">>" { ">>" } else { ">" };
                let text = format!("{operator} {}", target.spelled());
                self.found.push(Part { certain: text.len(), text, also: Vec::new(), doubt: None });
            }
        }
        Ok(())
    }

    fn target(&mut self) -> Result<Word, Why> {
        self.skip_blanks()?;
        if self.peek() == Some('#') {
            return Err("a redirection leads nowhere".into());
        }
        let word = self.word()?;
        if word.open {
            return Err("where a redirection leads is not known before it runs".into());
        }
        if word.raw.is_empty() || matches!(self.peek(), Some('<' | '>' | '(')) {
            return Err("a redirection leads to something that is not read".into());
        }
        if ["/dev/tcp/", "/dev/udp/"].iter().any(|net| word.text.starts_with(net)) {
            return Err("a redirection leads to the network".into());
        }
        Ok(word)
    }

    /// The word behind `<<`. Its text comes with the next line.
    fn document(&mut self) -> Result<(), Why> {
        if self.depth > 0 {
            return Err("a here-document within another command is not read".into());
        }
        let tabs = self.takes("-");
        let end = self.target()?;
        let name =
            |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
        let quoted = ['\'', '"'].iter().any(|quote| end.raw == format!("{quote}{}{quote}", end.text));
        if !name(&end.text) || !(quoted || end.is_bare()) {
            return Err("the end of a here-document is not a plain name".into());
        }
        self.documents.push(HereDocument { end: end.text, literal: quoted, tabs });
        Ok(())
    }

    /// The texts of the here-documents that the line before began.
    fn read_documents(&mut self) -> Result<(), Why> {
        for document in std::mem::take(&mut self.documents) {
            loop {
                let rest = &self.text[self.at..];
                if rest.is_empty() {
                    return Err("a here-document does not end".into());
                }
                let line = rest.split('\n').next().unwrap_or_default();
                self.at += (line.len() + 1).min(rest.len());
                let text = if document.tabs { line.trim_start_matches('\t') } else { line };
                if text == document.end {
                    break;
                }
                if !document.literal && text.contains(['$', '`', '\\']) {
                    return Err("a here-document holds something that is expanded".into());
                }
            }
        }
        Ok(())
    }
}

/// The part that a simple command is.
fn part(words: &[Word], reads: &[String]) -> Result<Part, Why> {
    let name = &words[0];
    if name.open {
        return Err("the name of a command is not known before it runs".into());
    }
    if name.text.contains('=') {
        return Err("it sets a variable".into());
    }
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"_./+-".contains(&b);
    if !matches!(name.text.as_str(), "[" | ":") && (name.text.is_empty() || !name.text.bytes().all(plain))
        || RESERVED.contains(&name.text.as_str())
    {
        return Err(format!("`{}` is not read as the name of a command", name.raw));
    }
    let mut text = String::new();
    let mut certain = None;
    for word in words {
        if word.open {
            certain.get_or_insert(text.len());
        }
        text.push_str(&word.spelled());
        text.push(' ');
    }
    text.push_str(&reads.join(" "));
    let text = text.trim_end_matches(' ').to_owned();
    Ok(match programs::doubt(words) {
        Some(doubt) => Part { certain: 0, also: names(&text), doubt: Some(doubt), text },
        None => {
            let certain = certain.unwrap_or(text.len());
            Part { certain, also: by_last_name(&text).into_iter().collect(), doubt: None, text }
        }
    })
}

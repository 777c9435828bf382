//! `fetch_url`: a page of the web as text, a long one in parts.

use std::{sync::Arc, time::Duration};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tectum_core::{Card, Ctx, Fault, Reply, Subject, Tool, ToolRole, Wants, World};
use tectum_web::{Fetched, Format, Page, PageUrl};

use super::{
    mark::{MARK, marked},
    shared::Network,
    shelf::Shelf,
    trouble::fault,
};
use crate::{cards::READS, files::more::room};

/// Characters of one part: what a model reads at once without losing sight of its task.
const MOST_CHARACTERS: usize = 40_000;

/// Fetches pages.
#[derive(Debug)]
pub struct FetchUrl {
    network: Arc<Network>,
    shelf: Shelf,
}

impl FetchUrl {
    /// By this network.
    pub fn new(network: Arc<Network>) -> Self {
        Self { network, shelf: Shelf::default() }
    }
}

/// Fetch a web page (http, https) as Markdown, text or raw.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    #[schemars(with = "String")]
    url: PageUrl,
    #[serde(default)]
    #[schemars(with = "Form")]
    format: Format,
    /// First character, from 1.
    #[serde(default = "first")]
    from: usize,
}

/// What [`Format`] looks like in a schema.
#[derive(JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
#[expect(dead_code, reason = "only its schema is used")]
enum Form {
    Markdown,
    Text,
    Raw,
}

/// A part of a page.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    /// Where it lies, after redirects.
    #[schemars(with = "String")]
    pub url: PageUrl,
    /// What it is, such as `text/html`; empty where nobody said.
    pub content_type: String,
    /// Exactly these characters of it, somebody else's words; empty where it is not text.
    pub content: String,
    /// The first of them, from 1; 0 when there is none.
    pub first: usize,
    /// The last of them; 0 when there is none.
    pub last: usize,
    /// Characters of the whole text.
    pub characters: usize,
    /// What to pass as `from` to go on.
    pub next: Option<usize>,
    /// True when the page is longer than what was read of it.
    pub cut: bool,
    /// Its size in bytes, for what is not text.
    pub size: Option<u64>,
    /// Another host that the page lies with; it was not asked.
    #[schemars(with = "Option<String>")]
    pub redirect: Option<PageUrl>,
}

impl Tool for FetchUrl {
    type Args = Args;
    type Output = Output;
    const CARD: Card = Card {
        name: "fetch_url",
        title: "Fetch page",
        world: World::Open,
        primary: "url",
        deadline: Duration::from_secs(45),
        role: ToolRole::Alias,
        ..READS
    };

    fn wants(&self, args: &Args) -> Wants {
        Wants { subject: Subject::Text(args.url.to_string()), paths: Vec::new() }
    }

    async fn call(&self, ctx: &Ctx, args: Args) -> Result<Reply<Output>, Fault> {
        if args.from == 0 {
            return Err(Fault::invalid("`from` must be at least 1: characters count from 1"));
        }
        let kept = (args.from > 1).then(|| self.shelf.find(&args.url, args.format)).flatten();
        let page = match kept {
            Some(page) => page,
            None => {
                let fetched = self.network.fetcher.get(&args.url, args.format.accept());
                let fetched = tokio::select! {
                    fetched = fetched => fetched.map_err(fault)?,
                    () = ctx.cancel.cancelled() => return Err(ctx.check().err().unwrap_or_else(|| Fault::internal("cancelled"))),
                };
                match fetched {
                    Fetched::Page(download) => {
                        Arc::new(ctx.blocking(move |_| download.page(args.format).map_err(fault)).await?)
                    }
                    Fetched::Elsewhere { from, to } => return Ok(elsewhere(from, to)),
                }
            }
        };
        let reply = part(&page, args.from, ctx.max_output)?;
        if reply.output.next.is_some() || args.from > 1 {
            self.shelf.keep(&args.url, args.format, &page);
        }
        Ok(reply)
    }
}

fn first() -> usize {
    1
}

fn elsewhere(from: PageUrl, to: PageUrl) -> Reply<Output> {
    let text = format!(
        "[{from} redirects to another host, which was not asked; continue with fetch_url url=\"{to}\"]"
    );
    let output = Output { redirect: Some(to), ..nothing(from) };
    Reply::new(text, output)
}

fn nothing(url: PageUrl) -> Output {
    Output {
        url,
        content_type: String::new(),
        content: String::new(),
        first: 0,
        last: 0,
        characters: 0,
        next: None,
        cut: false,
        size: None,
        redirect: None,
    }
}

/// The part of a page that begins at a character, within what the reply has room for.
fn part(page: &Page, from: usize, max_output: usize) -> Result<Reply<Output>, Fault> {
    let named = if page.content_type.is_empty() { "of an unnamed type" } else { &*page.content_type };
    let mut output = Output { content_type: page.content_type.clone(), ..nothing(page.url.clone()) };
    let Some(text) = &page.text else {
        output.size = page.size;
        let size = page.size.map_or("its size is unknown".to_owned(), |size| format!("{size} bytes"));
        let why = if named == "application/pdf" { "PDF is not read" } else { "it is not text" };
        return Ok(Reply::new(
            format!("[{} is {named}, {size}: {why}, so nothing is shown]", page.url),
            output,
        ));
    };
    output.characters = text.chars().count();
    output.cut = page.cut;
    if from > output.characters.max(1) {
        let message = format!("from={from} is past the end: the text has {} characters", output.characters);
        return Err(Fault::invalid(message).hint("the page may have changed; read it again without `from`"));
    }
    let rest = text.char_indices().nth(from - 1).map_or("", |(at, _)| &text[at..]);
    let bytes = room(max_output).saturating_sub(MARK + 2 * page.url.as_str().len());
    let shown = &rest[..end(rest, bytes)];
    let count = shown.chars().count();
    output.content = shown.to_owned();
    if count > 0 {
        (output.first, output.last) = (from, from + count - 1);
    }
    output.next = (shown.len() < rest.len()).then_some(from + count);
    let range = format!("characters {}-{} of {}", output.first, output.last, output.characters);
    let cut = if page.cut { "; the page is longer than what was read of it, which is cut here" } else { "" };
    let more = output.next.map(|next| format!("; continue with from={next}")).unwrap_or_default();
    let head = format!("[{}, {named}, {range}{cut}{more}]", page.url);
    let mut said = format!("{head}\n{}", marked(shown));
    if !more.is_empty() {
        // Some clients show a model only one end of a long reply.
        said = format!("{said}\n[{range}{more}]");
    }
    Ok(Reply::new(said, output))
}

/// The end of a part: after a line where one ends in its last eighth, else after a character.
fn end(text: &str, bytes: usize) -> usize {
    let by_characters = text.char_indices().nth(MOST_CHARACTERS).map_or(text.len(), |(at, _)| at);
    let mut end = by_characters.min(text.floor_char_boundary(bytes));
    if end == 0 {
        end = text.chars().next().map_or(0, char::len_utf8);
    }
    if end == text.len() {
        return end;
    }
    let line = text[..end].rfind('\n').map(|at| at + 1);
    line.filter(|line| *line > end / 8 * 7).unwrap_or(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(text: &str) -> Page {
        let url = "https://a.example/".parse().expect("an address");
        Page { url, content_type: "text/plain".into(), size: None, text: Some(text.into()), cut: false }
    }

    #[test]
    fn parts_join_to_the_whole_and_each_says_where_to_go_on() {
        let text: String = (0..9_000).map(|n| format!("line {n} \u{fc}\u{1f98a}\n")).collect();
        let page = page(&text);
        for room in [1_500, 20_000, 256 * 1024] {
            let (mut from, mut joined, mut parts) = (1, String::new(), 0);
            loop {
                let reply = part(&page, from, room).expect("a part");
                let tectum_core::Text::Said(said) = reply.text else { panic!("said") };
                assert!(said.len() <= room, "{} of {room}", said.len());
                joined += &reply.output.content;
                parts += 1;
                let Some(next) = reply.output.next else { break };
                assert_eq!(said.matches(&format!("continue with from={next}]")).count(), 2, "{said}");
                from = next;
            }
            assert!(joined == text && parts >= 3, "{parts} parts");
        }
        let past = part(&page, 10_000_000, 9_000).expect_err("past the end");
        assert!(past.message.contains("past the end"), "{}", past.message);
        assert_eq!(part(&self::page(""), 1, 9_000).expect("empty").output.last, 0);
    }
}

//! What is there to read in a page: its article where it has one, otherwise all of its body.

use std::time::Duration;

use dom_query::{Document, NodeRef};
use dom_smoothie::{Config, Readability, TextMode};

use crate::{
    Format, PageUrl,
    tree::{parse, words},
};

/// Beyond so many elements a page is a table or an attack; its article is not looked for.
const MOST_ELEMENTS: usize = 50_000;
/// Beyond so many levels nothing is nested that people wrote, and readers of it that call themselves for each
/// level would run out of stack.
const MOST_DEPTH: usize = 400;
/// What is shorter is a caption or a notice about cookies.
const LEAST_ARTICLE: usize = 250;

/// The text of a page. What has no article is shown whole, without scripts and styles; what takes longer to
/// parse than that, or is nested deeper than people write, is shown as its words.
pub(crate) fn text(html: &str, url: &PageUrl, format: Format, within: Duration) -> String {
    let document = parse(html, within);
    let Some(document) = document.filter(|document| depth(&document.root()) <= MOST_DEPTH) else {
        return words(html);
    };
    let whole = whole(&document, format);
    let Some((title, article)) = article(document, url, format) else { return whole };
    if article.chars().count() < LEAST_ARTICLE.min(whole.chars().count()) {
        return whole;
    }
    // A title that the article begins with is not said twice.
    let begins = article.trim_start_matches(['#', ' ']).starts_with(&title);
    match format {
        _ if title.is_empty() || begins => article,
        Format::Markdown => format!("# {title}\n\n{article}"),
        Format::Text | Format::Raw => format!("{title}\n\n{article}"),
    }
}

fn article(document: Document, url: &PageUrl, format: Format) -> Option<(String, String)> {
    let text_mode = if format == Format::Markdown { TextMode::Markdown } else { TextMode::Formatted };
    let config = Config { text_mode, max_elements_to_parse: MOST_ELEMENTS, ..Config::default() };
    let article =
        Readability::with_document(document, Some(url.as_str()), Some(config)).ok()?.parse().ok()?;
    let title = article.title.split_whitespace().collect::<Vec<_>>().join(" ");
    Some((title, article.text_content.trim().to_owned()))
}

fn whole(document: &Document, format: Format) -> String {
    for unseen in ["script", "style", "noscript", "template", "svg"] {
        document.select(unseen).remove();
    }
    let text = match format {
        Format::Markdown => document.md(None),
        Format::Text | Format::Raw => document.select("body").formatted_text(),
    };
    text.trim().to_owned()
}

/// How many levels a tree has, counted without calling itself.
fn depth(root: &NodeRef<'_>) -> usize {
    let (mut at, mut level, mut deepest) = (*root, 0, 0);
    loop {
        if let Some(child) = at.first_child() {
            at = child;
            level += 1;
            deepest = deepest.max(level);
            continue;
        }
        loop {
            if level == 0 {
                return deepest;
            }
            if let Some(next) = at.next_sibling() {
                at = next;
                break;
            }
            let Some(parent) = at.parent() else { return deepest };
            at = parent;
            level -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(html: &str, format: Format) -> String {
        text(html, &"https://a.example/docs/".parse().expect("an address"), format, Duration::from_secs(1))
    }

    const PARAGRAPH: &str = "<p>The quick brown fox jumps over the lazy dog, again and again, until the day is over \
                             and every fox of the county has gone home, <a href='more.html'>as foxes do</a>.</p>";

    fn article() -> String {
        let body = PARAGRAPH.repeat(6);
        format!(
            "<html><head><title>Of foxes</title><style>p {{}}</style><script>var secret_script = 1;</script></head>\
             <body><nav><a href='/'>Navigation words</a></nav><article><h2>First part</h2>{body}\
             <pre><code>let fox = 1;\nlet dog = 2;</code></pre></article>\
             <footer>Footer words</footer></body></html>"
        )
    }

    #[test]
    fn an_article_is_read_without_what_stands_around_it() {
        let markdown = read(&article(), Format::Markdown);
        assert!(markdown.starts_with("# Of foxes\n"), "{markdown}");
        assert!(
            markdown.contains("## First part") && markdown.contains("let fox = 1;\nlet dog = 2;"),
            "{markdown}"
        );
        assert!(markdown.contains("(https://a.example/docs/more.html)"), "{markdown}");
        let words = read(&article(), Format::Text);
        assert!(words.starts_with("Of foxes\n") && !words.contains("more.html"), "{words}");
        for text in [markdown, words] {
            assert!(!text.contains("secret_script") && !text.contains("Footer words"), "{text}");
        }
    }

    #[test]
    fn a_page_without_an_article_is_shown_whole() {
        let links = "<html><body><script>no()</script><ul><li><a href='/a'>One</a><li>Two</ul></body></html>";
        assert!(read(links, Format::Markdown).contains("[One]"), "{}", read(links, Format::Markdown));
        let text = read(links, Format::Text);
        assert!(text.contains("One") && text.contains("Two") && !text.contains("no()"), "{text}");
    }

    /// The test's thread has a stack of 2 MB, as the server's have.
    #[test]
    fn a_page_of_any_depth_and_width_costs_no_more_than_its_bytes() {
        for tag in
            ["<div>", "<b>", "<a href=x>", "<table><tr><td>", "<ul><li>", "<blockquote>", "<p><i><font>"]
        {
            for times in [MOST_DEPTH / 2, 200_000] {
                let html = format!("<script>no()</script>{}deep words<!-- no -->", tag.repeat(times));
                let text = read(&html, Format::Markdown);
                assert!(text.contains("deep words") && !text.contains("no"), "{tag}: {text}");
            }
        }
        let wide = format!("{}wide words", "<p>x</p>".repeat(60_000));
        assert!(read(&wide, Format::Text).contains("wide words"));
        for broken in ["", "<", "<!--", "<html><body", "\u{0}", "<svg><script>", "<table></p>"] {
            read(broken, Format::Markdown);
        }
    }
}

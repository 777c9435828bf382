//! The last long pages, so that reading on does not fetch again and goes on in the same text.

use std::{
    collections::VecDeque,
    sync::Arc,
    time::{Duration, Instant},
};

use parking_lot::Mutex;
use tectum_web::{Format, Page, PageUrl};

/// Two or three are read at the same time; more would be memory for nobody.
const MOST_PAGES: usize = 4;
/// All of them together, in bytes.
const MOST_BYTES: usize = 8 * 1024 * 1024;
/// Older ones are fetched again: the page may be another by then.
const FRESH: Duration = Duration::from_secs(15 * 60);

/// The pages, the newest last.
#[derive(Debug, Default)]
pub(super) struct Shelf {
    pages: Mutex<VecDeque<Kept>>,
}

#[derive(Debug)]
struct Kept {
    asked: PageUrl,
    format: Format,
    page: Arc<Page>,
    since: Instant,
}

impl Shelf {
    /// A page that was asked for so before.
    pub(super) fn find(&self, asked: &PageUrl, format: Format) -> Option<Arc<Page>> {
        let pages = self.pages.lock();
        let kept = pages.iter().find(|kept| kept.asked == *asked && kept.format == format)?;
        (kept.since.elapsed() < FRESH).then(|| kept.page.clone())
    }

    /// Keeps a page; the oldest go.
    pub(super) fn keep(&self, asked: &PageUrl, format: Format, page: &Arc<Page>) {
        let size = |page: &Page| page.text.as_ref().map_or(0, String::len);
        let mut pages = self.pages.lock();
        pages.retain(|kept| (kept.asked != *asked || kept.format != format) && kept.since.elapsed() < FRESH);
        pages.push_back(Kept { asked: asked.clone(), format, page: page.clone(), since: Instant::now() });
        while pages.len() > MOST_PAGES
            || pages.iter().map(|kept| size(&kept.page)).sum::<usize>() > MOST_BYTES
        {
            pages.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_bounded_in_number_and_in_bytes() {
        let shelf = Shelf::default();
        let url = |n: usize| format!("https://a.example/{n}").parse::<PageUrl>().expect("an address");
        let page = |n: usize, size: usize| {
            let text = Some("x".repeat(size));
            Arc::new(Page { url: url(n), content_type: String::new(), size: None, text, cut: false })
        };
        for n in 0..6 {
            shelf.keep(&url(n), Format::Text, &page(n, 10));
        }
        let found = |n| shelf.find(&url(n), Format::Text).is_some();
        assert!(!found(0) && !found(1) && found(2) && found(5));
        assert!(shelf.find(&url(5), Format::Raw).is_none());
        for n in 6..9 {
            shelf.keep(&url(n), Format::Text, &page(n, MOST_BYTES / 2));
        }
        assert!(!found(5) && !found(6) && found(7) && found(8));
        shelf.keep(&url(9), Format::Text, &page(9, MOST_BYTES + 1));
        assert!(!found(9) && shelf.pages.lock().is_empty());
    }
}

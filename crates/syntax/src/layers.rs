//! Stretches of a text that lie in each other: which holds an offset, and which lies outermost.

use std::cmp::Reverse;

use crate::Span;

/// Nested stretches laid side by side: from each offset on, what the innermost around it says.
#[derive(Debug)]
pub(crate) struct Layers<T> {
    outside: T,
    changes: Vec<(u32, T)>,
}

impl<T: Copy + Ord> Layers<T> {
    /// Of two stretches in the same place the greater counts. What lies in none is `outside`.
    pub(crate) fn new(mut spans: Vec<(Span, T)>, outside: T) -> Self {
        spans.sort_by_key(|(span, what)| (span.start, Reverse(span.end), *what));
        let mut layers = Self { outside, changes: Vec::new() };
        let mut open: Vec<(u32, T)> = Vec::new();
        for (span, what) in spans {
            layers.close(&mut open, span.start);
            layers.changes.push((span.start, what));
            open.push((span.end, what));
        }
        layers.close(&mut open, u32::MAX);
        layers
    }

    fn close(&mut self, open: &mut Vec<(u32, T)>, offset: u32) {
        while let Some((end, _)) = open.pop_if(|(end, _)| *end <= offset) {
            self.changes.push((end, open.last().map_or(self.outside, |(_, what)| *what)));
        }
    }

    /// The stretches between two changes, in order, with what each says.
    pub(crate) fn pieces(&self) -> impl Iterator<Item = (Span, T)> {
        let ends = self.changes.iter().skip(1).map(|(start, _)| *start);
        let spans =
            self.changes.iter().zip(ends).map(|((start, what), end)| (Span { start: *start, end }, *what));
        spans.filter(|(span, _)| span.start < span.end)
    }

    /// The value of the innermost stretch around an offset.
    pub(crate) fn at(&self, offset: u32) -> T {
        let index = self.changes.partition_point(|(start, _)| *start <= offset);
        self.changes[..index].last().map_or(self.outside, |(_, what)| *what)
    }
}

/// Sorts, and drops what lies in another.
pub(crate) fn outermost(spans: &mut Vec<Span>) {
    spans.sort_by_key(|span| (span.start, Reverse(span.end)));
    let mut end = 0;
    spans.retain(|span| {
        let apart = span.end > end;
        end = end.max(span.end);
        apart
    });
}

/// True if a sorted list of stretches that do not overlap holds this one.
pub(crate) fn covered(spans: &[Span], span: Span) -> bool {
    let index = spans.partition_point(|other| other.start <= span.start);
    spans[..index].last().is_some_and(|other| other.holds(span))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_innermost_stretch_counts() {
        let spans = [(0, 20, 'a'), (2, 10, 'b'), (4, 6, 'c'), (10, 12, 'd'), (4, 6, 'b'), (30, 30, 'e')];
        let spans = spans.map(|(start, end, what)| (Span::new(start, end), what)).to_vec();
        let layers = Layers::new(spans, '-');
        let said: String = (0..22).map(|offset| layers.at(offset)).collect();
        assert_eq!(said, "aabbccbbbbddaaaaaaaa--");
        assert_eq!(layers.at(40), '-');
    }

    #[test]
    fn what_lies_in_another_is_dropped() {
        let mut spans = vec![Span::new(4, 6), Span::new(0, 5), Span::new(1, 5), Span::new(8, 9)];
        outermost(&mut spans);
        assert_eq!(spans, [Span::new(0, 5), Span::new(4, 6), Span::new(8, 9)]);
        assert!(covered(&spans, Span::new(8, 9)) && !covered(&spans, Span::new(6, 7)));
    }
}

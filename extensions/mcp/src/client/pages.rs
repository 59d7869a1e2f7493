//! The pages of a list of a server. A server that sends pages without end is given up. The functions do no I/O.

use std::collections::HashSet;
use std::io::{self, Write};
use std::time::Duration;

use rmcp::model::PaginatedRequestParams;
use serde::Serialize;
use tokio::time::Instant;

/// The maximum number of items of a list.
pub(super) const MOST: usize = 20_000;

/// The maximum length of all pages of a list together, in bytes.
const LONGEST: usize = 64 << 20;

/// The server sends pages without end, or too many.
#[derive(Debug)]
pub(super) struct Endless;

/// The progress through the pages of a list.
pub(super) struct Pages {
    next: Next,
    /// The cursors of the pages so far.
    cursors: HashSet<String>,
    items: usize,
    bytes: usize,
    began: Instant,
    limit: Duration,
}

enum Next {
    First,
    After(String),
    End,
}

impl Pages {
    /// Begins a list, all of whose pages have to come within this time.
    pub(super) fn within(limit: Duration) -> Self {
        let (began, cursors) = (Instant::now(), HashSet::new());
        Self { next: Next::First, cursors, items: 0, bytes: 0, began, limit }
    }

    /// Returns the parameters of the request for the next page; `None` after the last page.
    pub(super) fn next(&mut self) -> Option<PaginatedRequestParams> {
        let params = PaginatedRequestParams::default();
        match std::mem::replace(&mut self.next, Next::End) {
            Next::First => Some(params),
            Next::After(cursor) => Some(params.with_cursor(Some(cursor))),
            Next::End => None,
        }
    }

    /// Notes a page: how many items and bytes it has, and the cursor of the page after it.
    pub(super) fn add(
        &mut self,
        items: usize,
        bytes: usize,
        cursor: Option<String>,
    ) -> Result<(), Endless> {
        self.items += items;
        self.bytes = self.bytes.saturating_add(bytes);
        if self.items > MOST || self.bytes > LONGEST {
            return Err(Endless);
        }
        let Some(cursor) = cursor else { return Ok(()) };
        let is_new = self.cursors.insert(cursor.clone());
        if items == 0 || !is_new || self.began.elapsed() > self.limit {
            return Err(Endless);
        }
        self.next = Next::After(cursor);
        Ok(())
    }
}

/// Returns the length of a page as JSON.
pub(super) fn bytes(page: &impl Serialize) -> usize {
    struct Counter(usize);
    impl Write for Counter {
        fn write(&mut self, more: &[u8]) -> io::Result<usize> {
            self.0 += more.len();
            Ok(more.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut counter = Counter(0);
    // A page that cannot be written was not read from a text, so it does not come from a server.
    let _ = serde_json::to_writer(&mut counter, page);
    counter.0
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: Duration = Duration::from_secs(60);

    fn cursor(pages: &mut Pages) -> Option<String> {
        pages.next().expect("another page").cursor
    }

    #[test]
    fn a_list_goes_on_from_cursor_to_cursor_to_its_end() {
        let mut pages = Pages::within(LIMIT);
        assert_eq!(cursor(&mut pages), None);
        pages.add(1, 10, Some("a".into())).unwrap();
        assert_eq!(cursor(&mut pages).as_deref(), Some("a"));
        pages.add(0, 10, None).unwrap();
        assert!(pages.next().is_none());
    }

    #[test]
    fn a_list_whose_cursors_come_again_has_no_end() {
        let mut pages = Pages::within(LIMIT);
        pages.add(1, 10, Some("a".into())).unwrap();
        pages.add(1, 10, Some("b".into())).unwrap();
        assert!(pages.add(1, 10, Some("a".into())).is_err());
    }

    #[test]
    fn a_list_that_is_too_long_is_given_up() {
        assert!(Pages::within(LIMIT).add(0, 10, Some("a".into())).is_err());
        assert!(Pages::within(LIMIT).add(MOST + 1, 10, None).is_err());
        let mut pages = Pages::within(LIMIT);
        let largest = 16 << 20;
        let taken =
            (0..100).take_while(|page| pages.add(1, largest, Some(page.to_string())).is_ok());
        assert_eq!(taken.count(), LONGEST / largest);
    }

    #[tokio::test(start_paused = true)]
    async fn a_list_that_takes_too_long_is_given_up() {
        let mut pages = Pages::within(LIMIT);
        pages.add(1, 10, Some("a".into())).unwrap();
        tokio::time::advance(2 * LIMIT).await;
        assert!(pages.add(1, 10, Some("b".into())).is_err());
    }

    #[test]
    fn the_length_of_a_page_is_that_of_its_json() {
        assert_eq!(bytes(&serde_json::json!({"a": ["b"]})), r#"{"a":["b"]}"#.len());
    }
}

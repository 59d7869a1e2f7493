//! Parses a text, and finds its syntax errors. Results are cached by the hash of the text.

use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use sha2::{Digest as _, Sha256};
use tree_sitter::{Node, ParseOptions, Parser};

use super::language::Language;

/// How many texts the cache holds.
const REMEMBERED: usize = 64;

/// A text that takes longer to parse is not checked.
const PATIENCE: Duration = Duration::from_secs(1);

/// The maximum number of problems that are counted in one text.
const MOST: usize = 1000;

/// A syntax error. Lines and columns are counted from 0; a column is a number of bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Problem {
    pub(super) line: usize,
    pub(super) column: usize,
    /// The number of the line in which the problem ends.
    pub(super) end: usize,
    /// The token that is missing at this place; if `None`, the text at this place is unexpected.
    pub(super) missing: Option<String>,
}

/// The problems of a text; nothing if it took too long to parse.
type Found = Option<Arc<[Problem]>>;

/// The problems of recently parsed texts, by language and hash.
#[derive(Default)]
pub(super) struct Cache(Mutex<VecDeque<(Language, [u8; 32], Found)>>);

impl Cache {
    /// Returns the problems of a text, from the cache or by parsing the text.
    pub(super) fn problems(&self, language: Language, text: &str) -> Found {
        let hash: [u8; 32] = Sha256::digest(text).into();
        let mut remembered = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let place = remembered.iter().position(|it| it.0 == language && it.1 == hash);
        if let Some(known) = place.and_then(|place| remembered.remove(place)) {
            let found = known.2.clone();
            remembered.push_back(known);
            return found;
        }
        drop(remembered);
        let found: Found = problems(language, text, Instant::now() + PATIENCE).map(Into::into);
        let mut remembered = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if remembered.len() == REMEMBERED {
            remembered.pop_front();
        }
        remembered.push_back((language, hash, found.clone()));
        found
    }
}

/// Returns the syntax errors, in the order of the text; `None` if parsing takes longer than `until`.
pub(super) fn problems(language: Language, text: &str, until: Instant) -> Option<Vec<Problem>> {
    let mut parser = Parser::new();
    parser.set_language(&language.grammar()).ok()?;
    let mut in_time = |_: &tree_sitter::ParseState| match Instant::now() < until {
        true => ControlFlow::Continue(()),
        false => ControlFlow::Break(()),
    };
    let options = ParseOptions::new().progress_callback(&mut in_time);
    let mut read = |place: usize, _| text.as_bytes().get(place..).unwrap_or_default();
    let tree = parser.parse_with_options(&mut read, None, Some(options))?;
    let mut problems = Vec::new();
    collect(tree.root_node(), &mut problems);
    Some(problems)
}

/// Visits nodes that contain errors. Errors within an erroneous node are not counted again.
fn collect(root: Node<'_>, problems: &mut Vec<Problem>) {
    let mut open = vec![root];
    while let Some(node) = open.pop() {
        if problems.len() == MOST {
            return;
        }
        if node.is_missing() || (node.is_error() && !is_whole(node)) {
            let (start, end) = (node.start_position(), node.end_position());
            problems.push(Problem {
                line: start.row,
                column: start.column,
                end: end.row,
                missing: node.is_missing().then(|| node.kind().to_owned()),
            });
        } else if node.has_error() {
            let mut cursor = node.walk();
            let below: Vec<Node<'_>> = node.children(&mut cursor).collect();
            open.extend(below.into_iter().rev());
        }
    }
}

/// Whether the whole text is one erroneous node, but its children are more precise.
fn is_whole(node: Node<'_>) -> bool {
    let mut cursor = node.walk();
    node.parent().is_none()
        && node.children(&mut cursor).any(|it| it.has_error() || it.is_missing())
}

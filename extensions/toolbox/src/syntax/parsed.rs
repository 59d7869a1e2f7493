//! Parses a text, and finds what its grammar does not take. Results are cached by the hash of the text.

use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use sha2::{Digest as _, Sha256};
use tree_sitter::{Node, ParseOptions, Parser};

use super::language::Language;

/// So many texts are remembered.
const REMEMBERED: usize = 64;

/// A text that takes longer is not checked.
const PATIENCE: Duration = Duration::from_secs(1);

/// Of one text no more problems are counted.
const MOST: usize = 1000;

/// A place that the grammar does not take. Lines and columns are counted from 0; columns are bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Problem {
    pub(super) line: usize,
    pub(super) column: usize,
    /// The line in which it ends.
    pub(super) end: usize,
    /// The token that is missing there; without one, what is there is unexpected.
    pub(super) missing: Option<String>,
}

/// The problems of a text; nothing where it took too long to parse.
type Found = Option<Arc<[Problem]>>;

/// The problems of texts that were parsed last, by language and hash.
#[derive(Default)]
pub(super) struct Cache(Mutex<VecDeque<(Language, [u8; 32], Found)>>);

impl Cache {
    /// The problems of a text: those that were found before, or what parsing it finds.
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

/// What the grammar does not take, in the order of the text; nothing where parsing is not done by then.
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

/// Goes down where there is a problem. What a place that is wrong as a whole contains is no further problem.
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

/// Whether a text is wrong as a whole, but its parts say where.
fn is_whole(node: Node<'_>) -> bool {
    let mut cursor = node.walk();
    node.parent().is_none()
        && node.children(&mut cursor).any(|it| it.has_error() || it.is_missing())
}

//! Parses a page in time that grows with its size alone. Some steps of a parser of HTML, and of the writer of Markdown after it, take
//! time for each open element, attribute or sibling, so that a page of 2 MB could take hours: what is open, and how many elements
//! and attributes there are, is limited before. Tags beyond a limit are left out; their words stay.

use std::cell::{Cell, RefCell};

use html5ever::tendril::StrTendril;
use html5ever::tokenizer::states::RawKind;
use html5ever::tokenizer::{
    BufferQueue, Tag, TagKind, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts,
};
use html5ever::tree_builder::{TreeBuilder, TreeBuilderOpts};
use markup5ever_rcdom::{Handle, RcDom};

/// How many elements may be open at once. The writer of Markdown calls itself for each.
const DEEPEST: usize = 200;
/// How many elements a page may have.
const MOST_ELEMENTS: usize = 50_000;
/// How many attributes a tag may have: each is compared with those before it.
const MOST_ATTRIBUTES: usize = 400;

/// Elements that end by themselves where the next begins, and have nothing inside where they have no end.
const NEVER_OPEN: [&str; 20] = [
    "area", "base", "br", "col", "dd", "dt", "embed", "hr", "html", "body", "head", "img", "input",
    "li", "link", "meta", "p", "source", "track", "wbr",
];

/// Begins another grammar, in which nothing ends by itself; pictures and formulas have no words.
const FOREIGN: [&str; 2] = ["math", "svg"];

/// What has no words for a reader, and is written in a grammar of its own: none of it comes into the tree.
const RAW: [(&str, RawKind); 5] = [
    ("iframe", RawKind::Rawtext),
    ("noembed", RawKind::Rawtext),
    ("noframes", RawKind::Rawtext),
    ("script", RawKind::ScriptData),
    ("style", RawKind::Rawtext),
];

/// The tree of a page; nothing where a tag has more attributes than any page needs.
pub(super) fn parse(html: &str) -> Option<Handle> {
    if has_endless_tag(html.as_bytes()) {
        return None;
    }
    let tree = TreeBuilder::new(RcDom::default(), TreeBuilderOpts::default());
    let sink = LimitedSink {
        tree,
        open: RefCell::default(),
        elements: Cell::new(0),
        raw: Cell::new(None),
    };
    let tokenizer = Tokenizer::new(sink, TokenizerOpts::default());
    let input = BufferQueue::default();
    input.push_back(StrTendril::from(html));
    // It stops at the end of each script, which is not run.
    while !input.is_empty() {
        let _ = tokenizer.feed(&input);
    }
    tokenizer.end();
    Some(tokenizer.sink.tree.sink.document.clone())
}

/// Passes tokens on to the builder of the tree, as far as the limits go.
struct LimitedSink {
    tree: TreeBuilder<Handle, RcDom>,
    /// The names of open elements, as far as is known without the builder; those that were left out are there as well.
    open: RefCell<Vec<(String, bool)>>,
    elements: Cell<usize>,
    /// The element of [`RAW`] that has begun and not ended.
    raw: Cell<Option<&'static str>>,
}

impl LimitedSink {
    /// Whether the builder gets a tag.
    fn admits(&self, tag: &Tag) -> bool {
        let name = &*tag.name;
        let mut open = self.open.borrow_mut();
        match tag.kind {
            TagKind::StartTag => {
                self.elements.set(self.elements.get() + 1);
                let is_admitted = open.len() < DEEPEST
                    && self.elements.get() <= MOST_ELEMENTS
                    && !FOREIGN.contains(&name);
                if !NEVER_OPEN.contains(&name) {
                    // What is never closed does not grow the list without an end.
                    if open.len() < 2 * DEEPEST {
                        open.push((name.to_owned(), is_admitted));
                    }
                }
                is_admitted
            }
            TagKind::EndTag => match open.iter().rposition(|it| it.0 == name) {
                Some(at) => open.remove(at).1,
                None => open.len() < DEEPEST,
            },
        }
    }
}

impl TokenSink for LimitedSink {
    type Handle = Handle;

    fn process_token(&self, token: Token, line: u64) -> TokenSinkResult<Handle> {
        if let Some(raw) = self.raw.get() {
            match &token {
                Token::TagToken(tag) if tag.kind == TagKind::EndTag && *tag.name == *raw => {
                    self.raw.set(None);
                }
                Token::EOFToken => return self.tree.process_token(token, line),
                _ => {}
            }
            return TokenSinkResult::Continue;
        }
        if let Token::TagToken(tag) = &token
            && tag.kind == TagKind::StartTag
            && let Some((name, kind)) = RAW.into_iter().find(|(name, _)| *tag.name == **name)
        {
            self.raw.set(Some(name));
            return TokenSinkResult::RawData(kind);
        }
        match &token {
            Token::TagToken(tag) if !self.admits(tag) => TokenSinkResult::Continue,
            _ => self.tree.process_token(token, line),
        }
    }

    fn end(&self) {
        self.tree.end();
    }

    fn adjusted_current_node_present_but_not_in_html_namespace(&self) -> bool {
        self.tree.adjusted_current_node_present_but_not_in_html_namespace()
    }
}

/// Whether a tag has more attributes than any page needs. Text in quotes is none; one with a quoted value counts twice.
fn has_endless_tag(html: &[u8]) -> bool {
    let is_space =
        |at: usize| html.get(at).is_some_and(|it| it.is_ascii_whitespace() || *it == b'/');
    // How many attributes the tag has so far, and the quote that is open.
    let (mut attributes, mut quote) = (None::<usize>, None);
    for (at, &byte) in html.iter().enumerate() {
        let next = html.get(at + 1).copied();
        match (attributes, quote) {
            (Some(_), Some(open)) => quote = Some(open).filter(|it| *it != byte),
            (Some(_), None) if byte == b'>' => attributes = None,
            (Some(count), None)
                if matches!(byte, b'"' | b'\'') && at > 0 && html[at - 1] == b'=' =>
            {
                (attributes, quote) = (Some(count + 1), Some(byte));
            }
            (Some(count), None) if is_space(at) && !is_space(at + 1) => {
                attributes = Some(count + 1);
            }
            (None, _) if byte == b'<' && next.is_some_and(|it| it.is_ascii_alphabetic()) => {
                attributes = Some(0);
            }
            _ => {}
        }
        if attributes.is_some_and(|it| it > 2 * MOST_ATTRIBUTES) {
            return true;
        }
    }
    false
}

/// The words of what is no page: everything outside of angle brackets.
pub(super) fn without_tags(html: &str) -> String {
    let mut parts = html.split('<');
    let first = parts.next().unwrap_or_default();
    let rest = parts.filter_map(|it| it.split_once('>')).map(|(_, words)| words);
    std::iter::once(first).chain(rest).collect()
}

//! Parses a page in time linear in the page's size. Some steps of the HTML parser and of the Markdown writer take time
//! for each open element, attribute or sibling, so that a page of 2 MB could take hours. Therefore the numbers of open
//! elements, of all elements and of attributes are limited beforehand. Tags of too many or too deeply nested elements
//! are dropped, but their text remains. A page with a tag that has too many attributes is not parsed.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;

use html5ever::LocalName;
use html5ever::interface::Tracer;
use html5ever::tendril::StrTendril;
use html5ever::tokenizer::states::RawKind;
use html5ever::tokenizer::{
    BufferQueue, Tag, TagKind, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts,
};
use html5ever::tree_builder::{TreeBuilder, TreeBuilderOpts};
use markup5ever_rcdom::Handle;

use super::each;
use super::tree::CountedTree;

/// How many elements may be open at the same time. The Markdown writer recurses for each.
const DEEPEST: usize = 200;
/// How deep the tree may be. The parser adds a few elements by itself, such as the row of a cell.
const DEEPEST_TREE: usize = DEEPEST + 50;
/// How many elements a page may have.
const MOST_ELEMENTS: usize = 50_000;
/// How many attributes a tag may have. The parser compares each attribute with all earlier ones.
const MOST_ATTRIBUTES: usize = 400;

/// Elements that never have content, and so have no end tag.
const VOID: [&str; 13] = [
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track",
    "wbr",
];

/// Elements that begin another grammar, in which no element is closed automatically. Their tags are dropped; pictures
/// and formulas have hardly any words.
const FOREIGN: [&str; 2] = ["math", "svg"];

/// Elements without text for readers, whose content has its own grammar. They are left out of the tree.
const RAW: [(&str, RawKind); 5] = [
    ("iframe", RawKind::Rawtext),
    ("noembed", RawKind::Rawtext),
    ("noframes", RawKind::Rawtext),
    ("script", RawKind::ScriptData),
    ("style", RawKind::Rawtext),
];

/// Parses a page to a tree; `None` if a tag has more attributes than any real page needs, or the tree is too deep.
pub(super) fn parse(html: &str) -> Option<Handle> {
    if has_endless_tag(html.as_bytes()) {
        return None;
    }
    // The attributes of a page are shorter than the page, unless the parser repeats them.
    let tree = TreeBuilder::new(CountedTree::new(2 * html.len()), TreeBuilderOpts::default());
    let sink = LimitedSink { tree, dropped: RefCell::default(), raw: Cell::new(None) };
    let tokenizer = Tokenizer::new(sink, TokenizerOpts::default());
    let input = BufferQueue::default();
    input.push_back(StrTendril::from(html));
    // The parser stops at the end of each script, so continue. Scripts do not run.
    while !input.is_empty() {
        let _ = tokenizer.feed(&input);
    }
    tokenizer.end();
    let document = tokenizer.sink.tree.sink.document();
    let mut deepest = 0;
    each(&document, &mut |_, depth| deepest = deepest.max(depth));
    (deepest <= DEEPEST_TREE).then_some(document)
}

/// Passes the tokens that are within the limits on to the tree builder.
struct LimitedSink {
    tree: TreeBuilder<Handle, CountedTree>,
    /// How many start tags of each name were dropped, whose end tags are still to come and are dropped too.
    dropped: RefCell<HashMap<LocalName, usize>>,
    /// The open element of the list [`RAW`], if there is one.
    raw: Cell<Option<&'static str>>,
}

impl LimitedSink {
    /// Returns whether a tag is within the limits, so that it is passed on.
    fn admits(&self, tag: &Tag) -> bool {
        let has_room = self.tree.sink.elements() < MOST_ELEMENTS;
        let mut dropped = self.dropped.borrow_mut();
        match tag.kind {
            TagKind::StartTag => {
                let is_admitted =
                    has_room && !FOREIGN.contains(&&*tag.name) && self.open() < DEEPEST;
                if !is_admitted && !VOID.contains(&&*tag.name) {
                    *dropped.entry(tag.name.clone()).or_default() += 1;
                }
                is_admitted
            }
            // An end tag may make elements too: a `p`, or another one for each formatting element that is still open.
            TagKind::EndTag => match dropped.get_mut(&tag.name) {
                Some(count) if *count > 0 => {
                    *count -= 1;
                    false
                }
                _ => has_room,
            },
        }
    }

    /// Returns how many elements are open or will be opened again by the next text. Which end tags close an element
    /// depends on the elements around it, so this asks the tree builder.
    fn open(&self) -> usize {
        let count = HandleCount(Cell::new(0));
        self.tree.trace_handles(&count);
        count.0.get()
    }
}

/// Counts the elements that a tree builder still uses.
struct HandleCount(Cell<usize>);

impl Tracer for HandleCount {
    type Handle = Handle;

    fn trace_handle(&self, _: &Handle) {
        self.0.set(self.0.get() + 1);
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

/// Returns whether a tag has more attributes than any real page needs. Text in quotes is not counted; an attribute with
/// a quoted value counts twice.
fn has_endless_tag(html: &[u8]) -> bool {
    let is_space =
        |at: usize| html.get(at).is_some_and(|it| it.is_ascii_whitespace() || *it == b'/');
    // The number of attributes in the current tag, and the open quote.
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

/// Returns the text outside of angle brackets, for input that cannot be parsed as a page.
pub(super) fn without_tags(html: &str) -> String {
    let mut parts = html.split('<');
    let first = parts.next().unwrap_or_default();
    let rest = parts.filter_map(|it| it.split_once('>')).map(|(_, words)| words);
    std::iter::once(first).chain(rest).collect()
}

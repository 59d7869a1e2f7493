//! Converts HTML to Markdown, words or links. The size of the page bounds the time: see [`limits`]. Pure.

mod limits;
mod table;
mod tree;

use std::collections::BTreeSet;
use std::sync::LazyLock;

use htmd::HtmlToMarkdown;
use htmd::options::{BulletListMarker, HrStyle, LinkStyle, Options};
use html5ever::{Attribute, LocalName};
use markup5ever_rcdom::{Handle, NodeData};
use reqwest::Url;

use super::target;

/// Elements whose content readers do not see.
const UNSEEN: [&str; 13] = [
    "head", "script", "style", "noscript", "template", "iframe", "object", "embed", "canvas",
    "audio", "video", "dialog", "datalist",
];

/// Elements that begin on a new line.
const BLOCKS: [&str; 32] = [
    "address",
    "article",
    "aside",
    "blockquote",
    "br",
    "dd",
    "details",
    "div",
    "dl",
    "dt",
    "fieldset",
    "figcaption",
    "figure",
    "footer",
    "form",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "header",
    "hr",
    "li",
    "main",
    "nav",
    "ol",
    "p",
    "pre",
    "section",
    "tr",
    "ul",
];

/// The most links that are listed; further links are left out.
const MOST_LINKS: usize = 1000;

/// The most characters of a link's text that are listed. Links may contain each other.
const LONGEST_TEXT: usize = 500;

/// The most bytes that the absolute URLs of a page may have together. A long base makes each relative URL long.
const MOST_URL_BYTES: usize = 2 << 20;

/// How many bytes of indentation a small page may have.
const MOST_INDENTATION: usize = 1 << 16;

static MARKDOWN: LazyLock<HtmlToMarkdown> = LazyLock::new(|| {
    let options = Options {
        hr_style: HrStyle::Dashes,
        bullet_list_marker: BulletListMarker::Dash,
        ul_bullet_spacing: 1,
        ol_number_spacing: 1,
        link_style: LinkStyle::InlinedPreferAutolinks,
        ..Options::default()
    };
    HtmlToMarkdown::builder().options(options).add_handler(vec!["table"], table::table).build()
});

/// Returns the page as Markdown, with absolute URLs.
pub(super) fn markdown(html: &str, base: &Url) -> String {
    let Some(document) = limits::parse(html) else { return limits::without_tags(html) };
    make_whole(&document, base);
    leave_out_unseen(&document);
    // Quotes and lists within each other repeat their marks in each line.
    if indentation(&document) > MOST_INDENTATION + 8 * html.len() {
        return words_of(&document);
    }
    MARKDOWN.tree_to_markdown(&document)
}

/// Returns the words of the page, with a line for each block.
pub(super) fn words(html: &str) -> String {
    let Some(document) = limits::parse(html) else { return limits::without_tags(html) };
    leave_out_unseen(&document);
    words_of(&document)
}

fn words_of(document: &Handle) -> String {
    let mut text = Words::default();
    each(document, &mut |node, _| match &node.data {
        NodeData::Text { contents } => text.add(&contents.borrow()),
        NodeData::Element { name, .. } if BLOCKS.contains(&&*name.local) => text.end_line(),
        NodeData::Element { name, .. } if matches!(&*name.local, "td" | "th") => text.add(" "),
        _ => {}
    });
    text.lines.trim().to_owned()
}

/// Returns the links of the page with their texts, each URL once.
pub(super) fn links(html: &str, base: &Url) -> String {
    let Some(document) = limits::parse(html) else { return String::new() };
    make_whole(&document, base);
    leave_out_unseen(&document);
    let (mut seen, mut lines, mut left_out) = (BTreeSet::new(), Vec::new(), 0);
    each(&document, &mut |node, _| {
        let NodeData::Element { name, attrs, .. } = &node.data else { return };
        let attrs = attrs.borrow();
        let Some(href) = attribute(&attrs, "href").filter(|_| &*name.local == "a") else { return };
        if !href.starts_with("http") || !seen.insert(href.to_owned()) {
            return;
        }
        if lines.len() == MOST_LINKS {
            left_out += 1;
            return;
        }
        let mut text = Words::default();
        each(node, &mut |inner, _| {
            if let NodeData::Text { contents } = &inner.data
                && let Some(room) = LONGEST_TEXT.checked_sub(text.lines.len())
            {
                text.add(&contents.borrow().chars().take(room).collect::<String>());
            }
        });
        let text: Vec<&str> =
            text.lines.split(['[', ']', ' ', '\n']).filter(|it| !it.is_empty()).collect();
        let text = text.join(" ");
        lines.push(format!("[{text}]({href})"));
    });
    if left_out > 0 {
        lines.push(format!("({left_out} more links are left out)"));
    }
    lines.join("\n")
}

/// Removes the elements that readers do not see.
fn leave_out_unseen(document: &Handle) {
    let mut waiting = vec![document.clone()];
    while let Some(node) = waiting.pop() {
        node.children.borrow_mut().retain(|child| !is_unseen(child));
        waiting.extend(node.children.borrow().iter().cloned());
    }
}

fn is_unseen(node: &Handle) -> bool {
    match &node.data {
        NodeData::Comment { .. } | NodeData::ProcessingInstruction { .. } => true,
        NodeData::Element { name, attrs, .. } => {
            let attrs = attrs.borrow();
            // Recognize the usual inline styles that hide an element. Style sheets are not evaluated.
            let style = attribute(&attrs, "style").unwrap_or_default();
            let style: String = style.chars().filter(|it| !it.is_whitespace()).collect();
            UNSEEN.contains(&&*name.local)
                || attribute(&attrs, "hidden").is_some()
                || style.contains("display:none")
                || style.contains("visibility:hidden")
        }
        _ => false,
    }
}

/// Makes the URLs of links and pictures absolute. Removes those that are not of the web or of mail, such as pictures
/// embedded in the page, and those that are too long.
fn make_whole(document: &Handle, base: &Url) {
    let (mut base, mut room) = (base.clone(), MOST_URL_BYTES);
    each(document, &mut |node, _| {
        let NodeData::Element { name, attrs, .. } = &node.data else { return };
        let key = match &*name.local {
            "a" | "base" => "href",
            "img" => "src",
            _ => return,
        };
        let mut attrs = attrs.borrow_mut();
        let Some(at) = attrs.iter().position(|it| *it.name.local == *key) else { return };
        let whole = base.join(attrs[at].value.trim()).ok().filter(|whole| {
            let most = room.min(target::LONGEST);
            matches!(whole.scheme(), "http" | "https" | "mailto") && whole.as_str().len() <= most
        });
        let Some(whole) = whole else { return drop(attrs.remove(at)) };
        room -= whole.as_str().len();
        attrs[at].value = whole.as_str().into();
        if &*name.local == "base" {
            base = whole;
        }
    });
}

/// Returns about how many bytes the Markdown of a page has for the marks and blanks that quotes and lists put at the
/// beginning of each of their lines.
fn indentation(document: &Handle) -> usize {
    /// An element is at most three lines: two empty lines, and its own.
    const LINES: usize = 3;
    let mut total = 0_usize;
    let mut waiting = vec![(document.clone(), 0)];
    while let Some((node, width)) = waiting.pop() {
        let (lines, inner) = match &node.data {
            NodeData::Text { contents } => (contents.borrow().matches('\n').count(), width),
            NodeData::Element { name, .. } => match &*name.local {
                "blockquote" | "li" => (LINES, width + 2),
                // The number of an item has at most ten digits.
                "ol" => (LINES, width + 10),
                _ => (LINES, width),
            },
            _ => (0, width),
        };
        total = total.saturating_add(lines * width);
        waiting.extend(node.children.borrow().iter().map(|it| (it.clone(), inner)));
    }
    total
}

fn attribute<'a>(attrs: &'a [Attribute], name: &str) -> Option<&'a str> {
    let name = LocalName::from(name);
    attrs.iter().find(|it| it.name.local == name).map(|it| &*it.value)
}

/// Visits each node in document order with its depth, without recursion.
fn each(document: &Handle, visit: &mut dyn FnMut(&Handle, usize)) {
    let mut waiting = vec![(document.clone(), 0)];
    while let Some((node, depth)) = waiting.pop() {
        visit(&node, depth);
        waiting.extend(node.children.borrow().iter().rev().map(|it| (it.clone(), depth + 1)));
    }
}

/// Collects the words of a page in lines, with single spaces between the words.
#[derive(Default)]
struct Words {
    lines: String,
}

impl Words {
    fn add(&mut self, text: &str) {
        for character in text.chars() {
            match character.is_whitespace() {
                true if self.lines.ends_with([' ', '\n']) => {}
                true => self.lines.push(' '),
                false => self.lines.push(character),
            }
        }
    }

    fn end_line(&mut self) {
        if self.lines.ends_with(' ') {
            self.lines.pop();
        }
        if !self.lines.ends_with('\n') {
            self.lines.push('\n');
        }
    }
}

#[cfg(test)]
mod tests;

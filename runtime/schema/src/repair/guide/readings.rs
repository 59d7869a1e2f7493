//! The possible readings of a value that does not have the expected type.

use super::super::list;
use super::super::shape::Types;
use super::super::words;
use super::{Guide, Reach};
use toolwright_core::json::parse;
use toolwright_core::json::tree::Node;
use toolwright_core::repairs::ChangeRule;
use toolwright_core::scalar;

impl Guide<'_> {
    pub(super) fn readings(
        &mut self,
        node: &Node,
        site: usize,
        shape: usize,
        depth: usize,
    ) -> Vec<(Node, ChangeRule)> {
        let types = self.shape(site, shape).types;
        let mut readings = scalar::readings(node, types, self.is_lenient());
        let composite = types.has(Types::ARRAY) || types.has(Types::OBJECT);
        if let Node::Text(text) = node {
            if types.has(Types::TEXT) && self.shape(site, shape).choices.is_some() {
                let spelt = self.schema.sites[site].spellings(shape).1.find(text.trim());
                readings.extend(
                    spelt.map(|it| (Node::Text(it.to_owned()), ChangeRule::ChoiceSpelling)),
                );
            }
            if composite && let Some(held) = self.read_nested(text, depth) {
                let wanted = types.has(Types::of(&held)) && !held.is_scalar();
                readings.extend(wanted.then_some((held, ChangeRule::Stringified)));
            }
        }
        // An empty value is not put into an array.
        let is_blank = matches!(node, Node::Null) || *node == Node::Text(String::new());
        let item = !matches!(node, Node::Array(_)) && !is_blank && !self.wrapping;
        if item && types.has(Types::ARRAY) && self.shape(site, shape).items.is_some() {
            if let Node::Text(text) = node
                && self.reach == Reach::Example
                && list::is_list(text)
                && self.charge(1 + text.len() / 16)
            {
                let items = list::items(text, depth);
                readings.extend(items.map(|it| (Node::Array(it), ChangeRule::InArray)));
            }
            readings.push((Node::Array(vec![node.clone()]), ChangeRule::InArray));
        }
        readings
    }

    /// Finds the choice that was probably meant by a mistyped text, if typing errors may be repaired.
    pub(super) fn slips(
        &mut self,
        node: &Node,
        site: usize,
        shape: usize,
    ) -> Vec<(Node, ChangeRule)> {
        let Node::Text(text) = node else { return Vec::new() };
        if !self.is_lenient() {
            return Vec::new();
        }
        let choices = self.shape(site, shape).words();
        let close = words::typo_of(text.trim(), choices, &mut self.letters_left);
        let close = close.map(|it| (Node::Text(it.to_owned()), ChangeRule::ChoiceTypo));
        close.into_iter().collect()
    }

    fn read_nested(&mut self, text: &str, depth: usize) -> Option<Node> {
        let begins = text.trim_start().starts_with(parse::HOLDS);
        if !begins || !self.charge(1 + text.len() / 16) {
            return None;
        }
        parse::parse_nested(text, depth)
    }
}

//! Checks the variables that a line sets: whether the name is allowed, and whether the value is known afterwards.

use std::ops::Range;

use tree_sitter::Node;

use super::arguments::{Kind, Word};
use super::{Doubt, Prover, Result};

impl<'a> Prover<'a, '_> {
    /// Checks `NAME=value` before a command.
    pub(super) fn check_passed(&mut self, node: Node<'_>) -> Result<()> {
        let (name, value) = self.assignment(node)?;
        self.check_assigned(name, &value.text, node.byte_range())
    }

    /// Checks the statement `NAME=value`, after which the value is known.
    pub(super) fn set(&mut self, node: Node<'_>) -> Result<()> {
        let (name, value) = self.assignment(node)?;
        self.check_assigned(name, &value.text, node.byte_range())?;
        if self.is_loop {
            return self.doubt(node, "is set again in a loop");
        }
        self.known.push((name, Some(value)));
        Ok(())
    }

    /// Checks `export NAME=value`.
    pub(super) fn check_declared(&mut self, node: Node<'_>) -> Result<()> {
        let mut cursor = node.walk();
        for child in node.children(&mut cursor) {
            match child.kind() {
                "export" => {}
                "variable_assignment" => self.set(child)?,
                _ => return self.doubt(child, "is not understood here"),
            }
        }
        Ok(())
    }

    pub(super) fn assignment(&self, node: Node<'_>) -> Result<(&'a str, Word<'a>)> {
        let mut cursor = node.walk();
        let (mut name, mut value) = (None, None);
        for child in node.children(&mut cursor) {
            match child.kind() {
                "variable_name" => name = Some(self.text(child)),
                "=" => {}
                _ if value.is_none() => value = Some(self.word(child)?),
                _ => return self.doubt(child, "is not understood here"),
            }
        }
        let nothing = || Word { text: "".into(), kind: Kind::Literal, range: node.byte_range() };
        let (Some(name), value) = (name, value.unwrap_or_else(nothing)) else {
            return self.doubt(node, "is not understood");
        };
        let is_plain = value.kind == Kind::Literal && !value.text.contains(['~', '`', '$']);
        match is_plain {
            true => Ok((name, value)),
            false => Err(value.doubt("is a value that is not known exactly")),
        }
    }

    /// Checks whether a variable may be set: no program may use its value as code or as a path.
    pub(super) fn check_assigned(
        &self,
        name: &str,
        value: &str,
        range: Range<usize>,
    ) -> Result<()> {
        // Programs see exported variables, whose value may name a file: `TZ=/etc/x`, `LANG=../x`.
        let is_seen = name.starts_with(|it: char| it.is_ascii_uppercase());
        let is_place = value.starts_with(['/', ':', '.', '~'])
            || value.contains("..")
            || (name.starts_with(['L', 'T']) && name != "TZ" && value.contains('/'));
        let has_more = value.contains(['$', '`', '\\']);
        let is_plain = !(has_more || is_seen && is_place);
        match self.table.is_harmless(name) && is_plain {
            true => Ok(()),
            false => Err(Doubt { reason: "sets a variable that a program may obey".into(), range }),
        }
    }
}

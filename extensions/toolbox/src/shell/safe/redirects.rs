//! Checks the redirections of a command.

use tree_sitter::Node;

use super::places::Folders;
use super::{Prover, Result};
use crate::shell::paths;

impl<'a> Prover<'a, '_> {
    /// Checks a redirection: input from a file, a descriptor or a text, or output to a descriptor or to a device such
    /// as `/dev/null`.
    pub(super) fn redirect(&mut self, node: Node<'_>, folders: &Folders) -> Result<()> {
        if node.kind() == "heredoc_redirect" {
            return self.heredoc(node, folders);
        }
        let mut cursor = node.walk();
        let (mut operator, mut target) = (None, None);
        for child in node.children(&mut cursor) {
            match child.kind() {
                "file_descriptor" => {}
                kind if !child.is_named() && operator.is_none() => operator = Some(kind),
                _ if target.is_none() => target = Some(self.word(child)?),
                _ => return self.doubt(child, "is not understood here"),
            }
        }
        let (Some(operator), Some(target)) = (operator, target) else {
            return self.doubt(node, "is not understood");
        };
        let text = target.literal()?;
        let is_number = matches!(text, "0" | "1" | "2" | "-");
        let is_nothing = paths::is_nothing(text);
        match operator {
            "<<<" => Ok(()),
            "<" => self.file(&target, folders, true),
            ">&" | "<&" if is_number => Ok(()),
            ">" | ">>" | ">|" if is_nothing => Ok(()),
            "&>" | "&>>" if is_nothing && self.is_bash => Ok(()),
            _ => self.doubt(node, "writes a file"),
        }
    }

    /// Checks that a here-document expands nothing, and checks the commands after it in a pipeline. The module `tree`
    /// has already verified the closing delimiter.
    pub(super) fn heredoc(&mut self, node: Node<'_>, folders: &Folders) -> Result<()> {
        let mut cursor = node.walk();
        let mut is_quoted = false;
        for child in node.children(&mut cursor) {
            match child.kind() {
                "<<" | "<<-" | "heredoc_end" | "file_descriptor" => {}
                "heredoc_start" => is_quoted = self.text(child).starts_with(['\'', '"']),
                // This is the form `cat <<EOF | grep a`.
                "pipeline" => {
                    let mut cursor = child.walk();
                    for next in child.children(&mut cursor).filter(|it| it.kind() != "|") {
                        self.apart(|it| it.statement(next, folders))?;
                    }
                }
                "heredoc_body" => {
                    let text = self.text(child);
                    if !is_quoted && text.contains(['$', '`', '\\']) {
                        return self.doubt(child, "is expanded");
                    }
                }
                _ => return self.doubt(child, "is not understood here"),
            }
        }
        Ok(())
    }
}

//! Checks `test`, `[` and `[[`: comparisons of texts and numbers, and tests of files.

use tree_sitter::Node;

use super::arguments::{Kind, Word};
use super::places::Folders;
use super::{Prover, Result};

/// Operators that take one file.
const FILES: [&str; 16] = [
    "-f", "-d", "-e", "-s", "-r", "-w", "-x", "-L", "-h", "-b", "-c", "-p", "-S", "-g", "-u", "-k",
];

impl<'a> Prover<'a, '_> {
    /// Checks `[ … ]` and `[[ … ]]`.
    pub(super) fn test_command(&mut self, node: Node<'_>, folders: &Folders) -> Result<()> {
        let mut cursor = node.walk();
        let is_single = !self.text(node).starts_with("[[");
        for child in node.children(&mut cursor) {
            match child.kind() {
                // In `[ a > b ]` the shell writes a file, but the parser sees a comparison.
                _ if is_single && child.is_named() && self.text(child).contains(['<', '>']) => {
                    return self.doubt(child, "may be a redirection");
                }
                "[" | "]" | "[[" | "]]" => {}
                _ => self.condition(child, folders)?,
            }
        }
        Ok(())
    }

    fn condition(&mut self, node: Node<'_>, folders: &Folders) -> Result<()> {
        self.depth += 1;
        if self.depth > super::DEEPEST {
            return self.doubt(node, "is nested too deeply");
        }
        let mut cursor = node.walk();
        let children: Vec<Node<'_>> = node.children(&mut cursor).collect();
        match (node.kind(), &children[..]) {
            ("unary_expression", [operator, operand]) => match self.text(*operator) {
                "!" => self.condition(*operand, folders)?,
                operator => {
                    let operand = self.word(*operand)?;
                    self.unary(operator, &operand, folders)?;
                }
            },
            ("negation_expression", [_, operand]) => self.condition(*operand, folders)?,
            ("parenthesized_expression", [_, inside, _]) => self.condition(*inside, folders)?,
            ("binary_expression", [left, operator, right]) => match self.text(*operator) {
                "&&" | "||" | "-a" | "-o" => {
                    self.condition(*left, folders)?;
                    self.condition(*right, folders)?;
                }
                "=~" | "==" | "=" | "!=" if matches!(right.kind(), "regex" | "extglob_pattern") => {
                    self.word(*left)?.literal()?;
                    let text = self.text(*right);
                    let is_expanded = text.char_indices().any(|(at, it)| {
                        it == '`'
                            || matches!(it, '<' | '>')
                            || (it == '$'
                                && text[at + 1..].starts_with(|it: char| {
                                    it.is_alphanumeric()
                                        || matches!(it, '(' | '{' | '_' | '[' | '\'' | '"')
                                }))
                    });
                    if is_expanded {
                        return self.doubt(*right, "is expanded to a text that is not known");
                    }
                }
                operator => {
                    let (left, right) = (self.word(*left)?, self.word(*right)?);
                    self.binary(&left, operator, &right, folders)?;
                }
            },
            _ => {
                self.word(node)?.literal()?;
            }
        }
        self.depth -= 1;
        Ok(())
    }

    /// Checks the arguments of `test`.
    pub(super) fn test(
        &mut self,
        name: &Word<'a>,
        words: &[Word<'a>],
        folders: &Folders,
    ) -> Result<()> {
        for word in words {
            word.literal()?;
        }
        match words {
            [] | [_] => Ok(()),
            [not, rest @ ..] if not.text == "!" => self.test(name, rest, folders),
            [operator, operand] => self.unary(&operator.text, operand, folders),
            [left, operator, right] => self.binary(left, &operator.text, right, folders),
            _ => Err(name.doubt("compares more than is understood")),
        }
    }

    fn unary(&mut self, operator: &str, operand: &Word<'a>, folders: &Folders) -> Result<()> {
        match operator {
            "-z" | "-n" => operand.literal().map(|_| ()),
            _ if FILES.contains(&operator) && operand.kind == Kind::Literal => {
                self.file(operand, folders, false)
            }
            _ => Err(operand.doubt("is compared in a way that is not understood")),
        }
    }

    fn binary(
        &mut self,
        left: &Word<'a>,
        operator: &str,
        right: &Word<'a>,
        folders: &Folders,
    ) -> Result<()> {
        let is_number = |word: &Word<'_>| {
            let digits = word.text.strip_prefix('-').unwrap_or(&word.text);
            word.kind == Kind::Literal
                && !digits.is_empty()
                && digits.bytes().all(|it| it.is_ascii_digit())
        };
        match operator {
            "=" | "==" | "!=" | "<" | ">" => left.literal().map(|_| ()),
            "-nt" | "-ot" | "-ef" if left.kind == Kind::Literal && right.kind == Kind::Literal => {
                self.file(left, folders, false)?;
                self.file(right, folders, false)
            }
            "-eq" | "-ne" | "-lt" | "-le" | "-gt" | "-ge"
                if is_number(left) && is_number(right) =>
            {
                Ok(())
            }
            _ => Err(left.doubt("is compared in a way that is not understood")),
        }
    }
}

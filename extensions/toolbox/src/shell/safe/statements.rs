//! Checks sequences and nested groups of statements, and tracks the possible folders after each.

use tree_sitter::Node;

use super::places::{Ends, Folders};
use super::{DEEPEST, Doubt, Prover, Result};

impl<'a> Prover<'a, '_> {
    /// Checks a sequence of statements.
    pub(super) fn statements(&mut self, node: Node<'_>, from: &Folders) -> Result<Ends> {
        let mut ends = Ends::at(from);
        let mut cursor = node.walk();
        let children: Vec<Node<'_>> = node.children(&mut cursor).collect();
        for (at, child) in children.iter().enumerate() {
            match child.kind() {
                "{" | "}" | "(" | ")" | "do" | "done" | ";" | "\n" | "&" | "then" | "else"
                | "comment" => {}
                _ if !child.is_named() => return self.doubt(*child, "is not understood here"),
                _ => {
                    let folders =
                        ends.either().map_err(|()| Doubt::too_many(child.byte_range()))?;
                    if children.get(at + 1).is_some_and(|it| it.kind() == "&") {
                        // A background statement runs in parallel in a shell of its own.
                        self.apart(|it| it.statement(*child, &folders))?;
                        ends = Ends::at(&folders);
                    } else {
                        ends = self.statement(*child, &folders)?;
                    }
                }
            }
        }
        Ok(ends)
    }

    pub(super) fn statement(&mut self, node: Node<'_>, from: &Folders) -> Result<Ends> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return self.doubt(node, "is nested too deeply");
        }
        let ends = self.statement_of(node, from);
        self.depth -= 1;
        ends
    }

    fn statement_of(&mut self, node: Node<'_>, from: &Folders) -> Result<Ends> {
        let mut cursor = node.walk();
        match node.kind() {
            "command" => self.command(node, from),
            "declaration_command" => self.check_declared(node).map(|()| Ends::at(from)),
            "variable_assignment" => self.set(node).map(|()| Ends::at(from)),
            "test_command" => {
                self.test_command(node, from)?;
                Ok(Ends::at(from))
            }
            "redirected_statement" => {
                let is_redirect = |it: &Node<'_>| it.kind().ends_with("_redirect");
                let (redirects, body): (Vec<_>, Vec<_>) =
                    node.children(&mut cursor).partition(is_redirect);
                match body[..] {
                    [] => self.check_redirected(None, from, &redirects),
                    [body] => self.check_redirected(Some(body), from, &redirects),
                    _ => self.doubt(node, "is not understood"),
                }
            }
            "list" => self.list(node, from, &[]),
            "pipeline" => self.pipeline(node, from, &[]),
            "subshell" => {
                self.apart(|it| it.statements(node, from))?;
                Ok(Ends::at(from))
            }
            "compound_statement" => self.statements(node, from),
            "negated_command" => {
                for child in node.children(&mut cursor).filter(|it| it.kind() != "!") {
                    let ends = self.statement(child, from)?;
                    if ends.good != *from || ends.bad != *from {
                        return self
                            .doubt(child, "changes the folder where the check cannot follow");
                    }
                }
                Ok(Ends::at(from))
            }
            "if_statement" | "while_statement" => self.branches(node, from),
            "for_statement" => self.for_each(node, from),
            _ => self.doubt(node, "is not understood"),
        }
    }

    /// Checks a statement with redirections, which apply to the last command of a list or a pipeline.
    fn check_redirected(
        &mut self,
        body: Option<Node<'_>>,
        from: &Folders,
        redirects: &[Node<'_>],
    ) -> Result<Ends> {
        if redirects.is_empty()
            && let Some(body) = body
        {
            return self.statement(body, from);
        }
        match body {
            Some(body) if body.kind() == "list" => self.list(body, from, redirects),
            Some(body) if body.kind() == "pipeline" => self.pipeline(body, from, redirects),
            _ => {
                redirects.iter().try_for_each(|it| self.redirect(*it, from))?;
                body.map_or_else(|| Ok(Ends::at(from)), |it| self.statement(it, from))
            }
        }
    }

    fn pipeline(&mut self, node: Node<'_>, from: &Folders, redirects: &[Node<'_>]) -> Result<Ends> {
        let mut cursor = node.walk();
        let children: Vec<Node<'_>> = node.children(&mut cursor).collect();
        for (at, child) in children.iter().enumerate() {
            let redirects = if at + 1 == children.len() { redirects } else { &[] };
            match child.kind() {
                "|" => {}
                "|&" if self.is_bash => {}
                _ => self.apart(|it| it.check_redirected(Some(*child), from, redirects))?,
            }
        }
        Ok(Ends::at(from))
    }

    /// Checks `a && b` and `a || b`.
    fn list(&mut self, node: Node<'_>, from: &Folders, redirects: &[Node<'_>]) -> Result<Ends> {
        let mut cursor = node.walk();
        let children: Vec<Node<'_>> = node.children(&mut cursor).collect();
        let [first, operator, second] = children[..] else {
            return self.doubt(node, "is not understood");
        };
        let first = self.statement(first, from)?;
        let ends = match operator.kind() {
            "&&" => {
                let second =
                    self.maybe(|it| it.check_redirected(Some(second), &first.good, redirects))?;
                Ends { good: second.good, bad: first.bad.or(&second.bad) }
            }
            "||" => {
                let second =
                    self.maybe(|it| it.check_redirected(Some(second), &first.bad, redirects))?;
                Ends { good: first.good.or(&second.good), bad: second.bad }
            }
            _ => return self.doubt(operator, "is not understood here"),
        };
        match ends.good.are_too_many() || ends.bad.are_too_many() {
            true => Err(Doubt::too_many(node.byte_range())),
            false => Ok(ends),
        }
    }

    /// Checks a part that runs in a shell of its own, whose variables are not visible outside.
    pub(super) fn apart<T>(&mut self, run: impl FnOnce(&mut Self) -> Result<T>) -> Result<()> {
        let known = self.known.clone();
        run(self)?;
        self.known = known;
        Ok(())
    }

    /// Checks a part that may or may not run. Afterwards, the values of the variables that the part sets are unknown.
    fn maybe<T>(&mut self, run: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let before = self.known.len();
        let ended = run(self)?;
        for at in before..self.known.len() {
            self.known[at].1 = None;
        }
        Ok(ended)
    }

    /// Checks conditions and their branches, none of which may change the folder.
    fn branches(&mut self, node: Node<'_>, from: &Folders) -> Result<Ends> {
        let was_loop = self.is_loop;
        self.is_loop |= node.kind() == "while_statement";
        let mut cursor = node.walk();
        for child in node.children(&mut cursor) {
            match child.kind() {
                "if" | "then" | "fi" | ";" | "\n" | "while" | "until" | "else" | "elif"
                | "comment" => {}
                "do_group" => self.still(child, from, true)?,
                "elif_clause" | "else_clause" => {
                    self.branches(child, from)?;
                }
                _ => self.still(child, from, false)?,
            }
        }
        self.is_loop = was_loop;
        Ok(Ends::at(from))
    }

    /// Checks statements that may or may not run. They must not change the folder.
    fn still(&mut self, node: Node<'_>, from: &Folders, is_group: bool) -> Result<()> {
        let ends = self.maybe(|it| match is_group {
            true => it.statements(node, from),
            false => it.statement(node, from),
        })?;
        if ends.good != *from || ends.bad != *from {
            return self.doubt(node, "changes the folder where the check cannot follow");
        }
        Ok(())
    }

    /// Checks `for name in …; do …; done` with known values: the body is checked with each value.
    fn for_each(&mut self, node: Node<'_>, from: &Folders) -> Result<Ends> {
        let (mut values, mut name, mut body) = (Vec::new(), None, None);
        let mut cursor = node.walk();
        for child in node.children(&mut cursor) {
            match child.kind() {
                "for" | "in" | ";" | "\n" => {}
                "variable_name" => name = Some(child),
                "do_group" => body = Some(child),
                _ => values.push(self.word(child)?),
            }
        }
        let (Some(name), Some(body)) = (name, body) else {
            return self.doubt(node, "is not understood");
        };
        if values.is_empty() {
            return self.doubt(node, "goes over arguments that are not known");
        }
        let (was_loop, range, name) = (self.is_loop, name.byte_range(), self.text(name));
        self.check_assigned(name, "", range)?;
        self.is_loop = true;
        let outer = self.looped.clone();
        self.looped.get_or_insert_with(|| from.clone());
        for value in values {
            let before = self.known.len();
            self.known.push((name, Some(value)));
            self.still(body, from, true)?;
            self.known.truncate(before);
        }
        (self.is_loop, self.looped) = (was_loop, outer);
        self.known.push((name, None));
        Ok(Ends::at(from))
    }
}

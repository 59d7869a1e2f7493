//! The syntax check: tree-sitter parses a file before and after a write, and the check reports new errors.

mod check;
mod compare;
mod language;
mod parsed;

pub use check::SyntaxCheck;

#[cfg(test)]
#[cfg(all(
    feature = "syntax-javascript",
    feature = "syntax-json",
    feature = "syntax-python",
    feature = "syntax-rust",
    feature = "syntax-toml"
))]
mod tests;

//! The syntax check: whether a write made the syntax of a file worse, as tree-sitter parses it before and after.

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

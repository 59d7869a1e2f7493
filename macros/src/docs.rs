//! Reads doc comments. They become the descriptions for the model.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::{Attribute, Expr, ExprLit, Lit, Meta};

use crate::args::value::strip_groups;

/// The doc comment of an item or a parameter.
pub enum Docs {
    Missing,
    /// Every line of the doc comment is a string literal, so the macro knows the whole text.
    Text(String),
    /// A line of the doc comment is a macro such as `include_str!`, so only rustc can compute the text.
    Computed(TokenStream),
}

impl Docs {
    pub fn of(attributes: &[Attribute]) -> Self {
        let lines: Vec<&Expr> = attributes.iter().filter_map(line).collect();
        let known = |line: &&Expr| matches!(line, Expr::Lit(_) | Expr::Macro(_));
        if !lines.iter().all(known) {
            // A line of the doc comment is not text. Rustc reports that itself.
            return Self::Text(String::new());
        }
        let texts: Option<Vec<String>> = lines.iter().map(literal).collect();
        match texts {
            Some(texts) if texts.iter().all(|text| text.trim().is_empty()) => Self::Missing,
            Some(texts) => Self::Text(texts.join("\n")),
            None => Self::Computed(quote!(::core::concat!(#(#lines, "\n"),*))),
        }
    }

    pub fn is_missing(&self) -> bool {
        matches!(self, Self::Missing)
    }
}

impl ToTokens for Docs {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        match self {
            Self::Missing => "".to_tokens(tokens),
            Self::Text(text) => text.to_tokens(tokens),
            Self::Computed(expression) => expression.to_tokens(tokens),
        }
    }
}

/// Returns the expression in `#[doc = …]`; `None` for another attribute, such as `#[doc(hidden)]`.
fn line(attribute: &Attribute) -> Option<&Expr> {
    match &attribute.meta {
        Meta::NameValue(pair) if pair.path.is_ident("doc") => Some(strip_groups(&pair.value)),
        _ => None,
    }
}

fn literal(expression: &&Expr) -> Option<String> {
    match expression {
        Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text.value()),
        _ => None,
    }
}

//! Finds tokens of a type that are out of place in a signature.

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::ToTokens;
use syn::Type;

/// A token of a type that may be in the wrong place.
pub enum FoundToken<'a> {
    Word(&'a str),
    Lifetime(&'a str),
    /// `&`: whether a lifetime other than `'static` or none follows it, and the last name of the path that it refers
    /// to.
    Reference(bool, Option<String>),
}

/// Finds the first token of a type for which `test` returns a mistake.
pub fn find_token<M>(ty: &Type, test: &dyn Fn(FoundToken<'_>) -> Option<M>) -> Option<(Span, M)> {
    search(ty.to_token_stream(), test)
}

fn search<M>(tokens: TokenStream, test: &dyn Fn(FoundToken<'_>) -> Option<M>) -> Option<(Span, M)> {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let is_tick = |index: usize| matches!(tokens.get(index), Some(TokenTree::Punct(tick)) if tick.as_char() == '\'');
    let lifetime_at = |index: usize| match tokens.get(index + 1) {
        Some(TokenTree::Ident(name)) if is_tick(index) => Some(name.to_string()),
        _ => None,
    };
    tokens.iter().enumerate().find_map(|(index, token)| {
        let verdict = match token {
            TokenTree::Group(group) => return search(group.stream(), test),
            // The name of a lifetime is not a type: `'_` leaves no type to inference.
            TokenTree::Ident(_) if index.checked_sub(1).is_some_and(is_tick) => None,
            TokenTree::Ident(word) => test(FoundToken::Word(&word.to_string())),
            TokenTree::Punct(punct) if punct.as_char() == '&' => {
                let lifetime = lifetime_at(index + 1);
                let after = index + if lifetime.is_some() { 3 } else { 1 };
                let is_short = lifetime.as_deref() != Some("static");
                test(FoundToken::Reference(is_short, last_word(&tokens[after.min(tokens.len())..])))
            }
            TokenTree::Punct(_) => {
                lifetime_at(index).and_then(|name| test(FoundToken::Lifetime(&name)))
            }
            TokenTree::Literal(_) => None,
        };
        verdict.map(|message| (token.span(), message))
    })
}

/// Returns `Db` for `mut store::Db<'_>`, and `None` if anything but a path comes first.
fn last_word(tokens: &[TokenTree]) -> Option<String> {
    let mut last = None;
    for token in tokens {
        match token {
            TokenTree::Ident(word) if word == "mut" => {}
            TokenTree::Ident(word) => last = Some(word.to_string()),
            TokenTree::Punct(colon) if colon.as_char() == ':' => {}
            _ => break,
        }
    }
    last
}

/// Unwraps a type from the invisible groups and parentheses that macros leave.
pub fn strip_groups(mut ty: &Type) -> &Type {
    loop {
        ty = match ty {
            Type::Group(group) => &group.elem,
            Type::Paren(paren) => &paren.elem,
            other => return other,
        };
    }
}

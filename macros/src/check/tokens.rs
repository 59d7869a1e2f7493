//! Finds tokens in a type that must not be in a signature.

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::ToTokens;
use syn::Type;

/// A token of a type, for [`find_token`].
pub enum FoundToken<'a> {
    Word(&'a str),
    Lifetime(&'a str),
    /// `&`: whether its lifetime is not `'static`, and the last name of the path to which it refers.
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
            // The name of a lifetime is not a type. In particular, `'_` does not leave out a type as `_` does.
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

/// Returns the last name of a path, such as `Db` for `mut store::Db<'_>`; `None` if the tokens do not begin with a
/// path.
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

/// Removes the invisible groups around a type, which come from macros, and parentheses.
pub fn strip_groups(mut ty: &Type) -> &Type {
    loop {
        ty = match ty {
            Type::Group(group) => &group.elem,
            Type::Paren(paren) => &paren.elem,
            other => return other,
        };
    }
}

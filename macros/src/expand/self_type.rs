//! Replaces `Self` in the options of a method. The options become items inside the handle's constant, where the `Self`
//! of the `impl` block does not exist. An alias is used instead.

use proc_macro2::{Group, Ident, TokenStream, TokenTree};
use quote::quote;
use syn::Type;

/// Returns the items of a method's handle. If they contain `Self`, adds an alias and replaces `Self` by it.
pub fn with_alias(self_type: Option<&Type>, items: TokenStream) -> TokenStream {
    match self_type {
        Some(ty) if names_self(items.clone()) => {
            let items = rename(items);
            quote!(type __TwSelf = #ty; #items)
        }
        _ => items,
    }
}

fn names_self(tokens: TokenStream) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Ident(word) => word == "Self",
        TokenTree::Group(group) => names_self(group.stream()),
        _ => false,
    })
}

fn rename(tokens: TokenStream) -> TokenStream {
    let each = |token| match token {
        TokenTree::Ident(word) if word == "Self" => Ident::new("__TwSelf", word.span()).into(),
        TokenTree::Group(group) => {
            let mut again = Group::new(group.delimiter(), rename(group.stream()));
            again.set_span(group.span());
            again.into()
        }
        other => other,
    };
    tokens.into_iter().map(each).collect()
}

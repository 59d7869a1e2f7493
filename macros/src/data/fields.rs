//! Generates a check of each field's type. The checks come before the derives of serde and schemars, so that the first
//! error of rustc says what to write.

use std::collections::BTreeSet;

use proc_macro2::{TokenStream, TokenTree};
use quote::{ToTokens as _, quote, quote_spanned};
use syn::spanned::Spanned as _;
use syn::{DeriveInput, Type};

/// Types that are always data. Checking them would only take compile time.
const KNOWN: &[&str] = &[
    "String", "bool", "char", "f32", "f64", "i8", "i16", "i32", "i64", "i128", "isize", "u8",
    "u16", "u32", "u64", "u128", "usize",
];

/// Generates the checks of the item's field types. Returns `None` for a generic item, whose field types are not known
/// yet.
pub fn questions(
    private: &TokenStream,
    item: &DeriveInput,
    types: &[&Type],
) -> Option<TokenStream> {
    if !item.generics.params.is_empty() {
        return None;
    }
    let mut asked = BTreeSet::new();
    let questions = types.iter().filter_map(|ty| {
        let written = ty.to_token_stream();
        let is_known = KNOWN.contains(&written.to_string().as_str());
        // The checks are outside of the item, where `Self` has no meaning.
        let is_asked = !is_known && !names_self(&written) && asked.insert(written.to_string());
        is_asked.then(|| {
            quote_spanned! {ty.span()=>
                #[allow(deprecated, reason = "a deprecated type may still be that of a field")]
                const _: () = <#ty as #private::Field>::IS_DATA;
            }
        })
    });
    Some(quote!(#(#questions)*))
}

fn names_self(tokens: &TokenStream) -> bool {
    tokens.clone().into_iter().any(|token| match token {
        TokenTree::Ident(ident) => ident == "Self",
        TokenTree::Group(group) => names_self(&group.stream()),
        TokenTree::Punct(_) | TokenTree::Literal(_) => false,
    })
}

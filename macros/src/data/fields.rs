//! Names each field's type where rustc can ask whether it is data, before the derives of serde and schemars ask it, so that the
//! first error says what to write.

use std::collections::BTreeSet;

use proc_macro2::TokenStream;
use quote::{ToTokens as _, quote, quote_spanned};
use syn::spanned::Spanned as _;
use syn::{DeriveInput, Type};

/// Types that are data in every program; to ask about them would only take rustc's time.
const KNOWN: &[&str] = &[
    "String", "bool", "char", "f32", "f64", "i8", "i16", "i32", "i64", "i128", "isize", "u8",
    "u16", "u32", "u64", "u128", "usize",
];

/// The questions about these types of the item's fields. Of a generic type the compiler knows no field before it is used.
pub fn questions(
    private: &TokenStream,
    item: &DeriveInput,
    types: &[&Type],
) -> Option<TokenStream> {
    if !item.generics.params.is_empty() {
        return None;
    }
    let mut asked = BTreeSet::new();
    let questions: Vec<TokenStream> = types
        .iter()
        .map(|ty| (ty, ty.to_token_stream().to_string()))
        .filter(|(_, text)| !KNOWN.contains(&text.as_str()) && asked.insert(text.clone()))
        .map(|(ty, _)| quote_spanned!(ty.span()=> let _ = <#ty as #private::Field>::IS_DATA;))
        .collect();
    (!questions.is_empty()).then(|| quote!(const _: () = { #(#questions)* };))
}

//! Expands `#[data]`: adds the derives that a user's input or output type needs.

mod fields;
mod known;
mod refused;

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser};
use syn::{Attribute, Error, Generics, Path, Token, Visibility};

use crate::args::value;
use crate::item;
use crate::paths::Paths;

/// Adds the derives to the item. The user's own serde and schemars attributes remain unchanged.
pub fn expand(args: TokenStream, item: TokenStream) -> TokenStream {
    let checked = krate.parse2(args).and_then(|root| {
        has_fields.parse2(item.clone())?;
        // If the item cannot be parsed, rustc reports that, so the macro does not.
        if let Ok(item) = syn::parse2(item.clone()) {
            refused::check(&item)?;
        }
        Ok(root)
    });
    let root = match checked {
        Ok(root) => root,
        Err(error) => {
            let (error, item) =
                (error.to_compile_error(), item::without(item, &["serde", "schemars"]));
            return quote!(#error #item);
        }
    };
    let private = Paths::new(root.as_ref()).private();
    let serde = quote!(#private::serde).to_string();
    let schemars = quote!(#private::schemars).to_string();
    let parsed = syn::parse2(item.clone()).ok();
    let types = parsed.as_ref().and_then(|it| Some((it, known::types(it)?)));
    let questions = types.as_ref().and_then(|(it, types)| fields::questions(&private, it, types));
    let known = types.as_ref().and_then(|(it, types)| known::implementation(&private, it, types));
    quote! {
        #questions
        #[derive(#private::serde::Serialize, #private::serde::Deserialize, #private::schemars::JsonSchema)]
        #[serde(crate = #serde)]
        #[schemars(crate = #schemars)]
        #item
        #known
    }
}

/// Parses `crate = …`, the only option.
fn krate(input: ParseStream<'_>) -> syn::Result<Option<Path>> {
    if input.is_empty() {
        return Ok(None);
    }
    if !input.peek(Token![crate]) {
        let message =
            format!("unknown option `{}`, expected `crate = path` or nothing", first_word(input));
        return Err(input.error(message));
    }
    let key = input.call(Ident::parse_any)?;
    let path = value::path(&key, input)?;
    if !input.is_empty() {
        let (_, rest): (Option<Token![,]>, TokenStream) = (input.parse()?, input.parse()?);
        return Err(Error::new_spanned(rest, "`#[data]` has no option but `crate`"));
    }
    Ok(Some(path))
}

/// Checks that the item is a struct or an enum, and has no lifetime parameter.
fn has_fields(input: ParseStream<'_>) -> syn::Result<()> {
    input.call(Attribute::parse_outer)?;
    input.parse::<Visibility>()?;
    if !input.peek(Token![struct]) && !input.peek(Token![enum]) {
        return Err(input.error("`#[data]` belongs on a struct or an enum"));
    }
    input.parse::<TokenTree>()?;
    input.call(Ident::parse_any)?;
    if input.peek(Token![<]) {
        let generics: Generics = input.parse()?;
        if let Some(lifetime) = generics.lifetimes().next() {
            let message = "input and answers own their data; drop the lifetime, and write `String` for `&str` or `Cow<str>`";
            return Err(Error::new_spanned(lifetime, message));
        }
    }
    input.parse::<TokenStream>().map(drop)
}

fn first_word(input: ParseStream<'_>) -> String {
    input
        .fork()
        .parse::<TokenTree>()
        .map(|token| token.to_token_stream().to_string())
        .unwrap_or_default()
}

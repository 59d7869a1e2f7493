//! `#[data]`: the derives that a user's own input or output type needs.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::parse::{ParseStream, Parser};
use syn::{Path, Token};

use crate::paths::Paths;

/// Puts the derives on the item; the user's own serde and schemars attributes stay as they are.
pub fn expand(args: TokenStream, item: TokenStream) -> TokenStream {
    let root = match krate.parse2(args) {
        Ok(root) => root,
        Err(error) => {
            let error = error.to_compile_error();
            return quote!(#error #item);
        }
    };
    let private = Paths::new(root.as_ref()).private();
    let serde = quote!(#private::serde).to_string();
    let schemars = quote!(#private::schemars).to_string();
    quote! {
        #[derive(#private::serde::Serialize, #private::serde::Deserialize, #private::schemars::JsonSchema)]
        #[serde(crate = #serde)]
        #[schemars(crate = #schemars)]
        #item
    }
}

/// `crate = …`, the only option.
fn krate(input: ParseStream<'_>) -> syn::Result<Option<Path>> {
    if input.is_empty() {
        return Ok(None);
    }
    if !input.peek(Token![crate]) {
        let message =
            format!("unknown option `{}`, expected `crate = path` or nothing", first_word(input));
        return Err(input.error(message));
    }
    input.parse::<Token![crate]>()?;
    input.parse::<Token![=]>()?;
    let path = input.call(Path::parse_mod_style)?;
    if !input.is_empty() {
        return Err(input.error("expected nothing after `crate = …`"));
    }
    Ok(Some(path))
}

fn first_word(input: ParseStream<'_>) -> String {
    input
        .fork()
        .parse::<proc_macro2::TokenTree>()
        .map(|token| token.to_token_stream().to_string())
        .unwrap_or_default()
}

//! The loop that every attribute shares: `key`, `key = value` and `key(…)`, separated by commas. A
//! mistake in one option does not hide the mistakes in the next.

use proc_macro2::{Ident, TokenTree};
use syn::Token;
use syn::ext::IdentExt;
use syn::parse::ParseStream;

use crate::errors::{Errors, did_you_mean, one_of};

/// Reads options until the input ends; `each` reads what follows a known key.
pub fn read(
    input: ParseStream<'_>,
    known: &[&str],
    repeatable: &[&str],
    errors: &mut Errors,
    mut each: impl FnMut(&Ident, ParseStream<'_>) -> syn::Result<()>,
) {
    let mut seen: Vec<Ident> = Vec::new();
    while !input.is_empty() {
        match input.call(Ident::parse_any) {
            Err(error) => {
                errors
                    .at(error.span(), format!("found no option here, expected {}", one_of(known)));
                skip_option(input);
            }
            Ok(key) => {
                let written = key.to_string();
                if !known.contains(&written.as_str()) {
                    let hint = did_you_mean(&written, known);
                    let choices = if hint.is_empty() {
                        format!("; the options are {}", one_of(known))
                    } else {
                        hint
                    };
                    errors.at(key.span(), format!("unknown option `{written}`{choices}"));
                    skip_option(input);
                } else {
                    if seen.contains(&key) && !repeatable.contains(&written.as_str()) {
                        errors.at(key.span(), format!("`{written}` is given twice; keep one"));
                    }
                    if let Err(error) = each(&key, input) {
                        errors.push(error);
                        skip_option(input);
                    } else if !input.is_empty() && !input.peek(Token![,]) {
                        errors.at(
                            input.span(),
                            format!("found more after `{written}`, expected `,` or the end"),
                        );
                        skip_option(input);
                    }
                    seen.push(key);
                }
            }
        }
        if input.peek(Token![,]) && input.parse::<Token![,]>().is_err() {
            return;
        }
    }
}

/// Passes over the rest of an option that is already reported.
fn skip_option(input: ParseStream<'_>) {
    while !input.is_empty() && !input.peek(Token![,]) {
        if input.parse::<TokenTree>().is_err() {
            return;
        }
    }
}

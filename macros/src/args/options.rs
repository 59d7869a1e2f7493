//! The loop that all attributes share. It parses `key`, `key = value` and `key(…)`, separated by commas. After a
//! mistake in one option, it continues with the next option.

use proc_macro2::{Delimiter, Ident, TokenTree};
use syn::Token;
use syn::ext::IdentExt;
use syn::parse::ParseStream;

use super::advice::instead_of;
use crate::errors::{Errors, did_you_mean, one_of};

/// The keyword of an option, and the parser for the tokens after the keyword.
pub type Row<A> = (&'static str, fn(&mut A, &Ident, ParseStream<'_>) -> syn::Result<()>);

/// Parses options until the input ends. `seen` may contain the keys of an earlier attribute of the same parameter.
pub fn read<A>(
    input: ParseStream<'_>,
    rows: &[Row<A>],
    args: &mut A,
    seen: &mut Vec<Ident>,
    repeatable: &[&str],
    errors: &mut Errors,
) {
    let known: Vec<&str> = rows.iter().map(|(written, _)| *written).collect();
    while !input.is_empty() {
        match input.call(Ident::parse_any) {
            Err(error) => {
                let (found, expected) = (describe_next(input), one_of(&known));
                errors.at(error.span(), format!("{found}, expected an option: {expected}"));
                skip(input);
            }
            Ok(key) => {
                let written = key.to_string();
                if let Some((_, read)) = rows.iter().find(|(known, _)| *known == written) {
                    if seen.contains(&key) && !repeatable.contains(&written.as_str()) {
                        errors.at(key.span(), format!("`{written}` is given twice; keep one"));
                    }
                    if let Err(error) = read(args, &key, input) {
                        errors.push(error);
                        skip(input);
                    } else if !input.is_empty() && !input.peek(Token![,]) {
                        let found = describe_next(input);
                        errors.at(
                            input.span(),
                            format!("{found} after `{written}`, expected `,` or the end"),
                        );
                        skip(input);
                    }
                    seen.push(key);
                } else {
                    let hint = match instead_of(&written, &known) {
                        Some(advice) => format!("; {advice}"),
                        None => did_you_mean(&written, &known),
                    };
                    let choices = match hint.is_empty() {
                        true => format!(", expected {}", one_of(&known)),
                        false => hint,
                    };
                    errors.at(key.span(), format!("unknown option `{written}`{choices}"));
                    skip(input);
                }
            }
        }
        if input.peek(Token![,]) && input.parse::<Token![,]>().is_err() {
            return;
        }
    }
}

/// Parses the items of a list in parentheses, separated by commas. After a mistake in one item, it continues with the
/// next item.
pub fn list<T>(
    input: ParseStream<'_>,
    mut each: impl FnMut(ParseStream<'_>) -> syn::Result<T>,
) -> syn::Result<Vec<T>> {
    let (mut read, mut errors) = (Vec::new(), Errors::default());
    while !input.is_empty() {
        match each(input) {
            Ok(one) if input.is_empty() || input.peek(Token![,]) => read.push(one),
            Ok(_) => {
                errors
                    .at(input.span(), format!("{}, expected `,` or the end", describe_next(input)));
                skip(input);
            }
            Err(error) => {
                errors.push(error);
                skip(input);
            }
        }
        if !input.is_empty() {
            input.parse::<Token![,]>()?;
        }
    }
    errors.into_error().map_or(Ok(read), Err)
}

/// Describes the next token, for an error message.
pub fn describe_next(input: ParseStream<'_>) -> String {
    match input.fork().parse::<TokenTree>() {
        Ok(TokenTree::Group(group)) => match group.delimiter() {
            Delimiter::Parenthesis => "found `(…)`".into(),
            Delimiter::Brace => "found `{…}`".into(),
            Delimiter::Bracket => "found `[…]`".into(),
            Delimiter::None => format!("found `{group}`"),
        },
        Ok(token) => format!("found `{token}`"),
        Err(_) => "found nothing".into(),
    }
}

/// Skips the remaining tokens of an option or item whose mistake was reported.
fn skip(input: ParseStream<'_>) {
    while !input.is_empty() && !input.peek(Token![,]) {
        if input.parse::<TokenTree>().is_err() {
            return;
        }
    }
}

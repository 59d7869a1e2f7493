//! What may follow a key: text, words, counts, durations, paths and expressions.

use proc_macro2::{Ident, Span};
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::punctuated::Punctuated;
use syn::{Expr, LitInt, LitStr, Path, Token, parenthesized, token};

use crate::errors::{did_you_mean, one_of};

pub const DANGERS: &[&str] = &["safe", "moderate", "dangerous", "critical"];

/// `timeout = "30s"`, or `timeout = none`.
pub enum Timeout {
    None,
    Milliseconds(u64),
}

pub fn text(key: &Ident, input: ParseStream<'_>) -> syn::Result<LitStr> {
    equals(key, input, "\"…\"")?;
    string(input, &format!("text in quotes: `{key} = \"…\"`"))
}

/// Text that every provider can be made to accept as a tool's name.
pub fn tool_name(key: &Ident, input: ParseStream<'_>) -> syn::Result<LitStr> {
    let name = text(key, input)?;
    check_name(&name.value()).map_err(|problem| syn::Error::new(name.span(), problem))?;
    Ok(name)
}

/// Why a name cannot be a tool's.
pub fn check_name(name: &str) -> Result<(), String> {
    let legal = |character: char| character.is_ascii_alphanumeric() || "_-.".contains(character);
    match name.chars().find(|character| !legal(*character)) {
        Some(character) => Err(format!(
            "`{character}` cannot stand in a tool's name; use letters, digits, `_`, `-` and `.`"
        )),
        None if name.is_empty() => Err("a tool's name cannot be empty".into()),
        None if name.len() > 64 => {
            Err(format!("a tool's name has at most 64 characters, this one has {}", name.len()))
        }
        None => Ok(()),
    }
}

pub fn texts(key: &Ident, input: ParseStream<'_>) -> syn::Result<Vec<LitStr>> {
    list_follows(key, input, "\"…\"")?;
    let content;
    parenthesized!(content in input);
    let one = |input: ParseStream<'_>| string(input, "text in quotes");
    Ok(Punctuated::<LitStr, Token![,]>::parse_terminated_with(&content, one)?.into_iter().collect())
}

/// A key that stands alone; its span is its value.
pub fn flag(key: &Ident, input: ParseStream<'_>) -> syn::Result<Span> {
    if input.peek(Token![=]) || input.peek(token::Paren) {
        return Err(input.error(format!("`{key}` is a flag: write it alone, or leave it out")));
    }
    Ok(key.span())
}

pub fn word(key: &Ident, input: ParseStream<'_>, choices: &[&str]) -> syn::Result<Ident> {
    equals(key, input, choices.first().copied().unwrap_or_default())?;
    let expected = format!("expected {}", one_of(choices));
    let word = input
        .call(Ident::parse_any)
        .map_err(|error| syn::Error::new(error.span(), format!("found no word, {expected}")))?;
    if choices.contains(&word.to_string().as_str()) {
        return Ok(word);
    }
    let hint = did_you_mean(&word.to_string(), choices);
    Err(syn::Error::new(word.span(), format!("found `{word}`, {expected}{hint}")))
}

pub fn identifier(key: &Ident, input: ParseStream<'_>) -> syn::Result<Ident> {
    equals(key, input, "NAME")?;
    input.parse().map_err(|error: syn::Error| {
        syn::Error::new(error.span(), format!("found no identifier, expected `{key} = NAME`"))
    })
}

pub fn path(key: &Ident, input: ParseStream<'_>) -> syn::Result<Path> {
    equals(key, input, "some::path")?;
    input.call(Path::parse_mod_style).map_err(|error| {
        syn::Error::new(error.span(), format!("found no path, expected `{key} = some::path`"))
    })
}

pub fn expression(key: &Ident, input: ParseStream<'_>, example: &str) -> syn::Result<Expr> {
    equals(key, input, example)?;
    if input.is_empty() || input.peek(Token![,]) {
        return Err(syn::Error::new(
            key.span(),
            format!("`{key}` needs a value: `{key} = {example}`"),
        ));
    }
    input.parse()
}

/// A whole number above zero.
pub fn count(key: &Ident, input: ParseStream<'_>) -> syn::Result<u32> {
    equals(key, input, "3")?;
    let expected = format!("expected a whole number above zero: `{key} = 3`");
    let number: LitInt = input.parse().map_err(|error: syn::Error| {
        syn::Error::new(error.span(), format!("found no number, {expected}"))
    })?;
    match number.base10_parse() {
        Ok(count) if count > 0 => Ok(count),
        _ => Err(syn::Error::new(number.span(), format!("found `{number}`, {expected}"))),
    }
}

pub fn timeout(key: &Ident, input: ParseStream<'_>) -> syn::Result<Timeout> {
    equals(key, input, "\"30s\"")?;
    if input.peek(syn::Ident) && input.parse::<Ident>()? == "none" {
        return Ok(Timeout::None);
    }
    let text = string(input, "a duration in quotes (`\"30s\"`) or `none`")?;
    match milliseconds(&text)? {
        0 => Err(syn::Error::new(
            text.span(),
            "a timeout of zero never lets the tool run; write `timeout = none` for no timeout",
        )),
        some => Ok(Timeout::Milliseconds(some)),
    }
}

pub fn duration(key: &Ident, input: ParseStream<'_>) -> syn::Result<u64> {
    equals(key, input, "\"500ms\"")?;
    milliseconds(&string(input, &format!("a duration in quotes: `{key} = \"500ms\"`"))?)
}

/// Sees to it that a list in parentheses comes next.
pub fn list_follows(key: &Ident, input: ParseStream<'_>, example: &str) -> syn::Result<()> {
    if input.peek(token::Paren) {
        return Ok(());
    }
    Err(syn::Error::new(
        key.span(),
        format!("`{key}` takes a list in parentheses: `{key}({example})`"),
    ))
}

pub fn equals(key: &Ident, input: ParseStream<'_>, example: &str) -> syn::Result<()> {
    if input.peek(Token![=]) && !input.peek(Token![==]) {
        return input.parse::<Token![=]>().map(drop);
    }
    Err(syn::Error::new(key.span(), format!("`{key}` needs a value: `{key} = {example}`")))
}

fn string(input: ParseStream<'_>, expected: &str) -> syn::Result<LitStr> {
    input.parse().map_err(|error: syn::Error| {
        syn::Error::new(error.span(), format!("found no text, expected {expected}"))
    })
}

fn milliseconds(text: &LitStr) -> syn::Result<u64> {
    const UNITS: &[(&str, u64)] = &[("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000)];
    let written = text.value();
    let digits = written.chars().take_while(char::is_ascii_digit).count();
    let (number, unit) = written.split_at(digits);
    let unit = UNITS.iter().find(|(name, _)| *name == unit.trim());
    number.parse::<u64>().ok().zip(unit).and_then(|(number, (_, scale))| number.checked_mul(*scale)).ok_or_else(|| {
        syn::Error::new(
            text.span(),
            format!("found \"{written}\", expected a number with a unit (ms, s, m, h), such as \"30s\""),
        )
    })
}

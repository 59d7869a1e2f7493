//! Parses the value of an option: a text, a word, a count, a duration, a path or an expression.

use proc_macro2::{Ident, Span};
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::spanned::Spanned;
use syn::{Expr, ExprLit, Lit, LitBool, LitInt, LitStr, Path, Token, parenthesized, token};

use super::options;
use crate::errors::{did_you_mean, one_of};

pub const DANGERS: &[&str] = &["safe", "moderate", "dangerous", "critical"];

/// The value of `timeout` or `total_timeout`: a duration such as `"30s"`, or `none`.
pub enum Timeout {
    None,
    Milliseconds(u64),
}

pub fn text(key: &Ident, input: ParseStream<'_>) -> syn::Result<LitStr> {
    equals(key, input, "\"…\"")?;
    string(input, &format!("text in quotes: `{key} = \"…\"`"))
}

/// Parses the name of a tool, which must be usable with every provider.
pub fn tool_name(key: &Ident, input: ParseStream<'_>) -> syn::Result<LitStr> {
    let name = text(key, input)?;
    check_name(&name.value()).map_err(|problem| syn::Error::new(name.span(), problem))?;
    Ok(name)
}

/// Checks that the name of a tool is usable with every provider. If a provider refuses one of these characters, such as
/// `.`, the runtime replaces the character for that provider.
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
    options::list(&content, |input| string(input, "text in quotes"))
}

/// Checks that a key has no value, and returns the span of the key.
pub fn flag(key: &Ident, input: ParseStream<'_>) -> syn::Result<Span> {
    if input.peek(Token![=]) || input.peek(token::Paren) {
        let message = format!("`{key}` takes no value; write it alone, or leave it out");
        return Err(syn::Error::new(key.span(), message));
    }
    Ok(key.span())
}

/// Parses a key without a value or with `= true`, and returns the span of the key. Returns `None` for `= false`.
pub fn switch(key: &Ident, input: ParseStream<'_>) -> syn::Result<Option<Span>> {
    if !input.peek(Token![=]) {
        return flag(key, input).map(Some);
    }
    equals(key, input, "true")?;
    let found = options::describe_next(input);
    let on: LitBool = input.parse().map_err(|error: syn::Error| {
        syn::Error::new(error.span(), format!("{found}, expected `true` or `false`"))
    })?;
    Ok(on.value.then(|| key.span()))
}

pub fn word(key: &Ident, input: ParseStream<'_>, choices: &[&str]) -> syn::Result<Ident> {
    equals(key, input, choices.first().copied().unwrap_or_default())?;
    let found = options::describe_next(input);
    let expected = format!("expected {}", one_of(choices));
    if let Ok(literal) = input.fork().parse::<ExprLit>() {
        let hint = without_quotes(key, &literal);
        return Err(syn::Error::new(literal.span(), format!("{found}, {expected}{hint}")));
    }
    let word = input
        .call(Ident::parse_any)
        .map_err(|error| syn::Error::new(error.span(), format!("{found}, {expected}")))?;
    if choices.contains(&word.to_string().as_str()) {
        return Ok(word);
    }
    let hint = did_you_mean(&word.to_string(), choices);
    Err(syn::Error::new(word.span(), format!("{found}, {expected}{hint}")))
}

/// Returns the advice to write a word without quotes, if the literal is a string.
pub fn without_quotes(key: &Ident, literal: &ExprLit) -> String {
    match &literal.lit {
        Lit::Str(_) => format!("; write a word without quotes: `{key} = …`"),
        _ => String::new(),
    }
}

pub fn identifier(key: &Ident, input: ParseStream<'_>) -> syn::Result<Ident> {
    equals(key, input, "NAME")?;
    let found = options::describe_next(input);
    input.parse().map_err(|error: syn::Error| {
        syn::Error::new(error.span(), format!("{found}, expected a name: `{key} = NAME`"))
    })
}

pub fn path(key: &Ident, input: ParseStream<'_>) -> syn::Result<Path> {
    equals(key, input, "some::path")?;
    let found = options::describe_next(input);
    input.call(Path::parse_mod_style).map_err(|error| {
        syn::Error::new(error.span(), format!("{found}, expected a path: `{key} = some::path`"))
    })
}

/// Parses the path of a function, for a key whose value may also be a closure.
pub fn function(key: &Ident, input: ParseStream<'_>) -> syn::Result<Path> {
    let found = options::describe_next(input);
    input.call(Path::parse_mod_style).map_err(|error| {
        let message = format!(
            "{found}, expected a closure over the tool's parameters or the path of a function: `{key} = |…| …`"
        );
        syn::Error::new(error.span(), message)
    })
}

pub fn expression(key: &Ident, input: ParseStream<'_>, example: &str) -> syn::Result<Expr> {
    equals(key, input, example)?;
    let expression: Expr = input.parse()?;
    Ok(strip_groups(&expression).clone())
}

/// Removes the invisible groups around an expression. They come from the fragments of `macro_rules!`.
pub fn strip_groups(mut expression: &Expr) -> &Expr {
    while let Expr::Group(group) = expression {
        expression = &group.expr;
    }
    expression
}

/// Parses an integer of at least 1.
pub fn count(key: &Ident, input: ParseStream<'_>) -> syn::Result<u32> {
    equals(key, input, "3")?;
    let found = options::describe_next(input);
    let wrong = |span| {
        let message = format!("{found}, expected a whole number above zero: `{key} = 3`");
        syn::Error::new(span, message)
    };
    let number: LitInt = input.parse().map_err(|error: syn::Error| wrong(error.span()))?;
    match number.base10_parse() {
        Ok(count) if count > 0 => Ok(count),
        _ => Err(wrong(number.span())),
    }
}

pub fn timeout(key: &Ident, input: ParseStream<'_>) -> syn::Result<Timeout> {
    equals(key, input, "\"30s\"")?;
    if input.fork().parse::<Ident>().is_ok_and(|word| word == "none") {
        return input.parse::<Ident>().map(|_| Timeout::None);
    }
    let text = string(input, "a duration in quotes (`\"30s\"`) or `none`")?;
    if text.value() == "none" {
        return Err(syn::Error::new(
            text.span(),
            format!("found \"none\", expected the bare word: `{key} = none`"),
        ));
    }
    match milliseconds(&text)? {
        0 => Err(syn::Error::new(
            text.span(),
            format!(
                "a timeout of zero never lets the tool run; write `{key} = none` for no timeout"
            ),
        )),
        some => Ok(Timeout::Milliseconds(some)),
    }
}

pub fn duration(key: &Ident, input: ParseStream<'_>) -> syn::Result<u64> {
    equals(key, input, "\"500ms\"")?;
    milliseconds(&string(input, &format!("a duration in quotes: `{key} = \"500ms\"`"))?)
}

/// Checks that a list in parentheses follows.
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
    let sign = input.peek(Token![=]) && !input.peek(Token![==]);
    if sign {
        input.parse::<Token![=]>()?;
    }
    if sign && !input.is_empty() && !input.peek(Token![,]) {
        return Ok(());
    }
    Err(syn::Error::new(key.span(), format!("`{key}` needs a value: `{key} = {example}`")))
}

fn string(input: ParseStream<'_>, expected: &str) -> syn::Result<LitStr> {
    let found = options::describe_next(input);
    input.parse().map_err(|error: syn::Error| {
        syn::Error::new(error.span(), format!("{found}, expected {expected}"))
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

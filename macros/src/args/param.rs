//! Parses `#[arg(…)]` and `#[input]`, the attributes of a parameter.

use proc_macro2::{Ident, Span};
use quote::ToTokens;
use syn::parse::{ParseStream, Parser};
use syn::{
    Attribute, Expr, ExprLit, ExprUnary, Lit, LitChar, LitStr, Meta, RangeLimits, Token, UnOp,
};

use super::options::{self, Row};
use super::value;
use crate::errors::Errors;

/// The options of `#[arg(…)]`. This is the only list of them.
const ARG_OPTIONS: &[Row<ParamArgs>] = &[
    ("default", |args, key, input| preset(key, input).map(|it| args.default = Some(it))),
    ("fill", |args, key, input| value::expression(key, input, "…").map(|it| args.fill = Some(it))),
    ("minimum", |args, key, input| parse_limit(key, input).map(|it| args.minimum = Some(it))),
    ("maximum", |args, key, input| parse_limit(key, input).map(|it| args.maximum = Some(it))),
    ("length", |args, key, input| length(key, input).map(|it| args.length = Some(it))),
    ("pattern", |args, key, input| value::text(key, input).map(|it| args.pattern = Some(it))),
    ("name", |args, key, input| value::text(key, input).map(|it| args.name = Some(it))),
    ("alias", |args, key, input| value::text(key, input).map(|it| args.aliases.push(it))),
    ("example", |args, key, input| {
        value::expression(key, input, "\"…\"").map(|it| args.examples.push(it))
    }),
    ("command", |args, key, input| value::flag(key, input).map(|it| args.command = Some(it))),
    ("secret", |args, key, input| value::flag(key, input).map(|_| args.secret = true)),
    ("sink", |args, key, input| value::flag(key, input).map(|_| args.sink = true)),
    ("short", |args, key, input| short(key, input).map(|it| args.short = Some(it))),
    ("positional", |args, key, input| value::flag(key, input).map(|it| args.positional = Some(it))),
];

/// The options of one parameter, from all its attributes.
#[derive(Default)]
pub struct ParamArgs {
    /// The span of the first `#[arg]`; `None` if the parameter has none.
    pub span: Option<Span>,
    /// The span of `#[input]`, which makes this parameter the whole input.
    pub whole: Option<Span>,
    pub default: Option<Preset>,
    /// The expression that computes the value of an absent parameter when the tool is called.
    pub fill: Option<Expr>,
    pub minimum: Option<NumberLimit>,
    pub maximum: Option<NumberLimit>,
    pub length: Option<Length>,
    pub pattern: Option<LitStr>,
    pub name: Option<LitStr>,
    pub aliases: Vec<LitStr>,
    pub examples: Vec<Expr>,
    pub command: Option<Span>,
    pub secret: bool,
    /// Whether the tool sends the parameter's value to another machine.
    pub sink: bool,
    pub short: Option<Short>,
    pub positional: Option<Span>,
}

/// The default value of an absent parameter.
pub enum Preset {
    /// `default` without a value, which means `Default::default()` of the parameter's type.
    OfType(Ident),
    Value(Expr),
}

pub struct NumberLimit {
    pub key: Ident,
    /// The expression of the limit, as the user wrote it.
    pub written: Expr,
    pub value: BoundValue,
}

/// The forms in which a limit can be written.
pub enum BoundValue {
    Integer(i128),
    Float(f64, Expr),
    /// Any other expression, such as a constant that the user declared. Only rustc can compute its value.
    Constant(Expr),
}

/// The value of `length`, such as `1..=80`: in characters for text, in items for lists.
pub struct Length {
    pub key: Ident,
    pub minimum: Option<Expr>,
    pub maximum: Option<Expr>,
}

/// The value of `short`. Without a value, the flag is the first letter of the parameter's key.
pub struct Short {
    pub span: Span,
    pub letter: Option<char>,
}

impl ParamArgs {
    pub fn parse(attributes: &[Attribute], errors: &mut Errors) -> Self {
        let (mut args, mut seen) = (Self::default(), Vec::new());
        for attribute in attributes {
            let path = attribute.path();
            if path.is_ident("input") {
                args.whole = Some(path.segments[0].ident.span());
                if let Meta::List(list) = &attribute.meta {
                    errors.over(&list.tokens, "`#[input]` takes no options; the type carries them");
                }
            } else if path.is_ident("arg") {
                args.span.get_or_insert(path.segments[0].ident.span());
                args.parse_arg(attribute, &mut seen, errors);
            }
        }
        args
    }

    fn parse_arg(&mut self, attribute: &Attribute, seen: &mut Vec<Ident>, errors: &mut Errors) {
        let list = match &attribute.meta {
            Meta::List(list) => list,
            other => {
                return errors.over(
                    other,
                    "`#[arg]` needs options, such as `#[arg(default = 1)]`; or leave it out",
                );
            }
        };
        let parser = |input: ParseStream<'_>| {
            options::read(input, ARG_OPTIONS, self, seen, &["alias", "example"], errors);
            Ok(())
        };
        let parsed = parser.parse2(list.tokens.clone());
        errors.keep(parsed);
    }
}

impl NumberLimit {
    /// Returns the value of a literal, for rules that compare two limits; `None` for a constant.
    pub fn literal(&self) -> Option<f64> {
        match &self.value {
            BoundValue::Integer(integer) => Some(*integer as f64),
            BoundValue::Float(float, _) => Some(*float),
            BoundValue::Constant(_) => None,
        }
    }
}

fn preset(key: &Ident, input: ParseStream<'_>) -> syn::Result<Preset> {
    match input.peek(Token![=]) {
        true => value::expression(key, input, "1").map(Preset::Value),
        false => Ok(Preset::OfType(key.clone())),
    }
}

fn parse_limit(key: &Ident, input: ParseStream<'_>) -> syn::Result<NumberLimit> {
    let expression = value::expression(key, input, "1")?;
    let written = expression.clone();
    let value = match number(&expression) {
        Some(value) => value,
        None if matches!(expression, Expr::Lit(_)) => {
            let found = expression.to_token_stream();
            let message = match &expression {
                Expr::Lit(ExprLit { lit: Lit::Int(_), .. }) => {
                    format!("found `{found}`, expected a number of at most 128 bits")
                }
                _ => format!("found `{found}`, expected a number: `{key} = 1`"),
            };
            return Err(syn::Error::new_spanned(expression, message));
        }
        None => BoundValue::Constant(expression),
    };
    Ok(NumberLimit { key: key.clone(), written, value })
}

/// Parses a number literal, with or without a sign.
pub fn number(expression: &Expr) -> Option<BoundValue> {
    let (negative, literal) = match value::strip_groups(expression) {
        Expr::Unary(ExprUnary { op: UnOp::Neg(_), expr, .. }) => (true, value::strip_groups(expr)),
        other => (false, other),
    };
    let Expr::Lit(ExprLit { lit, .. }) = literal else { return None };
    match lit {
        Lit::Int(integer) => {
            let integer: i128 = integer.base10_parse().ok()?;
            Some(BoundValue::Integer(if negative { -integer } else { integer }))
        }
        Lit::Float(float) => {
            let float: f64 = float.base10_parse().ok()?;
            Some(BoundValue::Float(if negative { -float } else { float }, expression.clone()))
        }
        _ => None,
    }
}

fn length(key: &Ident, input: ParseStream<'_>) -> syn::Result<Length> {
    let expression = value::expression(key, input, "1..=80")?;
    let Expr::Range(range) = &expression else {
        let found = expression.to_token_stream();
        let message = format!("found `{found}`, expected an inclusive range: `{key} = 1..=80`");
        return Err(syn::Error::new_spanned(expression, message));
    };
    let (minimum, maximum) = (range.start.as_deref(), range.end.as_deref());
    if let (RangeLimits::HalfOpen(dots), Some(_)) = (&range.limits, maximum) {
        return Err(syn::Error::new_spanned(dots, "an upper length is inclusive: write `..=`"));
    }
    if minimum.is_none() && maximum.is_none() {
        let message = format!("a length without limits says nothing: write `{key} = 1..=80`");
        return Err(syn::Error::new_spanned(expression, message));
    }
    for limit in [minimum, maximum].into_iter().flatten() {
        if matches!(number(limit), Some(BoundValue::Integer(..0) | BoundValue::Float(..))) {
            let found = limit.to_token_stream().to_string().replace(' ', "");
            let message = format!("found `{found}`, expected a whole number that is not negative");
            return Err(syn::Error::new_spanned(limit, message));
        }
    }
    Ok(Length { key: key.clone(), minimum: minimum.cloned(), maximum: maximum.cloned() })
}

fn short(key: &Ident, input: ParseStream<'_>) -> syn::Result<Short> {
    if !input.peek(Token![=]) {
        return Ok(Short { span: key.span(), letter: None });
    }
    input.parse::<Token![=]>()?;
    let found = options::describe_next(input);
    let letter: LitChar = input.parse().map_err(|error: syn::Error| {
        let message = format!("{found}, expected one letter in single quotes: `short = 'l'`");
        syn::Error::new(error.span(), message)
    })?;
    Ok(Short { span: letter.span(), letter: Some(letter.value()) })
}

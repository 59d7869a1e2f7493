//! The rules for the input of a tool: its keys, limits and one-letter flags.

use syn::{Expr, ExprLit, Lit};

use crate::args::{BoundValue, NumberLimit, ParamArgs, Preset, number};
use crate::errors::Errors;
use crate::model::Tool;

/// Checks that every provider accepts each key, and that no two parameters have the same key.
pub fn keys(tool: &Tool, errors: &mut Errors) {
    let mut seen: Vec<String> = Vec::new();
    for param in tool.inputs().filter(|param| param.args.whole.is_none()) {
        let key = &param.key;
        let (span, advice) = match &param.args.name {
            Some(name) => (name.span(), "choose another"),
            None => (param.ident.span(), "give it another: `#[arg(name = \"…\")]`"),
        };
        if let Some(problem) = illegal(key) {
            errors.at(span, format!("{problem}; {advice}"));
        } else if seen.contains(key) {
            errors.at(span, format!("the key `{key}` is another parameter's already; {advice}"));
        }
        seen.push(key.clone());
    }
    // Aliases are checked last, because an alias must not equal the key of a later parameter either.
    for param in tool.inputs() {
        for alias in &param.args.aliases {
            let key = alias.value();
            if let Some(problem) = illegal(&key) {
                errors.at(alias.span(), format!("{problem}; choose another"));
            } else if key == param.key {
                errors.at(
                    alias.span(),
                    format!("`{key}` is the parameter's own key; drop the alias"),
                );
            } else if seen.contains(&key) {
                errors
                    .at(alias.span(), format!("the key `{key}` is taken already; choose another"));
            }
            seen.push(key);
        }
    }
}

fn illegal(key: &str) -> Option<String> {
    let legal = |character: char| character.is_ascii_alphanumeric() || "_-.".contains(character);
    let is_legal = !key.is_empty() && key.len() <= 64 && key.chars().all(legal);
    (!is_legal).then(|| {
        format!("`{key}` cannot be a key, which is 1 to 64 letters, digits, `_`, `-` and `.`")
    })
}

/// Refuses other input parameters next to an `#[input]` parameter, which is the whole input, and an `#[arg]` on that
/// parameter.
pub fn whole(tool: &Tool, errors: &mut Errors) {
    let Some(whole) = tool.whole() else { return };
    if let Some(arg) = whole.args.span {
        errors.at(
            arg,
            "`#[arg]` has no effect beside `#[input]`; put serde and schemars attributes on the type's fields",
        );
    }
    for other in tool.inputs().filter(|other| other.ident != whole.ident) {
        let message = format!(
            "`{}` has no place beside `{}`, which carries the whole input; make it a field of that type",
            other.ident, whole.ident
        );
        errors.at(other.ident.span(), message);
    }
}

/// Refuses defaults and examples of secrets, because the schema shows them to models and to people.
pub fn secrets(tool: &Tool, errors: &mut Errors) {
    for args in tool.inputs().map(|param| &param.args).filter(|args| args.secret) {
        if let Some(Preset::Value(written)) = &args.default {
            errors.over(
                written,
                "the schema would publish the default of a secret; take an `Option` and look up the default in the body",
            );
        }
        for example in &args.examples {
            errors.over(
                example,
                "the schema would publish the example of a secret; describe its form in the doc comment",
            );
        }
    }
}

/// Checks `fill`: its parameter must not have a default, and the tool must have no secret parameters.
pub fn fills(tool: &Tool, errors: &mut Errors) {
    let secret = tool.inputs().any(|param| param.args.secret);
    for args in tool.inputs().map(|param| &param.args) {
        let Some(fill) = &args.fill else { continue };
        if args.default.is_some() {
            errors
                .over(fill, "a parameter with a default is never absent; drop `default` or `fill`");
        } else if secret {
            errors.over(
                fill,
                "a call with a secret is recognised by its final arguments, which `fill` would change; look the value up in the body",
            );
        }
    }
}

/// Refuses limits that contradict each other, the default or an example, if the macro knows the values.
pub fn limits(tool: &Tool, errors: &mut Errors) {
    for args in tool.inputs().map(|param| &param.args) {
        if let (Some(minimum), Some(maximum)) =
            (known_value(&args.minimum), known_value(&args.maximum))
            && minimum > maximum
            && let Some(bound) = &args.maximum
        {
            errors.at(
                bound.key.span(),
                format!("no number is at least {minimum} and at most {maximum}"),
            );
        } else {
            default_within(args, errors);
        }
        if let Some(length) = &args.length
            && let (Some(minimum), Some(maximum)) = (&length.minimum, &length.maximum)
            && let (Some(BoundValue::Integer(minimum)), Some(BoundValue::Integer(maximum))) =
                (number(minimum), number(maximum))
            && minimum > maximum
        {
            errors.at(
                length.key.span(),
                format!("no length is at least {minimum} and at most {maximum}"),
            );
        }
    }
}

/// Checks the default and the examples against the limits, if the macro knows the values.
fn default_within(args: &ParamArgs, errors: &mut Errors) {
    let default = args.default.iter().filter_map(|preset| match preset {
        Preset::Value(expression) => Some(("default", expression)),
        Preset::OfType(_) => None,
    });
    let examples = args.examples.iter().map(|example| ("example", example));
    for (what, written) in default.chain(examples) {
        let (size, unit) = match (number(written), written) {
            (Some(value), _) => match value {
                BoundValue::Integer(integer) => (integer as f64, None),
                BoundValue::Float(float, _) => (float, None),
                BoundValue::Constant(_) => continue,
            },
            (None, Expr::Lit(ExprLit { lit: Lit::Str(text), .. })) => {
                (text.value().chars().count() as f64, Some("characters"))
            }
            _ => continue,
        };
        let (minimum, maximum) = match (unit, &args.length) {
            (None, _) => (known_value(&args.minimum), known_value(&args.maximum)),
            (Some(_), Some(length)) => (literal(&length.minimum), literal(&length.maximum)),
            (Some(_), None) => continue,
        };
        let limits = [
            minimum.filter(|minimum| size < *minimum).map(|limit| ("below the minimum", limit)),
            maximum.filter(|maximum| size > *maximum).map(|limit| ("above the maximum", limit)),
        ];
        for (place, limit) in limits.into_iter().flatten() {
            let unit = unit.map(|unit| format!(" {unit}")).unwrap_or_default();
            errors.over(written, format!("the {what} is {place} of {limit}{unit}"));
        }
    }
}

fn literal(limit: &Option<Expr>) -> Option<f64> {
    match limit.as_ref().and_then(number)? {
        BoundValue::Integer(integer) => Some(integer as f64),
        _ => None,
    }
}

fn known_value(bound: &Option<NumberLimit>) -> Option<f64> {
    bound.as_ref().and_then(NumberLimit::literal)
}

/// Refuses defaults and examples that JSON cannot represent, and limits that are NaN.
pub fn numbers(tool: &Tool, errors: &mut Errors) {
    for args in tool.inputs().map(|param| &param.args) {
        let default = args.default.iter().filter_map(|preset| match preset {
            Preset::Value(expression) => Some(("default", expression)),
            Preset::OfType(_) => None,
        });
        let examples = args.examples.iter().map(|example| ("example", example));
        let bounds = [("minimum", &args.minimum), ("maximum", &args.maximum)];
        let bounds = bounds.into_iter().filter_map(|(what, bound)| match &bound.as_ref()?.value {
            BoundValue::Constant(expression) => Some((what, expression)),
            _ => None,
        });
        for (what, written) in default.chain(examples).chain(bounds) {
            // An infinite limit is accepted, because it only means that there is no limit.
            let is_limit = !matches!(what, "default" | "example");
            if let Some(name) = not_finite(written).filter(|name| !is_limit || name == "NAN") {
                let advice = match what {
                    "default" => "choose a number, or make the parameter an `Option`",
                    "example" => "choose a number",
                    _ => "drop the limit",
                };
                errors.over(written, format!("JSON has no `{name}`; {advice}"));
            }
        }
    }
}

/// Returns the name of the constant, if the expression is NaN or an infinity, with or without a sign.
fn not_finite(expression: &Expr) -> Option<String> {
    match expression {
        Expr::Unary(unary) => not_finite(&unary.expr),
        Expr::Group(group) => not_finite(&group.expr),
        Expr::Paren(paren) => not_finite(&paren.expr),
        // In JSON, `Some(f64::NAN)` would be `null`, which is not the default that the user wrote.
        Expr::Call(call) if matches!(&*call.func, Expr::Path(it) if it.path.is_ident("Some")) => {
            call.args.first().and_then(not_finite)
        }
        Expr::Path(path) => {
            let mut names = path.path.segments.iter().rev().map(|it| it.ident.to_string());
            let (name, of) = (names.next()?, names.next()?);
            let is_constant = ["NAN", "INFINITY", "NEG_INFINITY"].contains(&name.as_str());
            (is_constant && ["f64", "f32"].contains(&of.as_str())).then_some(name)
        }
        _ => None,
    }
}

/// Checks the one-letter flags: each is a letter or a digit, is not `h`, belongs to one parameter, and that parameter
/// is not `positional`.
pub fn shorts(tool: &Tool, errors: &mut Errors) {
    let mut seen: Vec<char> = Vec::new();
    for param in tool.inputs() {
        let Some(short) = &param.args.short else { continue };
        if let Some(positional) = param.args.positional {
            errors.at(positional, "a parameter is `positional` or has a `short` flag, not both");
        }
        let Some(letter) = short.letter.or_else(|| param.key.chars().next()) else { continue };
        let advice = "choose another letter: `short = 'x'`";
        if letter == 'h' {
            errors.at(short.span, format!("`-h` is the help of every command; {advice}"));
        } else if !letter.is_ascii_alphanumeric() {
            errors.at(short.span, format!("found `{letter}`, expected a letter or a digit"));
        } else if seen.contains(&letter) {
            errors.at(short.span, format!("`-{letter}` is another parameter's flag; {advice}"));
        }
        seen.push(letter);
    }
}

//! Rules of the input: its keys, its limits and its one-letter flags.

use crate::args::{Bound, BoundValue, ParamArgs, Preset, number};
use crate::errors::Errors;
use crate::model::Tool;

/// Keys that every provider accepts, none of them twice.
pub fn keys(tool: &Tool, errors: &mut Errors) {
    let mut seen: Vec<String> = Vec::new();
    for param in tool.inputs() {
        let own = param.args.name.as_ref().map_or_else(|| param.ident.span(), |name| name.span());
        let aliases = param.args.aliases.iter().map(|alias| (alias.value(), alias.span()));
        for (key, span) in std::iter::once((param.key.clone(), own)).chain(aliases) {
            let legal =
                |character: char| character.is_ascii_alphanumeric() || "_-.".contains(character);
            if key.is_empty() || key.len() > 64 || !key.chars().all(legal) {
                errors.at(
                    span,
                    format!(
                        "`{key}` cannot be a key: use 1 to 64 letters, digits, `_`, `-` and `.`"
                    ),
                );
            }
            if seen.contains(&key) {
                errors.at(span, format!("the key `{key}` stands for two parameters; rename one: `#[arg(name = \"…\")]`"));
            }
            seen.push(key);
        }
    }
}

/// `#[input]` carries everything, so nothing may stand beside it.
pub fn whole(tool: &Tool, errors: &mut Errors) {
    let mut whole = tool.inputs().filter_map(|param| param.args.whole.map(|span| (param, span)));
    let Some((param, span)) = whole.next() else { return };
    if let Some(arg) = param.args.span {
        errors.at(arg, "`#[arg]` has no effect beside `#[input]`; put serde and schemars attributes on the type's fields");
    }
    if let Some(other) = tool.inputs().find(|other| other.ident != param.ident) {
        let message = format!(
            "`{}` carries the whole input, so `{}` has no place in it; move it into the type",
            param.ident, other.ident
        );
        errors.at(span, message);
    }
}

/// Limits that contradict each other or the default, where all are known now.
pub fn limits(tool: &Tool, errors: &mut Errors) {
    for args in tool.inputs().map(|param| &param.args) {
        if let (Some(minimum), Some(maximum)) = (known(&args.minimum), known(&args.maximum))
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

fn default_within(args: &ParamArgs, errors: &mut Errors) {
    let Some(Preset::Value(expression)) = &args.default else { return };
    let default = match number(expression) {
        Some(BoundValue::Integer(integer)) => integer as f64,
        Some(BoundValue::Float(float, _)) => float,
        _ => return,
    };
    if let Some(minimum) = known(&args.minimum).filter(|minimum| default < *minimum) {
        errors.over(expression, format!("the default is below the minimum of {minimum}"));
    }
    if let Some(maximum) = known(&args.maximum).filter(|maximum| default > *maximum) {
        errors.over(expression, format!("the default is above the maximum of {maximum}"));
    }
}

fn known(bound: &Option<Bound>) -> Option<f64> {
    bound.as_ref().and_then(Bound::known)
}

/// One letter, one flag.
pub fn shorts(tool: &Tool, errors: &mut Errors) {
    let mut seen: Vec<char> = Vec::new();
    for param in tool.inputs() {
        let Some(short) = &param.args.short else { continue };
        if let Some(positional) = param.args.positional {
            errors.at(positional, "a parameter is `positional` or has a `short` flag, not both");
        }
        let letter = short.letter.or_else(|| param.key.chars().next());
        match letter {
            Some(letter) if seen.contains(&letter) => {
                errors.at(short.span, format!("`-{letter}` is another parameter's flag already; choose a letter: `short = 'x'`"));
            }
            Some(letter) => seen.push(letter),
            None => {}
        }
    }
}

//! The rules for `approval`, `validate`, `preview` and `reconcile`. The parameters of a closure are matched with the
//! tool's parameters by name, so that a person is never shown one value instead of another.

use quote::ToTokens;
use syn::ext::IdentExt;
use syn::{ExprClosure, FnArg, Pat, PatIdent, Path, Signature};

use crate::args::{Approval, Companion};
use crate::errors::{Errors, did_you_mean, one_of};
use crate::model::Tool;

pub fn parameters(tool: &Tool, signature: &Signature, errors: &mut Errors) {
    let args = &tool.args;
    let asks = match &args.approval {
        Some(Approval::Awaited(companion)) => Some(companion),
        _ => None,
    };
    let companions = [
        ("approval", asks),
        ("validate", args.validate.as_ref()),
        ("preview", args.preview.as_ref()),
        ("reconcile", args.reconcile.as_ref()),
    ];
    for (key, companion) in companions {
        match companion {
            Some(Companion::Closure(closure)) => known_names(key, closure, signature, errors),
            Some(Companion::Path(path)) => distinct_types(key, path, tool, errors),
            None => {}
        }
    }
}

/// Decides what a single name in `approval` means: a parameter of the tool if one has this name, otherwise a function.
pub fn parameter_as_reason(tool: &mut Tool) {
    let Some(Approval::Awaited(Companion::Path(path))) = &tool.args.approval else { return };
    let Some(name) = path.get_ident() else { return };
    if tool.inputs().any(|it| it.ident == *name) {
        let expression = syn::parse_quote!(#path);
        tool.args.approval = Some(Approval::Expression(expression));
    }
}

/// Checks that the parameters of a closure are plain names of the tool's parameters, each of them given once at most.
fn known_names(key: &str, closure: &ExprClosure, signature: &Signature, errors: &mut Errors) {
    let names: Vec<String> = signature.inputs.iter().filter_map(name).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut seen: Vec<String> = Vec::new();
    for pattern in &closure.inputs {
        let Some(ident) = plain(pattern).map(|it| &it.ident) else {
            let message = match pattern.to_token_stream().to_string().as_str() {
                "self" | "& self" | "& mut self" => {
                    "`self` is there without being named; drop it".to_owned()
                }
                _ => format!(
                    "a parameter of `{key}` is a plain name, that of the tool's parameter; take it apart in the body"
                ),
            };
            errors.over(pattern, message);
            continue;
        };
        let name = ident.unraw().to_string();
        if !names.contains(&name.as_str()) {
            let hint = match did_you_mean(&name, &names) {
                hint if !hint.is_empty() => hint,
                _ if names.is_empty() => "; it has none: `|| …`".to_owned(),
                _ => format!(", expected {}", one_of(&names)),
            };
            errors.at(ident.span(), format!("the tool has no parameter `{name}`{hint}"));
        } else if seen.contains(&name) {
            errors.at(ident.span(), format!("`{name}` is given twice; keep one"));
        }
        seen.push(name);
    }
}

/// Refuses a path if two inputs have the same type. The macro does not know the names of the function's parameters, so
/// it can distinguish them only by their types.
fn distinct_types(key: &str, path: &Path, tool: &Tool, errors: &mut Errors) {
    let inputs: Vec<_> = tool.inputs().collect();
    let types: Vec<String> = inputs.iter().map(|it| it.ty.to_token_stream().to_string()).collect();
    let pairs =
        (0..inputs.len()).flat_map(|one| (one + 1..inputs.len()).map(move |two| (one, two)));
    let alike = pairs.into_iter().find(|(one, two)| types[*one] == types[*two]);
    if let Some((one, two)) = alike {
        let (one, other) = (&inputs[one].ident, &inputs[two].ident);
        let harm = match key {
            "validate" | "approval" => "the rule could look at one for the other",
            _ => "a person could be shown one for the other",
        };
        let message = format!(
            "`{}` hides the names of its parameters, and rustc cannot tell `{one}` from `{other}` by their type: {harm}; name them: `{key} = |{one}, {other}| …`",
            path.to_token_stream().to_string().replace(' ', "")
        );
        errors.over(path, message);
    }
}

/// Returns the name of a parameter as a closure has to write it.
fn name(argument: &FnArg) -> Option<String> {
    match argument {
        FnArg::Typed(typed) => plain(&typed.pat).map(|it| it.ident.unraw().to_string()),
        FnArg::Receiver(_) => None,
    }
}

/// Returns the identifier of a pattern that is a plain name, with or without a type.
pub fn plain(pattern: &Pat) -> Option<&PatIdent> {
    match pattern {
        Pat::Ident(ident)
            if ident.by_ref.is_none() && ident.subpat.is_none() && ident.ident != "self" =>
        {
            Some(ident)
        }
        Pat::Type(typed) => plain(&typed.pat),
        _ => None,
    }
}

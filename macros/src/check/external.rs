//! The rules for `external`: the signature declares only the input and the output, because no code of the tool runs in
//! this process.

use proc_macro2::Span;

use crate::args::Timeout;
use crate::errors::Errors;
use crate::item::Function;
use crate::model::{Argument, Tool};

/// The message for a function without a body, if the tool is not `external`.
pub const NO_BODY: &str =
    "a tool needs a body; only one that is carried out elsewhere has none: `#[tool(external)]`";

pub fn rules(tool: &mut Tool, function: &Function, errors: &mut Errors) {
    let Some(external) = tool.args.external else {
        if let Some(end) = function.end {
            errors.at(end, NO_BODY);
        }
        if let Some(background) = tool.args.background {
            errors.at(
                background,
                "`background` is about calls that are carried out elsewhere, and this tool runs here; add `external` and write no body, or drop it",
            );
        }
        return;
    };
    if let (Some(background), Some(_)) = (tool.args.background, tool.args.terminal) {
        errors.at(
            background,
            "a terminal tool ends the run by its result, and a run goes on while a call is in the background; drop `background` or `terminal`",
        );
    }
    if tool.self_type.is_some() {
        errors.at(
            external,
            "an external tool is a function of its own: carried out elsewhere, it borrows no `self`; move it out of the `impl` block",
        );
        return;
    }
    if function.end.is_none() {
        errors.over(
            &function.body,
            "an external tool is carried out elsewhere, so that no body of it runs; write `;` in its place",
        );
    }
    for (key, span) in of_attempts(tool) {
        errors.at(
            span,
            format!("`{key}` is about attempts that run here, and an external tool runs elsewhere; drop it"),
        );
    }
    if let Some(Timeout::None) = tool.args.timeout {
        errors.at(
            external,
            "an external tool needs a time limit, or its calls could wait for ever; give `timeout` a time, or leave it out for as long as an approval may take",
        );
    }
    // The arguments that are reported here are removed, so that rustc does not report them again.
    for argument in tool.arguments.extract_if(.., |it| matches!(it, Argument::Exclusive(_))) {
        if let Argument::Exclusive(capability) = argument {
            errors.over(
                &capability.ty,
                "an external tool opens nothing: carried out elsewhere, it has no use for `&mut`; drop the parameter",
            );
        }
    }
}

/// Lists the options that concern attempts in this process. An external tool has no such attempts.
fn of_attempts(tool: &Tool) -> impl Iterator<Item = (&'static str, Span)> {
    let args = &tool.args;
    let at = tool.args.external.unwrap_or_else(|| tool.function.span());
    [
        ("blocking", args.blocking),
        ("retry", args.retry.as_ref().map(|_| at)),
        ("total_timeout", args.total_timeout.as_ref().map(|_| at)),
        ("limit", args.limit.map(|_| at)),
        ("reconcile", args.reconcile.as_ref().map(|it| it.span())),
    ]
    .into_iter()
    .filter_map(|(key, span)| Some((key, span?)))
}

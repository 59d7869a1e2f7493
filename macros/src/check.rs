//! The rules that need both the attribute and the signature, with one function for each rule. A rule reports its
//! mistakes, and the other rules run nevertheless.

mod companion;
mod expression;
mod external;
mod input;
mod lent;
mod methods;
mod pattern;
mod refused;
mod signature;
mod tokens;

use quote::{ToTokens, quote};
use syn::{Attribute, FnArg, Pat, Receiver, ReceiverKind, Signature, Type};

use crate::args::{DANGERS, Danger, ToolArgs, check_name, danger_expected};
use crate::docs::Docs;
use crate::errors::{Errors, did_you_mean};
use crate::item::Function;
use crate::model::{Argument, Tool};

pub use external::NO_BODY;
pub use methods::{UserConstants, methods, take_repeated};

pub use companion::plain;

/// The maximum number of parameters of a tool. The runtime records in a 64-bit word which parameters it has read.
const MOST_PARAMETERS: usize = 64;

/// Checks a function against its attribute. The returned tool has all parts that are correct, so that rustc can check
/// them in the same run. For a type that rustc would refuse, the macro reports its own error instead.
pub fn tool(
    function: &mut Function,
    args: ToolArgs,
    self_type: Option<&Type>,
    errors: &mut Errors,
) -> Tool {
    // A service of type `A<'_>` is registered as `A<'static>`, because `TypeId` requires a `'static` type.
    let self_type = self_type.map(lent::registered_type);
    signature::qualifiers(&function.signature, &args, errors);
    signature::generics(&function.signature, errors);
    signature::other_attributes(&mut function.attributes, errors);
    let mut tool = Tool {
        function: function.signature.ident.clone(),
        visibility: function.visibility.clone(),
        conditions: match &self_type {
            Some(_) => {
                function.attributes.iter().filter(|it| it.path().is_ident("cfg")).cloned().collect()
            }
            None => Vec::new(),
        },
        docs: Docs::of(&function.attributes),
        returns: signature::returns(&function.signature, errors),
        arguments: signature::arguments(&function.signature, self_type.as_ref(), errors),
        self_type,
        args,
        handle_is_taken: false,
    };
    tool.handle_is_taken = tool.handle() == tool.function;
    check_description(&tool, errors);
    check_tool_name(&tool, errors);
    few_enough(&tool, errors);
    danger_is_known(&tool, &function.signature, errors);
    effect_agrees(&tool, &function.signature, errors);
    opened_once(&tool, errors);
    external::rules(&mut tool, function, errors);
    exposure(&tool, errors);
    input::keys(&tool, errors);
    input::whole(&tool, errors);
    input::secrets(&tool, errors);
    input::fills(&tool, errors);
    input::limits(&tool, errors);
    input::shorts(&tool, errors);
    input::numbers(&tool, errors);
    pattern::compile(&tool, errors);
    companion::parameter_as_reason(&mut tool);
    companion::parameters(&tool, &function.signature, errors);
    expression::rules(&tool, &function.signature, errors);
    refused::replace(function, errors);
    if function.end.is_some() {
        // Rustc accepts only functions with a body, so the function of an external tool gets an endless loop as its
        // body.
        function.body = quote!({ loop {} });
    }
    tool
}

/// Returns whether the macro must remove an attribute of a parameter. It removes its own attributes, and misplaced
/// attributes, which it reports as mistakes.
pub fn is_ours(attribute: &Attribute) -> bool {
    let path = attribute.path();
    ["arg", "input", "doc"].iter().any(|name| path.is_ident(name))
        || signature::is_misplaced(attribute)
}

fn check_description(tool: &Tool, errors: &mut Errors) {
    if tool.docs.is_missing() {
        let message = format!(
            "the tool `{}` has no description, which is all that a model knows of it; write `/// …` above it",
            tool.function
        );
        errors.at(tool.function.span(), message);
    }
    for param in tool.inputs().filter(|param| param.docs.is_missing() && param.args.whole.is_none())
    {
        let message = format!(
            "the parameter `{}` has no description for the model; write `/// …` above it",
            param.ident
        );
        errors.at(param.ident.span(), message);
    }
}

fn check_tool_name(tool: &Tool, errors: &mut Errors) {
    if tool.args.name.is_none()
        && let Err(problem) = check_name(&tool.name())
    {
        errors.at(tool.name_span(), format!("{problem}; give the tool another: `name = \"…\"`"));
    }
    if tool.handle_is_taken {
        errors.at(
            tool.handle().span(),
            format!(
                "the handle `{}` collides with the function; give it another: `handle = NAME`",
                tool.handle()
            ),
        );
    }
}

fn few_enough(tool: &Tool, errors: &mut Errors) {
    if let Some(param) = tool.inputs().nth(MOST_PARAMETERS) {
        let message = format!(
            "a tool has at most {MOST_PARAMETERS} parameters, this one has {}; gather them in a type: `#[input] args: MyArgs`",
            tool.inputs().count()
        );
        errors.at(param.ident.span(), message);
    }
}

fn danger_is_known(tool: &Tool, signature: &Signature, errors: &mut Errors) {
    let Some(Danger::Expression(syn::Expr::Path(path))) = &tool.args.danger else { return };
    let Some(word) = path.path.get_ident() else { return };
    let is_parameter = signature.inputs.iter().any(|argument| match argument {
        FnArg::Typed(typed) => matches!(&*typed.pat, Pat::Ident(name) if name.ident == *word),
        FnArg::Receiver(_) => false,
    });
    let is_level = DANGERS.contains(&word.to_string().to_lowercase().as_str());
    if !is_parameter && (is_level || word.to_string().starts_with(char::is_lowercase)) {
        let hint = did_you_mean(&word.to_string().to_lowercase(), DANGERS);
        errors.at(word.span(), format!("found `{word}`, {}{hint}", danger_expected()));
    }
}

fn effect_agrees(tool: &Tool, signature: &Signature, errors: &mut Errors) {
    if tool.args.effect.as_ref().is_none_or(|effect| effect != "read") {
        return;
    }
    if let Some(writes) = &tool.args.writes {
        errors.at(
            writes.key.span(),
            "a tool whose effect is `read` writes nothing; drop `writes`, or choose another effect",
        );
    }
    if let Some(reconcile) = &tool.args.reconcile {
        errors.at(
            reconcile.span(),
            "a tool whose effect is `read` leaves nothing to reconcile; it is run again",
        );
    }
    for receiver in signature.inputs.iter().filter_map(exclusive_receiver) {
        errors.over(receiver, "a tool whose effect is `read` takes `&self`, not `&mut self`");
    }
}

fn exclusive_receiver(argument: &FnArg) -> Option<&Receiver> {
    match argument {
        FnArg::Receiver(receiver) => match &receiver.kind {
            ReceiverKind::Reference(_, _, mutability) if mutability.is_some() => Some(receiver),
            _ => None,
        },
        FnArg::Typed(_) => None,
    }
}

/// Refuses two `&mut T` of the same type, because a call opens only one resource of each type.
fn opened_once(tool: &Tool, errors: &mut Errors) {
    let mut seen = Vec::new();
    for argument in &tool.arguments {
        let Argument::Exclusive(capability) = argument else { continue };
        let written = capability.ty.to_token_stream().to_string();
        if seen.contains(&written) {
            let message = format!(
                "`&mut {}` is opened once for a call; drop one, or give the second resource a type of its own",
                written.replace(' ', "")
            );
            errors.over(&capability.ty, message);
        }
        seen.push(written);
    }
}

fn exposure(tool: &Tool, errors: &mut Errors) {
    if let (Some(_), Some(deferred)) = (tool.args.hidden, tool.args.deferred) {
        errors.at(deferred, "a tool is `hidden` or `deferred`, not both: hidden is never found by a search, deferred is");
    }
}

/// Returns whether an attribute of a function belongs to a parameter. The macro reports such an attribute and removes
/// it, so that rustc does not report it again.
pub fn is_for_parameters(attribute: &Attribute) -> bool {
    ["arg", "input"].iter().any(|name| attribute.path().is_ident(name))
}

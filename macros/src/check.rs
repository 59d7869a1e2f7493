//! The rules that need the attribute and the signature both, one function a rule. A rule reports
//! its mistakes and lets the others go on.

mod companion;
mod expression;
mod input;
mod lent;
mod pattern;
mod signature;

use syn::spanned::Spanned;
use syn::{Attribute, FnArg, Pat, Receiver, ReceiverKind, Signature, Type};

use crate::args::{DANGERS, Danger, ToolArgs, check_name, danger_expected};
use crate::docs::Docs;
use crate::errors::{Errors, did_you_mean};
use crate::item::{self, Function, Member, Methods, names_tool};
use crate::model::Tool;

pub use companion::plain;

/// Most parameters that a tool may have: the runtime marks those seen in one word.
const MOST_PARAMETERS: usize = 64;

/// Checks a function against its attribute. The tool holds whatever was right, so that rustc can
/// judge the rest in the same run.
pub fn tool(
    function: &Function,
    args: ToolArgs,
    self_type: Option<&Type>,
    errors: &mut Errors,
) -> Tool {
    signature::qualifiers(&function.signature, &args, errors);
    signature::generics(&function.signature, errors);
    signature::other_attributes(&function.attributes, errors);
    let tool = Tool {
        function: function.signature.ident.clone(),
        visibility: function.visibility.clone(),
        self_type: self_type.cloned(),
        conditions: match self_type {
            Some(_) => {
                function.attributes.iter().filter(|it| it.path().is_ident("cfg")).cloned().collect()
            }
            None => Vec::new(),
        },
        docs: Docs::of(&function.attributes),
        returns: signature::returns(&function.signature, errors),
        arguments: signature::arguments(&function.signature, self_type, errors),
        args,
    };
    described(&tool, errors);
    named(&tool, errors);
    few_enough(&tool, errors);
    danger_is_known(&tool, &function.signature, errors);
    effect_agrees(&tool, &function.signature, errors);
    exposure(&tool, errors);
    input::keys(&tool, errors);
    input::whole(&tool, errors);
    input::limits(&tool, errors);
    input::shorts(&tool, errors);
    input::numbers(&tool, errors);
    pattern::compile(&tool, errors);
    companion::parameters(&tool, &function.signature, errors);
    expression::rules(&tool, &function.signature, errors);
    tool
}

/// Checks an `impl` block as a whole; its tools are checked one by one.
pub fn methods(methods: &Methods, errors: &mut Errors) {
    for parameter in &methods.generics.params {
        errors.over(
            parameter,
            "a service whose methods are tools cannot be generic; write a concrete type",
        );
    }
    let mut tools = 0;
    for member in &methods.items {
        let attributes = match member {
            Member::Function(function) => &function.attributes,
            Member::Other(item) => item::attributes_of(item),
        };
        for attribute in attributes.iter().filter(|it| names_tool(it)) {
            tools += 1;
            if let Member::Other(_) = member {
                errors.at(attribute.path().span(), "a tool of an `impl` block is a method");
            }
        }
    }
    if tools == 0 {
        errors.over(
            &methods.self_type,
            "no method here is a tool; write `#[tool]` above those that are",
        );
    }
}

/// Whether an attribute of a parameter is for the macro and must not reach rustc. Misplaced ones
/// are reported here, and rustc would only repeat it.
pub fn is_ours(attribute: &Attribute) -> bool {
    let path = attribute.path();
    ["arg", "input", "doc"].iter().any(|name| path.is_ident(name))
        || signature::is_misplaced(attribute)
}

fn described(tool: &Tool, errors: &mut Errors) {
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

fn named(tool: &Tool, errors: &mut Errors) {
    if tool.args.name.is_none()
        && let Err(problem) = check_name(&tool.name())
    {
        errors.at(tool.name_span(), format!("{problem}; give the tool another: `name = \"…\"`"));
    }
    if tool.handle() == tool.function {
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

fn exposure(tool: &Tool, errors: &mut Errors) {
    if let (Some(_), Some(deferred)) = (tool.args.hidden, tool.args.deferred) {
        errors.at(deferred, "a tool is `hidden` or `deferred`, not both: hidden is never found by a search, deferred is");
    }
}

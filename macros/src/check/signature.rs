//! The rules for the signature: owned parameters are input, borrowed parameters are capabilities.
//!
//! This file is long, because the rules for owned and for borrowed parameters complement each other.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote};
use syn::spanned::Spanned;
use syn::{
    Attribute, FnArg, GenericParam, Pat, PatType, Receiver, ReceiverKind, ReturnType, Signature,
    Type,
};

use super::tokens::{FoundToken, find_token, strip_groups};
use super::{is_for_parameters, lent, refused};
use crate::args::{ParamArgs, ToolArgs};
use crate::docs::Docs;
use crate::errors::Errors;
use crate::item::names_tool;
use crate::model::{Argument, Capability, Param};

/// Types that users borrow by mistake where they mean an input parameter.
const BORROWED_INPUT: &[&str] = &[
    "str", "String", "Path", "PathBuf", "OsStr", "OsString", "Vec", "Option", "bool", "char", "u8",
    "u16", "u32", "u64", "u128", "usize", "i8", "i16", "i32", "i64", "i128", "isize", "f32", "f64",
];

const OS_TEXT: &str = "the text of an operating system is bytes in JSON, `{\"Unix\": […]}`; write `PathBuf` for a path, `String` for text";

/// Attributes that do not work on a parameter of a tool, each with what to write instead.
const MISPLACED: &[(&str, &str)] = &[
    ("serde", "use `#[arg(…)]`, or `#[input]` with a type of your own"),
    ("schemars", "use `#[arg(…)]`, or `#[input]` with a type of your own"),
    (
        "cfg",
        "rustc would change the signature behind the tool's back; put `#[cfg]` on the whole tool",
    ),
    ("cfg_attr", "rustc evaluates it after the tool is made; put it on the whole tool"),
];

pub fn qualifiers(signature: &Signature, args: &ToolArgs, errors: &mut Errors) {
    match (&signature.asyncness, args.blocking) {
        // An outer attribute such as `#[tokio::main]` has already run, and has removed itself and `async`.
        (None, _) if signature.ident == "main" => errors.over(
            &signature.ident,
            "the program's `main` is no tool: a model calls a function of its own; write a second function for it",
        ),
        (None, None) => errors.over(
            signature.fn_token,
            "a tool is an `async fn`; write `async fn`, or `#[tool(blocking)]` to run a plain `fn` on the blocking pool",
        ),
        (Some(_), Some(blocking)) => errors.at(
            blocking,
            "`blocking` is for a plain `fn`; drop it, or drop `async`",
        ),
        _ => {}
    }
    if let Some(constness) = &signature.constness {
        errors.over(constness, "a tool cannot be a `const fn`");
    }
    if signature.safety.to_token_stream().to_string() == "unsafe" {
        errors.over(
            &signature.safety,
            "a tool cannot be an `unsafe fn`: the executor that calls it could not uphold its contract",
        );
    }
    if let Some(abi) = &signature.abi {
        errors.over(abi, "a tool cannot have a foreign ABI");
    }
    if let Some(variadic) = &signature.variadic {
        errors.over(variadic, "a tool cannot be variadic");
    }
}

pub fn generics(signature: &Signature, errors: &mut Errors) {
    for parameter in &signature.generics.params {
        if !matches!(parameter, GenericParam::Lifetime(_)) {
            errors.over(
                parameter,
                "a tool cannot be generic: its schema and its services must be known; write a concrete type",
            );
        }
    }
}

pub fn other_attributes(attributes: &mut Vec<Attribute>, errors: &mut Errors) {
    // With such an attribute, rustc would replace the tool by another function, and report errors about that function.
    let replaces = |it: &Attribute| {
        let last = it.path().segments.last();
        last.is_some_and(|it| it.ident == "test" || it.ident == "main")
    };
    for attribute in attributes.extract_if(.., |it| replaces(it)) {
        errors.over(
            attribute,
            "a tool is a function that a model calls; a test or a `main` is another function, which may call it",
        );
    }
    for attribute in attributes {
        if names_tool(attribute) {
            errors.over(attribute, "`#[tool]` is given twice; keep one");
        } else if is_for_parameters(attribute) {
            let name = attribute.path().to_token_stream();
            errors.at(
                attribute.path().span(),
                format!(
                    "`#[{name}]` belongs on a parameter, above its name, and not on the function"
                ),
            );
        }
    }
}

pub fn returns(signature: &Signature, errors: &mut Errors) -> TokenStream {
    let ReturnType::Type(_, ty) = &signature.output else { return quote!(()) };
    if refused::reason(ty).is_some() {
        return quote!(());
    }
    let problem = find_token(ty, &|token| match token {
        FoundToken::Word("impl") => Some(
            "a tool names the type it returns, so that its output schema is known; `impl Trait` has no name",
        ),
        FoundToken::Word("Self") => {
            Some("`Self` is not known outside the `impl` block; write the type's name")
        }
        FoundToken::Word("OsString" | "OsStr") => Some(OS_TEXT),
        FoundToken::Lifetime(name) if name != "static" => Some(
            "an answer is owned: it outlives the call; return `String` for `Cow<'_, str>`, or a type without a lifetime",
        ),
        FoundToken::Reference(true, _) => {
            Some("an answer is owned: it outlives the call; return `String` for `&str`")
        }
        _ => None,
    });
    match problem {
        Some((span, message)) => {
            errors.at(span, message);
            quote!(())
        }
        None => ty.to_token_stream(),
    }
}

pub fn arguments(
    signature: &Signature,
    self_type: Option<&Type>,
    errors: &mut Errors,
) -> Vec<Argument> {
    let argument = |argument: &FnArg| match argument {
        FnArg::Receiver(receiver) => method(receiver, self_type, errors),
        FnArg::Typed(typed) => parameter(typed, errors),
    };
    signature.inputs.iter().filter_map(argument).collect()
}

fn method(receiver: &Receiver, self_type: Option<&Type>, errors: &mut Errors) -> Option<Argument> {
    let Some(self_type) = self_type else {
        errors.over(
            receiver,
            "a method becomes a tool through its `impl` block: write `#[tools]` above the `impl`",
        );
        return None;
    };
    let capability = Capability { ident: None, ty: self_type.clone() };
    match &receiver.kind {
        ReceiverKind::Reference(_, _, mutability) if mutability.is_some() => {
            Some(Argument::Exclusive(capability))
        }
        ReceiverKind::Reference(..) => Some(Argument::Shared(capability)),
        _ => {
            errors.over(receiver, "a tool borrows its service: write `&self`");
            None
        }
    }
}

fn parameter(typed: &PatType, errors: &mut Errors) -> Option<Argument> {
    misplaced_attributes(&typed.attrs, errors);
    let args = ParamArgs::parse(&typed.attrs, errors);
    let ident = match typed.pat.as_ref() {
        Pat::Ident(pattern) if pattern.subpat.is_none() && pattern.by_ref.is_none() => {
            pattern.ident.clone()
        }
        other => {
            errors.over(
                other,
                "a tool's parameter is a plain name: the model sees it; take it apart in the body",
            );
            return None;
        }
    };
    if refused::reason(&typed.ty).is_some() {
        return None;
    }
    match strip_groups(&typed.ty) {
        Type::Reference(reference) => {
            if let Some(span) = args.span.or(args.whole) {
                errors.at(span, "a borrowed parameter is a capability that the runtime hands in, not input; take it owned, or drop the attribute");
            }
            let inner = strip_groups(&reference.elem);
            check_borrowed(reference, inner, errors)?;
            let capability = Capability { ident: Some(ident), ty: lent::registered_type(inner) };
            Some(match reference.mutability {
                Some(_) => Argument::Exclusive(capability),
                None => Argument::Shared(capability),
            })
        }
        ty => {
            check_owned(ty, errors)?;
            let key = match &args.name {
                Some(name) => name.value(),
                None => syn::ext::IdentExt::unraw(&ident).to_string(),
            };
            Some(Argument::Input(Box::new(Param {
                docs: Docs::of(&typed.attrs),
                ident,
                ty: ty.clone(),
                key,
                args,
            })))
        }
    }
}

fn misplaced_attributes(attributes: &[Attribute], errors: &mut Errors) {
    for attribute in attributes {
        let advice = MISPLACED.iter().find(|(name, _)| attribute.path().is_ident(name));
        if let Some((name, advice)) = advice {
            errors.at(
                attribute.path().span(),
                format!("`#[{name}]` does not work on a tool's parameter; {advice}"),
            );
        }
    }
}

pub fn is_misplaced(attribute: &Attribute) -> bool {
    MISPLACED.iter().any(|(name, _)| attribute.path().is_ident(name))
}

fn check_owned(ty: &Type, errors: &mut Errors) -> Option<()> {
    let problem = find_token(ty, &|token| match token {
        FoundToken::Word("impl") => {
            Some("input has a concrete type, from which its schema is made; `impl Trait` has none")
        }
        FoundToken::Word("Self") => {
            Some("`Self` is not known outside the `impl` block; write the type's name")
        }
        FoundToken::Word("OsString" | "OsStr") => Some(OS_TEXT),
        FoundToken::Reference(_, Some(name)) if !BORROWED_INPUT.contains(&name.as_str()) => Some(
            "a capability is borrowed by itself: write `&T` as the parameter's type; inside another type the runtime cannot hand it in",
        ),
        FoundToken::Reference(..) => {
            Some("input is taken owned: write `String` for `&str`, `Vec<T>` for `&[T]`")
        }
        FoundToken::Lifetime(name) if name != "static" => Some(
            "input is taken owned, without a lifetime; what the runtime hands in is borrowed: `&T`",
        ),
        _ => None,
    });
    no_problem(problem, errors)
}

fn check_borrowed(reference: &syn::TypeReference, inner: &Type, errors: &mut Errors) -> Option<()> {
    if let Some(owned) = owned_form(inner) {
        errors.over(
            reference,
            format!(
                "input is taken owned: write `{owned}`; a reference is a capability that the runtime hands in"
            ),
        );
        return None;
    }
    if let Some(lifetime) = &reference.lifetime
        && lifetime.ident == "static"
    {
        errors.over(
            lifetime,
            "a capability is borrowed for the call, not for `'static`; drop the lifetime",
        );
        return None;
    }
    if let (Type::TraitObject(object), Some(_)) = (inner, &reference.mutability) {
        errors.over(
            object,
            "a resource opened for one call has a concrete type; `&dyn Trait` is for services",
        );
        return None;
    }
    let unnamed = |token: FoundToken<'_>| match token {
        FoundToken::Word("impl") => Some(
            "a capability is found by its concrete type; `impl Trait` has none: write the type, or `&dyn Trait`",
        ),
        FoundToken::Word("Self") => {
            Some("`Self` is not known outside the `impl` block; write the type's name")
        }
        _ => None,
    };
    let is_reference = matches!(inner, Type::Reference(_));
    let kept = |token: FoundToken<'_>| match token {
        FoundToken::Reference(is_short, _) if is_short || is_reference => {
            Some("a capability is borrowed once; write `&T` for `&&T`")
        }
        FoundToken::Lifetime(name) if !["static", "_"].contains(&name) => Some(
            "a capability owns its data: what is registered has the lifetime `'static`; write `'_`",
        ),
        _ => None,
    };
    let mut own = inner.clone();
    lent::take_out(&mut own);
    no_problem(find_token(inner, &unnamed).or_else(|| find_token(&own, &kept)), errors)
}

/// Returns the owned type that the user should write instead of a reference; `None` if the type can be borrowed.
fn owned_form(inner: &Type) -> Option<String> {
    let written = |tokens: &dyn ToTokens| {
        tokens.to_token_stream().to_string().replace(' ', "").replace(',', ", ")
    };
    match inner {
        Type::Slice(slice) => Some(format!("Vec<{}>", written(&slice.elem))),
        Type::Array(_) | Type::Tuple(_) => Some(written(inner)),
        Type::Path(path) if path.qself.is_none() => {
            let last = path.path.segments.last()?;
            let name = last.ident.to_string();
            BORROWED_INPUT.contains(&name.as_str()).then(|| match name.as_str() {
                "str" | "OsStr" | "OsString" => "String".to_owned(),
                "Path" => "PathBuf".to_owned(),
                _ => written(last),
            })
        }
        _ => None,
    }
}

fn no_problem(problem: Option<(Span, &'static str)>, errors: &mut Errors) -> Option<()> {
    match problem {
        Some((span, message)) => {
            errors.at(span, message);
            None
        }
        None => Some(()),
    }
}

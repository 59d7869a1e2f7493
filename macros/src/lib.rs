//! The macros of [toolwright](https://docs.rs/toolwright). That crate re-exports and documents them.

mod args;
mod check;
mod data;
mod docs;
mod errors;
mod expand;
mod half_typed;
mod item;
mod manifest;
mod model;
mod paths;

use args::ToolArgs;
use errors::Errors;
use item::{Function, Member, Methods};
use paths::Paths;
use proc_macro2::TokenStream;
use quote::quote;

#[proc_macro_attribute]
pub fn tool(
    args: proc_macro::TokenStream,
    item: proc_macro::TokenStream,
) -> proc_macro::TokenStream {
    expand_tool(args.into(), item.into()).into()
}

#[proc_macro_attribute]
pub fn tools(
    args: proc_macro::TokenStream,
    item: proc_macro::TokenStream,
) -> proc_macro::TokenStream {
    expand_tools(args.into(), item.into()).into()
}

#[proc_macro_attribute]
pub fn data(
    args: proc_macro::TokenStream,
    item: proc_macro::TokenStream,
) -> proc_macro::TokenStream {
    data::expand(args.into(), item.into()).into()
}

fn expand_tool(args: TokenStream, item: TokenStream) -> TokenStream {
    let mut function: Function = match syn::parse2(item.clone()) {
        Ok(function) => function,
        // Rustc has already reported the missing type, and no tool can be generated.
        Err(_) if half_typed::is_half_typed(item.clone()) => return TokenStream::new(),
        Err(error) => return with_error(item, &error),
    };
    let mut errors = Errors::default();
    let args = ToolArgs::parse(args, &mut errors);
    if let (Some(end), None) = (function.end, args.external) {
        return with_error(item, &syn::Error::new(end, check::NO_BODY));
    }
    let paths = Paths::new(args.krate.as_ref());
    let tool = check::tool(&mut function, args, None, &mut errors);
    strip(&mut function);
    // An external tool has no function in the output. But if a type in its signature is wrong, the function is in the
    // output, because the function then contains the error.
    let is_function = function.end.is_none() || errors.has_some_in_place();
    let generated = expand::tool(&tool, &paths, errors);
    let function = is_function.then_some(&function);
    quote!(#function #generated)
}

fn expand_tools(args: TokenStream, item: TokenStream) -> TokenStream {
    let mut methods: Methods = match syn::parse2(item.clone()) {
        Ok(methods) => methods,
        Err(error) => {
            return match half_typed::without_half_typed(item.clone()) {
                Some(rest) => expand_tools(args, rest),
                None => with_error(item, &error),
            };
        }
    };
    let mut errors = Errors::default();
    let shared = ToolArgs::parse_shared(args, &mut errors);
    check::methods(&methods, &mut errors);
    check::take_repeated(&mut methods, &mut errors);
    let mut generated: TokenStream = errors.into_compile_errors().collect();
    let (self_type, generics) = (methods.self_type.clone(), methods.generics.clone());
    let mut taken = check::UserConstants::of(&methods);
    for member in &mut methods.items {
        let function = match member {
            Member::Function(function) => function,
            Member::Other(item) => {
                item::strip_tool_attributes(item);
                continue;
            }
        };
        let Some(attribute) = item::take_tool_attribute(function) else { continue };
        let mut errors = Errors::default();
        let written = item::attribute_tokens(&attribute, &mut errors);
        let mut args = ToolArgs::parse(written, &mut errors);
        args.inherit(&shared);
        let paths = Paths::new(args.krate.as_ref());
        let mut tool = check::tool(function, args, Some(&self_type), &mut errors);
        taken.add(&mut tool, &mut errors);
        strip(function);
        if generics.params.is_empty() {
            generated.extend(expand::tool(&tool, &paths, errors));
        } else {
            // The mistake of the generic block is reported already, and rustc cannot check its types.
            generated.extend(errors.into_compile_errors());
        }
    }
    quote!(#methods #generated)
}

/// Removes the macro's own attributes, so that rustc sees an ordinary function.
fn strip(function: &mut Function) {
    let is_ours = |it: &syn::Attribute| item::names_tool(it) || check::is_for_parameters(it);
    function.attributes.retain(|attribute| !is_ours(attribute));
    for argument in &mut function.signature.inputs {
        if let syn::FnArg::Typed(typed) = argument {
            typed.attrs.retain(|attribute| !check::is_ours(attribute));
        }
    }
}

/// Returns the item unchanged except for the macro's own attributes, with the error that it could not be parsed.
fn with_error(item: TokenStream, error: &syn::Error) -> TokenStream {
    let item = item::without_our_attributes(item);
    let error = error.to_compile_error();
    quote!(#item #error)
}

#[cfg(test)]
mod tests;

//! The input in generated code: one constant a parameter, typed slots, and the reading of them.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::Expr;
use syn::spanned::Spanned;

use super::{at, type_span};
use crate::args::{Bound, BoundValue, Preset};
use crate::expand::spec::text;
use crate::model::{Param, Tool};

/// `const __TW_P0: Param<T> = Param::of().minimum(…)`: rustc's whole judgement of one parameter.
pub fn constant(index: usize, param: &Param) -> TokenStream {
    let (name, ty) = (param_constant(index), &param.ty);
    let of = quote_spanned!(type_span(param)=> __tw::Param::of());
    let bounds = [&param.args.minimum, &param.args.maximum].into_iter().flatten().map(bound);
    let length = param.args.length.iter().map(|length| {
        let call = Ident::new("length", at(length.key.span()));
        let [minimum, maximum] = [&length.minimum, &length.maximum].map(optional);
        quote!(.#call(#minimum, #maximum))
    });
    let pattern = param.args.pattern.iter().map(|pattern| {
        let call = quote_spanned!(at(pattern.span())=> .pattern);
        quote!(#call(#pattern))
    });
    let default = param.args.default.as_ref().map(|preset| {
        let (default, value) = (default_constant(index), preset_value(param, preset));
        quote!(const #default: fn() -> #ty = || #value;)
    });
    quote! {
        const #name: __tw::Param<#ty> = #of #(#bounds)* #(#length)* #(#pattern)*;
        #default
    }
}

/// The struct that the runtime's object loop fills, and the one match that tells it how.
pub fn slots(tool: &Tool) -> TokenStream {
    let params: Vec<&Param> = tool.inputs().collect();
    if tool.whole().is_some() || params.is_empty() {
        return TokenStream::new();
    }
    let types = params.iter().map(|param| &param.ty);
    let last = params.len() - 1;
    let arms = (0..params.len()).map(|index| {
        let (constant, slot) = (param_constant(index), syn::Index::from(index));
        let pattern = if index == last {
            quote!(_)
        } else {
            proc_macro2::Literal::usize_unsuffixed(index).to_token_stream()
        };
        quote!(#pattern => #constant.fill(&mut self.#slot, __tw_reader))
    });
    quote! {
        struct __TwSlots(#(__tw::Option<#types>),*);
        impl __tw::Slots for __TwSlots {
            fn put(&mut self, __tw_index: __tw::usize, __tw_reader: &mut __tw::Reader<'_>) -> __tw::Result<(), __tw::Fault> {
                match __tw_index { #(#arms),* }
            }
        }
    }
}

/// The statements that turn the call's text into one local a parameter.
pub fn read(tool: &Tool) -> TokenStream {
    if let Some(whole) = tool.whole() {
        let (local, constant) = (local(tool, 0, whole), param_constant(0));
        return quote!(let #local = __tw_call.read_whole(&#constant)?;);
    }
    let params: Vec<&Param> = tool.inputs().collect();
    if params.is_empty() {
        return quote!(__tw_call.read_nothing()?;);
    }
    let empty = params.iter().map(|_| quote!(__tw::None));
    let locals = params.iter().enumerate().map(|(index, param)| {
        let (local, constant, slot) =
            (local(tool, index, param), param_constant(index), syn::Index::from(index));
        match param.args.default {
            Some(_) => {
                let default = default_constant(index);
                quote!(let #local = #constant.take_or(__tw_slots.#slot, #default);)
            }
            None => quote!(let #local = #constant.take(__tw_slots.#slot)?;),
        }
    });
    quote! {
        let mut __tw_slots = __TwSlots(#(#empty),*);
        __tw_call.read(&mut __tw_slots)?;
        #(#locals)*
    }
}

/// The local that holds a parameter: the user's own name where an expression needs it.
pub fn local(tool: &Tool, index: usize, param: &Param) -> Ident {
    if tool.has_expressions() { param.ident.clone() } else { format_ident!("__tw_p{index}") }
}

pub fn param_constant(index: usize) -> Ident {
    format_ident!("__TW_P{index}")
}

pub fn default_constant(index: usize) -> Ident {
    format_ident!("__TW_D{index}")
}

/// A value of the parameter's type, from what the user wrote: text needs no `.into()`.
pub fn value(expression: &Expr) -> TokenStream {
    match text(expression) {
        Some(text) => quote_spanned!(at(text.span())=> __tw::Into::into(#text)),
        None => quote!(#expression),
    }
}

fn preset_value(param: &Param, preset: &Preset) -> TokenStream {
    match preset {
        Preset::OfType => quote_spanned!(type_span(param)=> __tw::Default::default()),
        Preset::Value(expression) => value(expression),
    }
}

fn bound(bound: &Bound) -> TokenStream {
    let call = Ident::new(&bound.key.to_string(), at(bound.key.span()));
    let value = match &bound.value {
        BoundValue::Integer(integer) => {
            let integer = proc_macro2::Literal::i128_unsuffixed(*integer);
            quote!(__tw::Bound::Integer(#integer))
        }
        BoundValue::Float(_, expression) => quote!(__tw::Bound::Float(#expression)),
        BoundValue::Constant(expression) => {
            quote_spanned!(at(expression.span())=> __tw::BoundOf(#expression).get())
        }
    };
    quote!(.#call(#value))
}

fn optional(expression: &Option<Expr>) -> TokenStream {
    match expression {
        Some(expression) => quote!(__tw::Some(#expression)),
        None => quote!(__tw::None),
    }
}

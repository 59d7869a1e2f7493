//! Generates the code that reads the input: a constant for each parameter, typed slots, and the code that fills the
//! slots.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, format_ident, quote};
use syn::Expr;

use super::place;
use crate::args::{BoundValue, NumberLimit, Preset};
use crate::expand::spec::text;
use crate::model::{Param, Tool};

/// Generates the constant of a parameter, such as `const __TW_P0: Param<T> = …`. Rustc checks the parameter when it
/// evaluates the constant.
pub fn constant(index: usize, param: &Param) -> TokenStream {
    let (name, ty) = (param_constant(index), &param.ty);
    let of = place::associated_item(ty, quote!(__tw::Input > ::PARAM));
    let written = [&param.args.minimum, &param.args.maximum].into_iter().flatten();
    let held = written.clone().filter_map(|limit| hold(param, limit));
    let bounds = written.map(|limit| expand_limit(param, limit));
    let length = param.args.length.iter().map(|length| {
        let [shortest, longest] =
            [&length.minimum, &length.maximum].map(|limit| count(&length.key, limit));
        let measure = place::within(&length.key, quote!(<_ as __tw::Length>::MEASURE));
        quote!(.length(#shortest, #longest, #measure))
    });
    let pattern = param.args.pattern.iter().map(|pattern| {
        let is_text = place::within(pattern, quote!(<_ as __tw::Text>::IS_TEXT));
        quote!(.pattern(#pattern, #is_text))
    });
    let command = param.args.command.iter().map(|span| {
        let is_text = quote::quote_spanned!(*span => <_ as __tw::Text>::IS_TEXT);
        quote!(.command(#is_text))
    });
    let default = param.args.default.as_ref().map(|preset| {
        let (default, value) = (default_constant(index), preset_value(preset));
        quote!(const #default: fn() -> #ty = || #value;)
    });
    quote! {
        const #name: __tw::Param<#ty> = #of #(#bounds)* #(#length)* #(#pattern)* #(#command)*
            .known_by({
                #[allow(unused_imports, reason = "found where the type is not known")]
                use __tw::UnknownType as _;
                __tw::Knowledge::<#ty>::is_known
            });
        #(#held)*
        #default
    }
}

/// Generates the struct that the runtime's object loop fills, and the `match` that fills one slot.
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

/// Generates the statements that read the text of a call into one local variable for each parameter.
pub fn read(tool: &Tool) -> TokenStream {
    if tool.whole().is_some() {
        let (local, constant) = (local(0), param_constant(0));
        return quote!(let #local = __tw_call.read_whole(&#constant)?;);
    }
    let params: Vec<&Param> = tool.inputs().collect();
    if params.is_empty() {
        return quote!(__tw_call.read_nothing()?;);
    }
    let empty = params.iter().map(|_| quote!(__tw::None));
    let locals = params.iter().enumerate().map(|(index, param)| {
        let (local, constant, slot) =
            (local(index), param_constant(index), syn::Index::from(index));
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

/// Generates the statement that computes an absent parameter when the tool is called; `None` without `fill`.
pub fn fill(param: &Param) -> Option<TokenStream> {
    let (expression, ident, key) = (param.args.fill.as_ref()?, &param.ident, &param.key);
    let filled = place::within(expression, quote!(__tw_call.facts.fill));
    let list = place::list(
        expression,
        quote!(#key, #ident, || #expression, |__tw_value| __tw::JsonPreset::json(__tw_value)),
    );
    Some(quote!(let #ident = #filled #list;))
}

/// Returns the name of the local variable for the parameter with this index.
pub fn local(index: usize) -> Ident {
    format_ident!("__tw_p{index}")
}

pub fn param_constant(index: usize) -> Ident {
    format_ident!("__TW_P{index}")
}

pub fn default_constant(index: usize) -> Ident {
    format_ident!("__TW_D{index}")
}

/// Generates a value of the parameter's type from the user's expression. A string literal is converted, so that the
/// user need not write `.into()`.
pub fn value(expression: &Expr) -> TokenStream {
    match text(expression) {
        Some(text) => {
            let from = place::over(text, quote!(__tw::FromText::from_text));
            let list = place::list(text, quote!(#text));
            quote!(#from #list)
        }
        None => quote!(#expression),
    }
}

fn preset_value(preset: &Preset) -> TokenStream {
    match preset {
        Preset::OfType(key) => {
            let default = place::within(key, quote!(__tw::Default::default));
            let list = place::list(key, TokenStream::new());
            quote!(#default #list)
        }
        Preset::Value(expression) => value(expression),
    }
}

fn expand_limit(param: &Param, bound: &NumberLimit) -> TokenStream {
    let (key, ty) = (&bound.key, &param.ty);
    let value = match &bound.value {
        BoundValue::Integer(integer) => {
            let integer = proc_macro2::Literal::i128_unsuffixed(*integer);
            quote!(__tw::Bound::Integer(#integer))
        }
        BoundValue::Float(_, expression) => quote!(__tw::Bound::Float(#expression)),
        BoundValue::Constant(expression) => {
            let limit = place::associated_item(ty, quote!(__tw::Number > ::Limit));
            quote!({
                let __tw_limit: #limit = #expression;
                __tw::BoundOf(__tw_limit).get()
            })
        }
    };
    let number = place::within(key, quote!(<_ as __tw::Number>::number));
    quote!(.#key(#value, #number))
}

/// Generates a check that the type can represent the number. The check is a constant that no other code uses, because a
/// failure would otherwise cause further errors.
fn hold(param: &Param, bound: &NumberLimit) -> Option<TokenStream> {
    let BoundValue::Integer(integer) = &bound.value else { return None };
    // Every number type can represent the integers from 0 to 127.
    if (0..=127).contains(integer) {
        return None;
    }
    let (ty, integer) = (&param.ty, proc_macro2::Literal::i128_unsuffixed(*integer));
    let check = place::over(&bound.written, quote!(__tw::Limits::check));
    let list = place::list(&bound.written, quote!(__tw::Range::<#ty>::LIMITS, #integer));
    Some(quote! {
        const _: () = {
            #[allow(unused_imports, reason = "found where the type is no number")]
            use __tw::NoRange as _;
            #check #list
        };
    })
}

/// Generates code that makes rustc check that JSON can represent the parameter's type.
pub fn shape(param: &Param) -> Option<TokenStream> {
    let ty = &param.ty;
    let whole = param.args.whole.is_some();
    // A map has two type parameters, so only a type with a comma in angle brackets is checked for its keys.
    let tokens: Vec<String> =
        ty.to_token_stream().into_iter().map(|token| token.to_string()).collect();
    let two = tokens.iter().any(|token| token == "<") && tokens.iter().any(|token| token == ",");
    let shape = place::list(ty, quote!(__tw::Shape::<#ty>::NEW));
    let keys = two.then(|| {
        let said = place::over(ty, quote!(__tw::KeysInJson::<#ty>::said));
        let call = place::within(ty, quote!(.keys()));
        let list = place::list(ty, quote!(#shape #call));
        quote!(#said #list;)
    });
    let object = whole.then(|| {
        let said = place::over(ty, quote!(__tw::ObjectInJson::<#ty>::said));
        let call = place::within(ty, quote!(.object()));
        let list = place::list(ty, quote!(#shape #call));
        quote!(#said #list;)
    });
    (two || whole).then(|| quote!(#keys #object))
}

/// Generates one limit of a length. If the limit is a constant of another type, rustc reports the constant. The type
/// `usize` has the span of the key, so that rustc also shows the key, as the place that expects a `usize`.
fn count(key: &Ident, limit: &Option<Expr>) -> TokenStream {
    match limit {
        Some(Expr::Lit(literal)) => quote!(__tw::Some(#literal)),
        Some(expression) => {
            let count = place::inside(key, quote!(__tw::usize));
            quote!({
                let __tw_count: #count = #expression;
                __tw::Some(__tw_count)
            })
        }
        None => quote!(__tw::None),
    }
}

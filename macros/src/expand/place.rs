//! Gives generated code the spans of the user's code, so that rustc reports an error in generated code at the code that
//! the user wrote.
//!
//! - Paths have the user's own spans. Rustc resolves their names with any span, and its message then points at the
//!   user's tokens and does not mention a macro.
//! - Local variables have the user's position, but the macro's hygiene. With the user's own spans, tools that
//!   `macro_rules!` generates would not compile.

use proc_macro2::{Delimiter, Group, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::{GenericArgument, PathArguments, Type};

/// Gives generated code the spans of the first and the last token of `place`, so that rustc reports errors for the
/// whole of `place`.
pub fn over(place: impl ToTokens, tokens: TokenStream) -> TokenStream {
    let (first, last) = ends(place);
    let mut span = first;
    let moved = tokens.into_iter().map(|token| move_to(token, std::mem::replace(&mut span, last)));
    moved.collect()
}

/// Gives generated code the span of the first token of `place`.
pub fn within(place: impl ToTokens, tokens: TokenStream) -> TokenStream {
    let (first, _) = ends(place);
    tokens.into_iter().map(|token| move_to(token, first)).collect()
}

/// Generates `<T as Trait>::ITEM` with the spans of `T`, so that rustc reports errors at the type.
pub fn associated_item(ty: impl ToTokens, rest: TokenStream) -> TokenStream {
    let (first, last) = ends(&ty);
    let open = at(first, quote!(<));
    let rest = at(last, quote!(as #rest));
    quote!(#open #ty #rest)
}

/// Gives the tokens of local variables the position of `place` and the hygiene of the macro.
pub fn inside(place: impl ToTokens, tokens: TokenStream) -> TokenStream {
    let (first, _) = ends(place);
    at(first.resolved_at(Span::call_site()), tokens)
}

/// Generates an argument list. Its parentheses have the span of the last token of `place`.
pub fn list(place: impl ToTokens, arguments: TokenStream) -> TokenStream {
    let mut group = Group::new(Delimiter::Parenthesis, arguments);
    group.set_span(ends(place).1);
    TokenTree::Group(group).into()
}

/// Returns the tokens at which rustc should report problems of a function's value and of its error. The name `Result`
/// only selects the position. Whether the type is a `Result` is decided by rustc.
pub fn sides(returns: &TokenStream) -> (TokenStream, TokenStream) {
    let whole = || (returns.clone(), returns.clone());
    let Ok(Type::Path(path)) = syn::parse2(returns.clone()) else { return whole() };
    let Some(last) = path.path.segments.last().filter(|last| last.ident == "Result") else {
        return whole();
    };
    let PathArguments::AngleBracketed(list) = &last.arguments else { return whole() };
    let mut types = list.args.iter().filter_map(|argument| match argument {
        GenericArgument::Type(ty) => Some(ty.to_token_stream()),
        _ => None,
    });
    let value = types.next().unwrap_or_else(|| returns.clone());
    (value, types.next().unwrap_or_else(|| returns.clone()))
}

fn ends(tokens: impl ToTokens) -> (Span, Span) {
    let mut tokens = tokens.to_token_stream().into_iter();
    let first = tokens.next().map_or_else(Span::call_site, |token| token.span());
    (first, tokens.last().map_or(first, |token| token.span()))
}

fn at(span: Span, tokens: TokenStream) -> TokenStream {
    tokens.into_iter().map(|token| move_to(token, span)).collect()
}

fn move_to(mut token: TokenTree, span: Span) -> TokenTree {
    token.set_span(span);
    token
}

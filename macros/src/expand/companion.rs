//! Generates the calls of functions next to the tool. A closure becomes a block that binds the tool's parameters by
//! name. A path is called as the tool itself is called.

use proc_macro2::{Group, Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote};
use syn::{Expr, ExprClosure, Pat, ReturnType};

use super::{capabilities, capability_local, input, place};
use crate::args::Companion;
use crate::check::plain;
use crate::model::{Capability, Tool};

/// The function or closure that generated code calls.
pub enum Callee<'a> {
    /// A function that takes all parameters of the tool, in order.
    Function(TokenStream),
    /// A closure. Its parameters are those parameters of the tool that it names.
    Closure(&'a ExprClosure),
}

impl<'a> Callee<'a> {
    pub fn of(companion: &'a Companion) -> Self {
        match companion {
            Companion::Closure(closure) => Self::Closure(closure),
            Companion::Path(path) => Self::Function(path.to_token_stream()),
        }
    }

    /// Returns the tokens at which rustc should report an error in the result.
    pub fn place(&self) -> TokenStream {
        match self {
            Self::Function(function) => function.clone(),
            Self::Closure(closure) => closure.body.to_token_stream(),
        }
    }

    /// Returns whether the closure is awaited, even if the tool is `blocking`.
    pub fn is_async(&self) -> bool {
        matches!(self, Self::Closure(closure) if await_of(closure).is_some())
    }

    /// Returns whether the function or closure needs a capability of the tool. Capabilities that it does not need are
    /// not opened.
    pub fn takes(&self, capability: &Capability) -> bool {
        match (self, &capability.ident) {
            (Self::Function(_), _) => true,
            (Self::Closure(closure), Some(ident)) => pattern(closure, ident).is_some(),
            (Self::Closure(closure), None) => names_self(closure.body.to_token_stream()),
        }
    }
}

/// Generates the call of a closure. On the blocking pool, the generated expression is the value itself, otherwise a
/// future. A `return` or `?` in the closure ends only the closure.
pub fn call(tool: &Tool, closure: &ExprClosure, blocking: bool) -> TokenStream {
    let inputs = tool.inputs().enumerate().filter_map(|(index, param)| {
        let (pattern, local) = (pattern(closure, &param.ident)?, input::local(index));
        let local = place::inside(pattern, quote!(#local));
        Some(quote!(let #pattern = #local;))
    });
    let borrowed = capabilities(tool).enumerate().filter_map(|(index, (capability, exclusive))| {
        let local = capability_local(index);
        let given = match exclusive {
            true => quote!(&mut #local),
            false if blocking => quote!(&*#local),
            false => quote!(#local),
        };
        let pattern = match &capability.ident {
            Some(ident) => pattern(closure, ident)?.to_token_stream(),
            None if names_self(closure.body.to_token_stream()) => self_local().to_token_stream(),
            None => return None,
        };
        Some(quote!(let #pattern = #given;))
    });
    let output = &closure.output;
    let value = match await_of(closure) {
        Some(body) => {
            let body = rename_self(body);
            let block = quote!(async move #body);
            match output {
                ReturnType::Type(_, ty) => quote!(__tw::giving::<#ty, _>(#block)),
                ReturnType::Default => block,
            }
        }
        None => {
            let body = rename_self(closure.body.to_token_stream());
            let called = quote!((move || #output #body)());
            if blocking { called } else { quote!(async move { #called }) }
        }
    };
    quote!({ #(#inputs)* #(#borrowed)* #value })
}

/// Returns the block of an `async` closure, or of a closure whose body is an `async` block; `None` for other closures.
fn await_of(closure: &ExprClosure) -> Option<TokenStream> {
    let body = closure.body.as_ref();
    match body {
        Expr::Block(block) if closure.asyncness.is_some() => Some(block.to_token_stream()),
        _ if closure.asyncness.is_some() => Some(quote!({ #body })),
        Expr::Async(block) => Some(block.block.to_token_stream()),
        _ => None,
    }
}

/// Returns the closure's pattern for a parameter of the tool; `None` if the closure does not name the parameter.
fn pattern<'a>(closure: &'a ExprClosure, ident: &Ident) -> Option<&'a Pat> {
    closure.inputs.iter().find(|it| plain(it).is_some_and(|name| name.ident == *ident))
}

/// Generates code that makes rustc check a function that is named by its path: its inputs must all have different
/// types, even through type aliases.
pub fn distinct(tool: &Tool, companion: &Companion) -> TokenStream {
    let Companion::Path(path) = companion else { return TokenStream::new() };
    let types: Vec<_> = tool.inputs().map(|param| &param.ty).collect();
    if types.len() < 2 {
        return TokenStream::new();
    }
    let pairs = (0..types.len()).flat_map(|one| (one + 1..types.len()).map(move |two| (one, two)));
    let checks = pairs.map(|(one, two)| {
        let (one, two) = (types[one], types[two]);
        let apart = place::over(path, quote!(__tw::ToldApart::said));
        let pair = place::list(path, quote!(__tw::Pair::<#one, #two>::NEW));
        let call = place::within(path, quote!(.judged()));
        let list = place::list(path, quote!(#pair #call));
        quote!(#apart #list;)
    });
    // A generic function cannot be named without its types. Rustc reports that here.
    quote! {
        const _: () = {
            #[allow(unused_imports, reason = "found where two types differ")]
            use __tw::Differs as _;
            fn __tw_distinct() {
                let _ = #path;
                #(#checks)*
            }
        };
    }
}

/// Returns the name of the variable that replaces `self` in the body, because `let` cannot bind `self`.
fn self_local() -> Ident {
    format_ident!("__tw_self", span = Span::call_site())
}

fn names_self(tokens: TokenStream) -> bool {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    (0..tokens.len()).any(|index| match &tokens[index] {
        TokenTree::Group(group) => names_self(group.stream()),
        _ => begins_with_receiver(&tokens[index..]),
    })
}

/// Returns whether the first token is a `self` that names the receiver. In a path such as `self::check`, it names a
/// module.
fn begins_with_receiver(tokens: &[TokenTree]) -> bool {
    let is_colon = |token: &TokenTree| matches!(token, TokenTree::Punct(it) if it.as_char() == ':');
    match tokens {
        [_, first, second, ..] if is_colon(first) && is_colon(second) => false,
        [TokenTree::Ident(word), ..] => word == "self",
        _ => false,
    }
}

fn rename_self(tokens: TokenStream) -> TokenStream {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let each = |index: usize| match &tokens[index] {
        word @ TokenTree::Ident(_) if begins_with_receiver(&tokens[index..]) => {
            let mut local = self_local();
            local.set_span(Span::call_site().located_at(word.span()));
            local.into()
        }
        TokenTree::Group(group) => {
            let mut again = Group::new(group.delimiter(), rename_self(group.stream()));
            again.set_span(group.span());
            again.into()
        }
        other => other.clone(),
    };
    (0..tokens.len()).map(each).collect()
}

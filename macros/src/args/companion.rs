//! Parses the values of `validate`, `preview` and `reconcile`. Each names a function next to the tool, either as a
//! closure over the tool's parameters or by its path.

use proc_macro2::{Ident, Span};
use quote::ToTokens;
use syn::parse::ParseStream;
use syn::spanned::Spanned;
use syn::{Expr, ExprClosure, Path};

use super::value;

/// The value of `validate`, `preview` or `reconcile`.
pub enum Companion {
    /// A closure such as `|from, to| …`. Its parameters are named as those of the tool.
    Closure(Box<ExprClosure>),
    /// A function that takes all parameters of the tool, in the same order. The macro does not know the names of the
    /// function's parameters.
    Path(Path),
}

impl Companion {
    pub fn parse(key: &Ident, input: ParseStream<'_>) -> syn::Result<Self> {
        value::equals(key, input, "|…| …")?;
        let ahead = input.fork();
        let written: Option<Expr> = ahead.parse().ok();
        match written.as_ref().map(value::strip_groups) {
            Some(Expr::Closure(closure)) => {
                input.parse::<Expr>()?;
                Ok(Self::Closure(Box::new(closure.clone())))
            }
            Some(call @ (Expr::Call(_) | Expr::MethodCall(_) | Expr::Await(_))) => {
                let message = format!(
                    "found a call, expected a closure over the tool's parameters, by their names: `{key} = async |…| {}`",
                    awaits(call)
                );
                Err(syn::Error::new_spanned(call, message))
            }
            _ => value::function(key, input).map(Self::Path),
        }
    }
}

impl Companion {
    pub fn span(&self) -> Span {
        match self {
            Self::Closure(closure) => closure.span(),
            Self::Path(path) => path.span(),
        }
    }
}

/// Formats the call that was found as the body of the closure that should be there, for an error message.
fn awaits(call: &Expr) -> String {
    match call {
        Expr::Await(awaited) => self::awaits(&awaited.base),
        Expr::Call(call) => format!("{}(…).await", spelt(&call.func)),
        Expr::MethodCall(call) => format!("{}.{}(…).await", spelt(&call.receiver), call.method),
        _ => "….await".to_owned(),
    }
}

fn spelt(expression: &Expr) -> String {
    match expression {
        Expr::Path(path) => path.to_token_stream().to_string().replace(' ', ""),
        _ => "…".to_owned(),
    }
}

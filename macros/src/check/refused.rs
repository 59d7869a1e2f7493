//! Types that rustc refuses in any signature, with several errors or none about tools. The macro reports each once,
//! at the type.

use quote::quote;
use syn::{Error, FnArg, ReturnType, Type, parse_quote};

use super::tokens::{FoundToken, find_token, strip_groups};
use crate::errors::Errors;
use crate::item::Function;

/// Returns why rustc refuses the type of a parameter or of an answer.
pub fn reason(ty: &Type) -> Option<Error> {
    let underscore = |token: FoundToken<'_>| matches!(token, FoundToken::Word("_")).then_some(());
    if let Some((span, ())) = find_token(ty, &underscore) {
        let message =
            "a tool names its types, from which its schema is made; write the type for `_`";
        return Some(Error::new(span, message));
    }
    let ty = strip_groups(ty);
    let (found, advice) = match ty {
        Type::Slice(_) => ("a slice", "write `Vec<T>` for `[T]`"),
        Type::TraitObject(_) => (
            "a trait object",
            "write `&dyn Trait` for a service; input and answers have a concrete type",
        ),
        Type::Path(path) if path.path.is_ident("str") => ("`str`", "write `String`"),
        _ => return None,
    };
    Some(Error::new_spanned(
        ty,
        format!("{found} has no size, so it cannot be passed on; {advice}"),
    ))
}

/// Replaces each refused type by its error. The body is replaced too, since rustc would report more errors that
/// follow from the type.
pub fn replace(function: &mut Function, errors: &mut Errors) {
    let signature = &mut function.signature;
    let parameters = signature.inputs.iter_mut().filter_map(|argument| match argument {
        FnArg::Typed(typed) => Some(&mut *typed.ty),
        FnArg::Receiver(_) => None,
    });
    let output = match &mut signature.output {
        ReturnType::Type(_, ty) => Some(&mut **ty),
        ReturnType::Default => None,
    };
    for ty in parameters.chain(output) {
        if let Some(error) = reason(ty) {
            *ty = Type::Verbatim(errors.in_place(&error));
            function.body = quote!({ loop {} });
            // The body was replaced by an empty loop, so no code uses the parameters.
            function.attributes.push(parse_quote!(#[allow(unused, reason = "reported")]));
        }
    }
}

//! Types that rustc refuses in any signature. Rustc would report several errors for such a type, or errors that do not
//! mention tools. So the macro reports one error, at the type.

use quote::quote;
use syn::{Error, FnArg, ReturnType, Type, parse_quote};

use super::tokens::{FoundToken, find_token, strip_groups};
use crate::errors::Errors;
use crate::item::Function;

/// Returns the reason why rustc refuses the type of a parameter or of the return value; `None` if this module knows no
/// reason.
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

/// Replaces each refused type by an error. The body is replaced too, because rustc would report more errors that follow
/// from the type.
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
            // The new body does not use the parameters, so the lint for unused parameters is switched off.
            function.attributes.push(parse_quote!(#[allow(unused, reason = "reported")]));
        }
    }
}

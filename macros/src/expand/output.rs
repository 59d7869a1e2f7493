//! Generates a check that a tool's return type contains no `Result` inside. Each step of the check opens one container.
//! There are as many steps as the written type has containers, and a few more, because aliases may hide containers.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{GenericArgument, PathArguments, Type};

use super::place;

/// The number of additional containers that aliases may hide from the macro.
const HIDDEN: usize = 3;

/// Generates an expression whose type says whether the return type contains a `Result` inside.
pub fn depth(returns: &TokenStream) -> TokenStream {
    let (mut steps, mut parts) = (HIDDEN, Vec::new());
    if let Ok(ty) = syn::parse2(returns.clone()) {
        steps += read(&ty, true, &mut parts);
    }
    let whole = open(quote!(__tw::Probe::<__TwOutput>::NEW.kind().sent()), steps);
    // The elements of a tuple are checked one by one.
    let parts = parts.iter().map(|part| {
        let part = open(quote!(__tw::SentValue::<#part>::NEW), steps);
        quote!(.and(#part))
    });
    place::inside(returns, quote!(#whole #(#parts)*))
}

fn open(sent: TokenStream, steps: usize) -> TokenStream {
    let steps = (0..steps).map(|_| quote!(.inside()));
    quote!(#sent #(#steps)* .depth())
}

/// Returns how deep containers are nested in a type, and collects the elements of its tuples. `is_outer` is true for
/// the return type itself, whose `Err` is an error and not part of the answer.
fn read(ty: &Type, is_outer: bool, parts: &mut Vec<Type>) -> usize {
    match ty {
        Type::Group(group) => read(&group.elem, is_outer, parts),
        Type::Paren(paren) => read(&paren.elem, is_outer, parts),
        Type::Array(array) => 1 + read(&array.elem, false, parts),
        Type::Slice(slice) => 1 + read(&slice.elem, false, parts),
        Type::Tuple(tuple) => {
            parts.extend(tuple.elems.iter().cloned());
            let depths = tuple.elems.iter().map(|element| read(element, false, parts));
            depths.max().unwrap_or_default()
        }
        Type::Path(path) => {
            let Some(last) = path.path.segments.last() else { return 0 };
            let PathArguments::AngleBracketed(list) = &last.arguments else { return 0 };
            let types = list.args.iter().filter_map(|argument| match argument {
                GenericArgument::Type(ty) => Some(ty),
                _ => None,
            });
            let sent = if is_outer && last.ident == "Result" { 1 } else { usize::MAX };
            let depths = types.take(sent).map(|ty| 1 + read(ty, false, parts));
            depths.max().unwrap_or_default()
        }
        _ => 0,
    }
}

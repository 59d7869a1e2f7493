//! What a type only lends: the `&str` of `Fn(&str) -> bool` is borrowed by whoever is called, and the `'a` of
//! `for<'a>` is the caller's. Neither is kept by a value of the type.

use proc_macro2::TokenStream;
use syn::{GenericArgument, Path, PathArguments, Type, TypeParamBound};

/// Takes out of a type what its functions take and give, and what stands under a `for<…>`.
pub fn take_out(ty: &mut Type) {
    match ty {
        Type::FnPtr(_) => *ty = Type::Verbatim(TokenStream::new()),
        Type::TraitObject(object) => {
            for bound in &mut object.bounds {
                if let TypeParamBound::Trait(bound) = bound {
                    let introduces = bound.lifetimes.take().is_some();
                    take_out_of_path(&mut bound.path, introduces);
                }
            }
        }
        Type::Path(path) => take_out_of_path(&mut path.path, false),
        Type::Tuple(tuple) => tuple.elems.iter_mut().for_each(take_out),
        Type::Array(array) => take_out(&mut array.elem),
        Type::Slice(slice) => take_out(&mut slice.elem),
        Type::Ptr(pointer) => take_out(&mut pointer.elem),
        Type::Reference(reference) => take_out(&mut reference.elem),
        Type::Paren(paren) => take_out(&mut paren.elem),
        Type::Group(group) => take_out(&mut group.elem),
        _ => {}
    }
}

fn take_out_of_path(path: &mut Path, introduces: bool) {
    for segment in &mut path.segments {
        match &mut segment.arguments {
            PathArguments::None => {}
            PathArguments::AngleBracketed(list) if !introduces => {
                for argument in &mut list.args {
                    match argument {
                        GenericArgument::Type(ty) => take_out(ty),
                        GenericArgument::AssocType(associated) => take_out(&mut associated.ty),
                        _ => {}
                    }
                }
            }
            lent => *lent = PathArguments::None,
        }
    }
}

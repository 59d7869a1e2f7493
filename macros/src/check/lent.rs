//! Distinguishes the lifetimes of data in a type from lifetimes that exist only during a call. In `Fn(&str) -> bool`
//! and in `for<'a> …` the caller chooses the lifetime, so no value of the type contains such a reference.

use proc_macro2::TokenStream;
use syn::{GenericArgument, Lifetime, Path, PathArguments, Type, TypeParamBound};

/// Returns the type under which a service is registered: `Tx<'static>` for `Tx<'_>`. Parameter types of functions
/// remain unchanged.
pub fn registered_type(ty: &Type) -> Type {
    let mut ty = ty.clone();
    name_elided(&mut ty);
    ty
}

fn name_elided(ty: &mut Type) {
    match ty {
        Type::TraitObject(object) => {
            for bound in &mut object.bounds {
                match bound {
                    TypeParamBound::Trait(bound) => name_elided_in(&mut bound.path),
                    TypeParamBound::Lifetime(lifetime) => name_lifetime(lifetime),
                    _ => {}
                }
            }
        }
        Type::Path(path) => {
            if let Some(of) = &mut path.qself {
                name_elided(&mut of.ty);
            }
            name_elided_in(&mut path.path);
        }
        Type::Tuple(tuple) => tuple.elems.iter_mut().for_each(name_elided),
        Type::Array(array) => name_elided(&mut array.elem),
        Type::Slice(slice) => name_elided(&mut slice.elem),
        Type::Ptr(pointer) => name_elided(&mut pointer.elem),
        Type::Reference(reference) => name_elided(&mut reference.elem),
        Type::Paren(paren) => name_elided(&mut paren.elem),
        Type::Group(group) => name_elided(&mut group.elem),
        _ => {}
    }
}

fn name_elided_in(path: &mut Path) {
    for segment in &mut path.segments {
        let PathArguments::AngleBracketed(list) = &mut segment.arguments else { continue };
        for argument in &mut list.args {
            match argument {
                GenericArgument::Lifetime(lifetime) => name_lifetime(lifetime),
                GenericArgument::Type(ty) => name_elided(ty),
                GenericArgument::AssocType(associated) => name_elided(&mut associated.ty),
                _ => {}
            }
        }
    }
}

fn name_lifetime(lifetime: &mut Lifetime) {
    if lifetime.ident == "_" {
        *lifetime = Lifetime::new("'static", lifetime.span());
    }
}

/// Removes from a type the parameters and results of functions, and everything in the scope of a `for<…>`.
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

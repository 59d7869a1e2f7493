//! Determines whether a type's attributes change its schema and its `Deserialize` in the same way. If they do, the type
//! accepts exactly the values of its schema, as long as the types of its fields do. Any other type is checked with
//! sample values at run time.

use proc_macro2::TokenStream;
use quote::quote;
use syn::punctuated::Punctuated;
use syn::{Attribute, Data, DeriveInput, Fields, Meta, Token, Type};

/// The serde keys that schemars interprets in the same way as serde.
const SERDE: &[&str] = &[
    "crate",
    "default",
    "deny_unknown_fields",
    "rename",
    "rename_all",
    "rename_all_fields",
    "skip_serializing_if",
];
/// The schemars keys that only describe a type, and do not change which values it accepts.
const SCHEMARS: &[&str] = &["crate", "description", "title"];
/// Attributes that affect neither serde nor schemars.
const OTHERS: &[&str] = &[
    "allow",
    "deprecated",
    "default",
    "derive",
    "deny",
    "doc",
    "expect",
    "must_use",
    "non_exhaustive",
    "warn",
];

/// Implements `KnownType` for a type whose attributes are all in the lists above. `types` are the types of its fields.
pub fn implementation(
    private: &TokenStream,
    item: &DeriveInput,
    types: &[&Type],
) -> Option<TokenStream> {
    if !item.generics.params.is_empty() || item.generics.where_clause.is_some() {
        return None;
    }
    let name = &item.ident;
    let inside = types.iter().map(|ty| quote!(__tw::Knowledge::<#ty>::is_known));
    Some(quote! {
        const _: () = {
            #[allow(unused_imports, reason = "found where a type is not known")]
            use #private::{self as __tw, UnknownType as _};
            #[automatically_derived]
            #[allow(deprecated, reason = "a deprecated type may still stand in a field")]
            impl __tw::KnownType for #name {
                fn is_known(__tw_visited: &mut __tw::VisitedTypes) -> __tw::bool {
                    __tw_visited.judge::<Self>(&[#(#inside),*])
                }
            }
        };
    })
}

/// Returns the types of all fields; `None` if an attribute is not in the lists above.
pub fn types(item: &DeriveInput) -> Option<Vec<&Type>> {
    let mut types = Vec::new();
    if !are_known(&item.attrs) {
        return None;
    }
    match &item.data {
        // Serde reads a tuple struct with one field as the type of the field, which may accept `null` itself. So tuple
        // structs are not known.
        Data::Struct(data) if matches!(data.fields, Fields::Named(_)) => {
            fields(&data.fields, &mut types)?;
        }
        Data::Enum(data) => {
            for variant in &data.variants {
                if !are_known(&variant.attrs) {
                    return None;
                }
                fields(&variant.fields, &mut types)?;
            }
        }
        _ => return None,
    }
    Some(types)
}

fn fields<'a>(fields: &'a Fields, types: &mut Vec<&'a Type>) -> Option<()> {
    for field in fields {
        if !are_known(&field.attrs) {
            return None;
        }
        types.push(&field.ty);
    }
    Some(())
}

fn are_known(attributes: &[Attribute]) -> bool {
    attributes.iter().all(|attribute| {
        let path = attribute.path();
        let is_one_of = |names: &[&str]| names.iter().any(|name| path.is_ident(name));
        if path.is_ident("serde") {
            says_only(attribute, SERDE)
        } else if path.is_ident("schemars") {
            says_only(attribute, SCHEMARS)
        } else {
            is_one_of(OTHERS)
        }
    })
}

/// Returns whether an attribute has only these keys. A key may have a value, but not a list: `rename(serialize = "a")`,
/// for instance, treats reading and writing differently.
fn says_only(attribute: &Attribute, keys: &[&str]) -> bool {
    let said = attribute.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated);
    said.is_ok_and(|said| {
        said.iter().all(|meta| {
            !matches!(meta, Meta::List(_)) && keys.iter().any(|key| meta.path().is_ident(key))
        })
    })
}

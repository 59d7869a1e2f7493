//! Refuses serde attributes that make a type read other values than its schema describes.

use syn::punctuated::Punctuated;
use syn::visit::{self, Visit};
use syn::{Attribute, DeriveInput, Error, Field, Meta, Token, Variant};

/// Refuses each attribute that makes serde read other JSON than the schema tells the model to write.
///
/// # Errors
///
/// All mistakes, each at its attribute.
pub fn check(item: &DeriveInput) -> syn::Result<()> {
    let mut found = RefusedField(None);
    found.visit_derive_input(item);
    found.0.map_or(Ok(()), Err)
}

struct RefusedField(Option<Error>);

impl RefusedField {
    fn look(&mut self, attributes: &[Attribute]) {
        let of = |name: &str| -> Vec<Meta> {
            let lists = attributes.iter().filter(|it| it.path().is_ident(name));
            let parse = Punctuated::<Meta, Token![,]>::parse_terminated;
            lists.filter_map(|it| it.parse_args_with(parse).ok()).flatten().collect()
        };
        let has_schema = of("schemars").iter().any(|it| it.path().is_ident("with"));
        for meta in of("serde") {
            let reads = ["with", "deserialize_with"].iter().any(|it| meta.path().is_ident(it));
            if !reads || has_schema {
                continue;
            }
            let message = "what this reads is not what the schema of the field's type says; add `#[schemars(with = \"T\")]` with the type `T` that has the schema of it, such as `String`";
            let error = Error::new_spanned(meta.path(), message);
            match &mut self.0 {
                Some(all) => all.combine(error),
                none => *none = Some(error),
            }
        }
    }
}

impl<'ast> Visit<'ast> for RefusedField {
    fn visit_field(&mut self, field: &'ast Field) {
        self.look(&field.attrs);
        visit::visit_field(self, field);
    }

    fn visit_variant(&mut self, variant: &'ast Variant) {
        self.look(&variant.attrs);
        visit::visit_variant(self, variant);
    }
}

//! The rules for an `impl` block as a whole. The tools of the block are checked one by one elsewhere.

use syn::spanned::Spanned;
use syn::{Attribute, GenericParam, Ident, ImplItem};

use crate::errors::Errors;
use crate::item::{self, Member, Methods, names_tool};
use crate::model::Tool;

/// Checks that the block has a concrete type and at least one tool, and that all tools are methods.
pub fn methods(methods: &Methods, errors: &mut Errors) {
    for parameter in &methods.generics.params {
        let message = match parameter {
            GenericParam::Lifetime(_) => {
                "a service whose methods are tools is registered for `'static`; drop the lifetime here and write `'_` in the type"
            }
            _ => "a service whose methods are tools cannot be generic; write a concrete type",
        };
        errors.over(parameter, message);
    }
    let mut tools = 0;
    for member in &methods.items {
        let attributes = match member {
            Member::Function(function) => &function.attributes,
            Member::Other(item) => item::attributes_of(item),
        };
        for attribute in attributes.iter().filter(|it| names_tool(it)) {
            tools += 1;
            if let Member::Other(_) = member {
                errors.at(attribute.path().span(), "a tool of an `impl` block is a method");
            }
        }
    }
    if tools == 0 {
        errors.over(
            &methods.self_type,
            "no method here is a tool; write `#[tool]` above those that are",
        );
    }
}

/// Removes a tool whose method occurs a second time in the block, because rustc would report the repetition three
/// times. Rustc itself reports repeated methods that have a `#[cfg]`.
pub fn take_repeated(methods: &mut Methods, errors: &mut Errors) {
    let mut seen: Vec<Ident> = Vec::new();
    methods.items.retain(|member| {
        let Member::Function(function) = member else { return true };
        if is_conditional(&function.attributes) {
            return true;
        }
        let name = &function.signature.ident;
        let repeated = seen.contains(name) && function.attributes.iter().any(names_tool);
        if repeated {
            errors
                .at(name.span(), format!("`{name}` is a method of this block already; rename one"));
        }
        seen.push(name.clone());
        !repeated
    });
}

/// Finds tools of a block that share a name or a handle, as far as the macro can know. Contains the names and constants
/// that are already used.
#[derive(Default)]
pub struct UserConstants {
    names: Vec<String>,
    constants: Vec<Ident>,
}

impl UserConstants {
    /// Collects the associated constants that the user declared.
    pub fn of(methods: &Methods) -> Self {
        let constants = methods.items.iter().filter_map(|member| match member {
            Member::Other(item) => match &**item {
                ImplItem::Const(constant) => Some(constant.ident.clone()),
                _ => None,
            },
            Member::Function(_) => None,
        });
        Self { names: Vec::new(), constants: constants.collect() }
    }

    /// Checks one more tool of the block. If its handle has the name of another constant of the block, marks the tool.
    pub fn add(&mut self, tool: &mut Tool, errors: &mut Errors) {
        let (name, handle) = (tool.name(), tool.handle());
        if self.constants.contains(&handle) {
            tool.handle_is_taken = true;
            let message = format!(
                "the handle `{handle}` collides with a constant of this block; give it another: `handle = NAME`"
            );
            errors.at(handle.span(), message);
        }
        if tool.conditions.is_empty() {
            if self.names.contains(&name) {
                let message =
                    format!("the name `{name}` is another tool's already; choose another");
                errors.at(tool.name_span(), message);
            }
            self.names.push(name);
            self.constants.push(handle);
        }
    }
}

fn is_conditional(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|it| it.path().is_ident("cfg") || it.path().is_ident("cfg_attr"))
}

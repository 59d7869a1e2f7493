//! The model of a tool. After mistakes, it contains only the correct parts.

use proc_macro2::{Ident, Span, TokenStream};
use syn::ext::IdentExt;
use syn::{Attribute, Type, Visibility};

use crate::args::{Approval, Danger, ParamArgs, ToolArgs};
use crate::docs::Docs;

/// One function with `#[tool]`.
pub struct Tool {
    pub function: Ident,
    pub visibility: Visibility,
    /// The type of `self`, if the tool is a method.
    pub self_type: Option<Type>,
    /// The `#[cfg]` attributes of a method. Rustc has not evaluated them yet.
    pub conditions: Vec<Attribute>,
    pub docs: Docs,
    pub returns: TokenStream,
    pub arguments: Vec<Argument>,
    pub args: ToolArgs,
    /// Whether another item already has the name of the tool's handle. The macro has then reported the collision.
    pub handle_is_taken: bool,
}

/// One parameter of the tool's function.
pub enum Argument {
    /// An owned parameter, whose value the model supplies.
    Input(Box<Param>),
    /// `&T`: a service, which the executor passes to the tool.
    Shared(Capability),
    /// `&mut T`: a resource, which is opened for the call and closed afterwards.
    Exclusive(Capability),
}

/// An input parameter, whose value the model supplies.
pub struct Param {
    pub ident: Ident,
    pub ty: Type,
    pub docs: Docs,
    /// The parameter's key in the input object.
    pub key: String,
    pub args: ParamArgs,
}

/// A service or resource that a tool may use besides its input.
pub struct Capability {
    /// The name of the parameter; `None` for `self`, which the expressions of options cannot use.
    pub ident: Option<Ident>,
    pub ty: Type,
}

impl Tool {
    /// Returns the name by which models call the tool.
    pub fn name(&self) -> String {
        match &self.args.name {
            Some(name) => name.value(),
            None => self.function.unraw().to_string(),
        }
    }

    pub fn name_span(&self) -> Span {
        self.args.name.as_ref().map_or_else(|| self.function.span(), |name| name.span())
    }

    /// Returns the name of the tool's handle, a constant with which the tool is registered explicitly.
    pub fn handle(&self) -> Ident {
        self.args.handle.clone().unwrap_or_else(|| {
            let name = self.function.unraw().to_string().to_uppercase();
            Ident::new(&name, self.function.span())
        })
    }

    pub fn inputs(&self) -> impl Iterator<Item = &Param> {
        self.arguments.iter().filter_map(|argument| match argument {
            Argument::Input(param) => Some(param.as_ref()),
            _ => None,
        })
    }

    /// Returns the `#[input]` parameter, which is the whole input.
    pub fn whole(&self) -> Option<&Param> {
        self.inputs().find(|param| param.args.whole.is_some())
    }

    /// Returns whether the attributes contain expressions that may use the tool's parameters.
    pub fn has_expressions(&self) -> bool {
        let touched = [&self.args.reads, &self.args.writes].into_iter().flatten();
        matches!(self.args.danger, Some(Danger::Expression(_)))
            || matches!(self.args.approval, Some(Approval::Expression(_)))
            || self.inputs().any(|param| param.args.fill.is_some())
            || touched.flat_map(|touches| &touches.entries).any(|touch| touch.resource.is_some())
    }
}

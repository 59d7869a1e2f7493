//! Gathers every mistake in an annotated item, so that they are all reported at once.

use proc_macro2::{Span, TokenStream};
use quote::ToTokens;

/// The mistakes found so far, each with the place it was made.
#[derive(Default)]
pub struct Errors(Vec<syn::Error>);

impl Errors {
    /// A mistake at one span: what was found, what was expected, what to do.
    pub fn at(&mut self, span: Span, message: impl std::fmt::Display) {
        self.0.push(syn::Error::new(span, message));
    }

    /// A mistake that covers the tokens of one node.
    pub fn over(&mut self, tokens: impl ToTokens, message: impl std::fmt::Display) {
        self.0.push(syn::Error::new_spanned(tokens, message));
    }

    pub fn push(&mut self, error: syn::Error) {
        self.0.push(error);
    }

    /// Keeps the value, or the mistake that stood in its place.
    pub fn keep<T>(&mut self, result: syn::Result<T>) -> Option<T> {
        result.map_err(|error| self.push(error)).ok()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All mistakes as one value, for a list that is itself an option.
    pub fn into_error(self) -> Option<syn::Error> {
        self.0.into_iter().reduce(|mut all, error| {
            all.combine(error);
            all
        })
    }

    /// One `compile_error!` for each mistake, in the order of discovery.
    pub fn into_compile_errors(self) -> TokenStream {
        self.0.iter().map(syn::Error::to_compile_error).collect()
    }
}

/// `; did you mean "…"?` when one of the choices is close to what was written.
pub fn did_you_mean(written: &str, choices: &[&str]) -> String {
    choices
        .iter()
        .map(|choice| (strsim::normalized_damerau_levenshtein(written, choice), choice))
        .filter(|(likeness, _)| *likeness >= 0.5)
        .max_by(|(one, _), (other, _)| one.total_cmp(other))
        .map(|(_, choice)| format!("; did you mean `{choice}`?"))
        .unwrap_or_default()
}

/// `a`, `b` or `c`, for the choices of a message.
pub fn one_of(choices: &[&str]) -> String {
    match choices {
        [] => String::new(),
        [only] => format!("`{only}`"),
        [first @ .., last] => {
            let first: Vec<_> = first.iter().map(|choice| format!("`{choice}`")).collect();
            format!("{} or `{last}`", first.join(", "))
        }
    }
}

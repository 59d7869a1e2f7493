//! Gathers every mistake in an annotated item, so that they are all reported at once.

use proc_macro2::{Span, TokenStream};
use quote::ToTokens;

/// The mistakes found so far, each with the place it was made.
#[derive(Default)]
pub struct Errors {
    found: Vec<syn::Error>,
    /// Whether some more stand in the item itself.
    some_in_place: bool,
}

impl Errors {
    /// Reports a mistake at one span: what was found, what was expected, what to do.
    pub fn at(&mut self, span: Span, message: impl std::fmt::Display) {
        self.found.push(syn::Error::new(span, message));
    }

    /// Reports a mistake that covers the tokens of one node.
    pub fn over(&mut self, tokens: impl ToTokens, message: impl std::fmt::Display) {
        self.found.push(syn::Error::new_spanned(tokens, message));
    }

    pub fn push(&mut self, error: syn::Error) {
        self.found.push(error);
    }

    /// Keeps the value, or the mistake that stood in its place.
    pub fn keep<T>(&mut self, result: syn::Result<T>) -> Option<T> {
        result.map_err(|error| self.push(error)).ok()
    }

    /// Makes code of a mistake, which the caller puts into the item in the place of what is mistaken.
    pub fn in_place(&mut self, error: &syn::Error) -> TokenStream {
        self.some_in_place = true;
        error.to_compile_error()
    }

    /// Reports whether nothing was reported, neither here nor in the item.
    pub fn is_empty(&self) -> bool {
        self.found.is_empty() && !self.some_in_place
    }

    /// Reports whether a mistake was written into the item itself, in place of the faulty part.
    pub fn has_some_in_place(&self) -> bool {
        self.some_in_place
    }

    /// Combines all mistakes to one value, for a list that is itself an option.
    pub fn into_error(self) -> Option<syn::Error> {
        self.found.into_iter().reduce(|mut all, error| {
            all.combine(error);
            all
        })
    }

    /// Makes one `compile_error!` for each mistake, in the order of discovery.
    pub fn into_compile_errors(self) -> impl Iterator<Item = TokenStream> {
        self.found.into_iter().flatten().map(|error| error.to_compile_error())
    }
}

/// `; did you mean "…"?` when one of the choices is close to what was written.
pub fn did_you_mean(written: &str, choices: &[&str]) -> String {
    choices
        .iter()
        .map(|choice| match written.len() > 2 && choice.starts_with(written) {
            true => (1.0, choice),
            false => (strsim::normalized_damerau_levenshtein(written, choice), choice),
        })
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

//! Collects all mistakes in an annotated item, so that they are reported together.

use proc_macro2::{Span, TokenStream};
use quote::ToTokens;

/// The mistakes that were found so far, each with its span.
#[derive(Default)]
pub struct Errors {
    found: Vec<syn::Error>,
    /// Whether other mistakes are reported by tokens that the macro wrote into the item itself.
    some_in_place: bool,
}

impl Errors {
    /// Reports a mistake at a span. The message says what was found, what was expected, and what to do.
    pub fn at(&mut self, span: Span, message: impl std::fmt::Display) {
        self.found.push(syn::Error::new(span, message));
    }

    /// Reports a mistake at the span of all `tokens`.
    pub fn over(&mut self, tokens: impl ToTokens, message: impl std::fmt::Display) {
        self.found.push(syn::Error::new_spanned(tokens, message));
    }

    pub fn push(&mut self, error: syn::Error) {
        self.found.push(error);
    }

    /// Returns the value of a result, or collects its error.
    pub fn keep<T>(&mut self, result: syn::Result<T>) -> Option<T> {
        result.map_err(|error| self.push(error)).ok()
    }

    /// Returns the code that reports a mistake. The caller puts the code into the item in place of the faulty part.
    pub fn in_place(&mut self, error: &syn::Error) -> TokenStream {
        self.some_in_place = true;
        error.to_compile_error()
    }

    /// Returns whether no mistake was found, neither in the list nor in the item itself.
    pub fn is_empty(&self) -> bool {
        self.found.is_empty() && !self.some_in_place
    }

    /// Returns whether a mistake was written into the item itself, in place of the faulty part.
    pub fn has_some_in_place(&self) -> bool {
        self.some_in_place
    }

    /// Combines all mistakes into one error.
    pub fn into_error(self) -> Option<syn::Error> {
        self.found.into_iter().reduce(|mut all, error| {
            all.combine(error);
            all
        })
    }

    /// Makes a `compile_error!` for each mistake, in the order in which they were found.
    pub fn into_compile_errors(self) -> impl Iterator<Item = TokenStream> {
        self.found.into_iter().flatten().map(|error| error.to_compile_error())
    }
}

/// Returns a text such as `; did you mean …?` with the choice that is most similar to `written`; empty if no choice is
/// similar.
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

/// Joins choices for a message, such as `a`, `b` or `c`.
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

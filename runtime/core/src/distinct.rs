//! Determines whether two parameters of a `preview` or `reconcile` function have different types. If their types are
//! equal, a path to the function does not show which parameter is which, and generated code reports an error.

use std::marker::PhantomData;

/// The types of two parameters.
pub struct Pair<A, B>(PhantomData<fn(A, B)>);

/// The result for two parameters of the same type, even if the type is written under two names.
pub struct Alike<T>(PhantomData<fn(T)>);

/// The result for two parameters of different types.
pub struct Apart;

impl<A, B> Pair<A, B> {
    pub const NEW: Self = Self(PhantomData);
}

impl<T> Pair<T, T> {
    pub fn judged(&self) -> Alike<T> {
        Alike(PhantomData)
    }
}

/// Implemented for all pairs. For a pair of equal types, rustc prefers the inherent method of [`Pair`].
pub trait Differs {
    fn judged(&self) -> Apart {
        Apart
    }
}

impl<A, B> Differs for Pair<A, B> {}

#[diagnostic::on_unimplemented(
    message = "a path hides the names of its parameters, and two parameters of the tool are of one type",
    label = "a person could be shown one for the other",
    note = "name them: `|one, other| …`"
)]
pub trait ToldApart: Sized {
    fn said(self) {}
}

#[diagnostic::do_not_recommend]
impl ToldApart for Apart {}

/// Returns a future unchanged. Generated code uses this function to name the type of the future's output, because a `?`
/// inside the future needs that type.
pub fn giving<T, F: Future<Output = T>>(future: F) -> F {
    future
}

//! Finds out whether two parameters of a `preview` or `reconcile` function differ in type. If not, a path to the
//! function would hide which is which.

use std::marker::PhantomData;

/// The types of two parameters.
pub struct Pair<A, B>(PhantomData<fn(A, B)>);

/// Two parameters of one type, even if they name the type differently.
pub struct Alike<T>(PhantomData<fn(T)>);

/// Proves that two parameters have different types.
pub struct Apart;

impl<A, B> Pair<A, B> {
    pub const NEW: Self = Self(PhantomData);
}

impl<T> Pair<T, T> {
    pub fn judged(&self) -> Alike<T> {
        Alike(PhantomData)
    }
}

/// Implemented for all pairs; for two equal types, rustc finds the inherent method above instead.
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

/// Returns a future unchanged, and names the type of its output, for the `?` inside it.
pub fn giving<T, F: Future<Output = T>>(future: F) -> F {
    future
}

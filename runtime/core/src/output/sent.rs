//! Refuses at compile time a value that a tool sends as JSON and that contains a `Result`, because the `Err` would look
//! like a success. The check follows the types, even behind an alias: each step looks inside one container.

#![expect(missing_docs, reason = "what has no docs here is hidden: generated code alone names it")]

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, HashSet, LinkedList, VecDeque};
use std::marker::PhantomData;
use std::rc::Rc;
use std::sync::{Arc, Mutex, RwLock};

/// A value that is sent as JSON. For the containers below, rustc finds an inherent method `inside`. For all other
/// types, it finds the method of [`NoContainer`].
pub struct SentValue<T: ?Sized>(PhantomData<T>);

impl<T: ?Sized> SentValue<T> {
    pub const NEW: Self = Self(PhantomData);

    /// Ends the check of a container that is nested deeper than generated code looks.
    pub fn depth(&self) -> Single {
        Single
    }
}

/// The result of the check for an output without a `Result` inside.
#[derive(Clone, Copy)]
pub struct Single;

/// The result of the check for an output with a `Result` inside.
#[derive(Clone, Copy)]
pub struct NestedResult;

impl Single {
    pub fn inside(&self) -> Self {
        Self
    }

    pub fn depth(&self) -> Self {
        Self
    }

    /// Combines the checks of two parts of a type. The combination is [`NestedResult`] if one of the parts is.
    pub fn and<D>(self, other: D) -> D {
        other
    }
}

impl NestedResult {
    pub fn inside(&self) -> Self {
        Self
    }

    pub fn depth(&self) -> Self {
        Self
    }

    pub fn and<D>(self, _: D) -> Self {
        self
    }
}

impl<T, E> SentValue<Result<T, E>> {
    pub fn inside(&self) -> NestedResult {
        NestedResult
    }
}

/// Implemented for all types. For the containers below, rustc prefers the inherent methods.
pub trait NoContainer {
    fn inside(&self) -> Single {
        Single
    }
}

impl<T: ?Sized> NoContainer for SentValue<T> {}

macro_rules! containers {
    ($([$($generics:tt)*] $container:ty => $content:ty;)*) => {
        $(impl<$($generics)*> SentValue<$container> {
            pub fn inside(&self) -> SentValue<$content> {
                SentValue::NEW
            }
        })*
    };
}

containers! {
    [T] Option<T> => T;
    [T: ?Sized] Box<T> => T;
    [T: ?Sized] Rc<T> => T;
    [T: ?Sized] Arc<T> => T;
    [T: ?Sized + ToOwned] Cow<'_, T> => T;
    [T] Vec<T> => T;
    [T] [T] => T;
    [T, const N: usize] [T; N] => T;
    [T] VecDeque<T> => T;
    [T] LinkedList<T> => T;
    [T] BinaryHeap<T> => T;
    [T] BTreeSet<T> => T;
    [T, S] HashSet<T, S> => T;
    [K, V] BTreeMap<K, V> => V;
    [K, V, S] HashMap<K, V, S> => V;
    [T] Cell<T> => T;
    [T] RefCell<T> => T;
    [T] Mutex<T> => T;
    [T] RwLock<T> => T;
}

/// Implemented only for [`Single`], so that rustc refuses an output with a `Result` inside.
#[diagnostic::on_unimplemented(
    message = "a `Result` inside another type cannot be the output of a tool",
    label = "the inner `Err` would look like a success",
    note = "return one `Result`: `inner?` in the body, `option.transpose()?`, or `list.into_iter().collect::<Result<Vec<_>, _>>()?`; where some may fail, say so in a type of your own"
)]
pub trait OneResult: Sized {
    fn said(self) {}
}

impl OneResult for Single {}

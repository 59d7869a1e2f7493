//! Determines at compile time whether a value that a tool sends as JSON contains a `Result`, whose `Err` would look
//! like a success. The check follows the types, even behind an alias: each step opens one container, and rustc
//! refuses a `Result` inside.

#![expect(missing_docs, reason = "what has no docs here is hidden: generated code alone names it")]

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, HashSet, LinkedList, VecDeque};
use std::marker::PhantomData;
use std::rc::Rc;
use std::sync::{Arc, Mutex, RwLock};

/// A value that is sent as JSON. For containers, its own method `inside` applies; for all other types, the trait's
/// method does.
pub struct SentValue<T: ?Sized>(PhantomData<T>);

impl<T: ?Sized> SentValue<T> {
    pub const NEW: Self = Self(PhantomData);

    /// Answers for a container that is nested deeper than generated code checks.
    pub fn depth(&self) -> Single {
        Single
    }
}

/// An output without a `Result` inside.
#[derive(Clone, Copy)]
pub struct Single;

/// An output with a `Result` inside.
#[derive(Clone, Copy)]
pub struct NestedResult;

impl Single {
    pub fn inside(&self) -> Self {
        Self
    }

    pub fn depth(&self) -> Self {
        Self
    }

    /// Combines this part of a type with the next one: the result reports a `Result` in either.
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

/// Implemented for all types; rustc finds the inherent methods for the containers below.
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

/// Refuses a `Result` inside the sent value: its `Err` would be part of a success.
#[diagnostic::on_unimplemented(
    message = "a `Result` inside another type cannot be the output of a tool",
    label = "the inner `Err` would look like a success",
    note = "return one `Result`: `inner?` in the body, `option.transpose()?`, or `list.into_iter().collect::<Result<Vec<_>, _>>()?`; where some may fail, say so in a type of your own"
)]
pub trait OneResult: Sized {
    fn said(self) {}
}

impl OneResult for Single {}

//! Macros for stores that wrap another store: they forward methods to the wrapped store.

use std::pin::Pin;

/// The future that the methods of a [`Store`](super::Store) return. It is the same type as
/// [`BoxFuture`](futures::future::BoxFuture).
pub type StoreFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Implements all methods of a [`Store`](crate::journal::Store) except `commit`, `renew` and `acknowledge`, by calling
/// them on the store in a field. Use it for a store that changes only what happens on a write, for example one that
/// counts writes.
///
/// ```
/// use toolwright::journal::{CommitError, MemoryStore, Store, Transaction};
/// use toolwright::unstable::journal::StoreFuture;
/// use jiff::Timestamp;
/// use toolwright::CallId;
///
/// /// A store that refuses every write.
/// struct ReadOnly {
///     inner: MemoryStore,
/// }
///
/// fn no() -> CommitError {
///     toolwright::journal::StoreError::invalid("the journal is only looked at here").into()
/// }
///
/// impl Store for ReadOnly {
///     fn commit<'a>(&'a self, _: Transaction, _: Timestamp) -> StoreFuture<'a, Result<(), CommitError>> {
///         Box::pin(async { Err(no()) })
///     }
///
///     fn renew<'a>(&'a self, _: CallId, _: u64, _: Timestamp) -> StoreFuture<'a, Result<(), CommitError>> {
///         Box::pin(async { Err(no()) })
///     }
///
///     fn acknowledge<'a>(&'a self, _: CallId) -> StoreFuture<'a, Result<(), CommitError>> {
///         Box::pin(async { Err(no()) })
///     }
///
///     toolwright::pass_on_questions!(inner);
/// }
/// ```
#[macro_export]
macro_rules! pass_on_questions {
    ($inner:ident) => {
        fn get<'a>(
            &'a self,
            call: $crate::CallId,
        ) -> $crate::journal::StoreFuture<
            'a,
            Result<Option<$crate::journal::CallRecord>, $crate::journal::StoreError>,
        > {
            self.$inner.get(call)
        }

        fn at<'a>(
            &'a self,
            place: &'a $crate::journal::CallSlot,
        ) -> $crate::journal::StoreFuture<
            'a,
            Result<Option<$crate::journal::CallRecord>, $crate::journal::StoreError>,
        > {
            self.$inner.at(place)
        }

        fn list<'a>(
            &'a self,
            filter: &'a $crate::journal::Filter,
            page: $crate::journal::Page,
        ) -> $crate::journal::StoreFuture<
            'a,
            Result<
                $crate::journal::CallPage<$crate::journal::CallRecord>,
                $crate::journal::StoreError,
            >,
        > {
            self.$inner.list(filter, page)
        }

        fn summaries<'a>(
            &'a self,
            filter: &'a $crate::journal::Filter,
            page: $crate::journal::Page,
        ) -> $crate::journal::StoreFuture<
            'a,
            Result<
                $crate::journal::CallPage<$crate::journal::CallSummary>,
                $crate::journal::StoreError,
            >,
        > {
            self.$inner.summaries(filter, page)
        }

        fn history<'a>(
            &'a self,
            call: $crate::CallId,
        ) -> $crate::journal::StoreFuture<
            'a,
            Result<Vec<$crate::journal::Entry>, $crate::journal::StoreError>,
        > {
            self.$inner.history(call)
        }

        fn document<'a>(
            &'a self,
            key: &'a str,
        ) -> $crate::journal::StoreFuture<
            'a,
            Result<Option<$crate::journal::Document>, $crate::journal::StoreError>,
        > {
            self.$inner.document(key)
        }

        fn documents<'a>(
            &'a self,
            prefix: &'a str,
        ) -> $crate::journal::StoreFuture<
            'a,
            Result<Vec<$crate::journal::Document>, $crate::journal::StoreError>,
        > {
            self.$inner.documents(prefix)
        }

        fn id<'a>(
            &'a self,
        ) -> $crate::journal::StoreFuture<
            'a,
            Result<::std::string::String, $crate::journal::StoreError>,
        > {
            self.$inner.id()
        }

        fn changed(&self) -> $crate::journal::StoreFuture<'_, ()> {
            self.$inner.changed()
        }

        fn file(&self) -> Option<&::std::path::Path> {
            self.$inner.file()
        }

        fn is_durable(&self) -> bool {
            self.$inner.is_durable()
        }
    };
}

/// Implements `renew` and `acknowledge` of a [`Store`](crate::journal::Store) by calling them on the store in a field.
/// Use it with [`pass_on_questions`](crate::pass_on_questions), for a store that changes only `commit`.
///
/// ```
/// use toolwright::journal::{CommitError, MemoryStore, Store, Transaction};
/// use toolwright::unstable::journal::StoreFuture;
/// use jiff::Timestamp;
/// use toolwright::CallId;
///
/// /// A store that prints the time of each commit.
/// struct Loud {
///     inner: MemoryStore,
/// }
///
/// impl Store for Loud {
///     fn commit<'a>(&'a self, unit: Transaction, now: Timestamp) -> StoreFuture<'a, Result<(), CommitError>> {
///         println!("commits at {now}");
///         self.inner.commit(unit, now)
///     }
///
///     toolwright::pass_on_leases!(inner);
///     toolwright::pass_on_questions!(inner);
/// }
/// ```
#[macro_export]
macro_rules! pass_on_leases {
    ($inner:ident) => {
        fn renew<'a>(
            &'a self,
            call: $crate::CallId,
            epoch: u64,
            until: $crate::journal::Timestamp,
        ) -> $crate::journal::StoreFuture<'a, Result<(), $crate::journal::CommitError>> {
            self.$inner.renew(call, epoch, until)
        }

        fn acknowledge<'a>(
            &'a self,
            call: $crate::CallId,
        ) -> $crate::journal::StoreFuture<'a, Result<(), $crate::journal::CommitError>> {
            self.$inner.acknowledge(call)
        }
    };
}

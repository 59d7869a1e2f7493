//! Futures that are made on the heap, so that calls which make calls do not use up the stack of their thread.

use std::pin::Pin;

/// Makes a future in a frame of its own and returns it boxed.
///
/// `Box::pin(future())` makes it in the caller's frame. A build without optimisation reserves room for it there while
/// the future runs, in each call of a nested one: a recorded call took 400 KiB of stack, and the fourth nested call
/// overflowed the 2 MiB of a worker's thread.
#[inline(never)]
pub(crate) fn on_heap<F: Future>(make: impl FnOnce() -> F) -> Pin<Box<F>> {
    Box::pin(make())
}

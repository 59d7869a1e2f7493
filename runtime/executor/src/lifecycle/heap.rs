//! Makes futures on the heap, so that nested calls do not use up the stack of their thread.

use std::pin::Pin;

/// Makes a future in a frame of its own and returns it boxed.
///
/// `Box::pin(future())` would make the future in the frame of the caller. A build without optimisation then reserves
/// stack for it as long as the future runs, at every level of nested calls: a recorded call took 400 KiB of stack, and
/// the fourth nested call overflowed the 2 MiB stack of a worker thread.
#[inline(never)]
pub(crate) fn on_heap<F: Future>(make: impl FnOnce() -> F) -> Pin<Box<F>> {
    Box::pin(make())
}

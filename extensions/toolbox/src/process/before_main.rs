//! Starts the supervisor before `main`: a process that was started as a supervisor never runs the application's own
//! code.
//!
//! The system's loader calls the functions of the section `.init_array` before it calls `main`. This function reads the
//! arguments of the process, and returns at once unless the first one says that this process is a supervisor.
//!
//! The function runs before Rust's start-up code, and does not depend on it. The arguments come from the system, and
//! threads and processes need no preparation. The start-up code would also make the process ignore the signal for a
//! write to a closed socket. The supervisor instead writes to its socket in a way that raises no signal.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;
use std::sync::atomic::{AtomicBool, Ordering};

use super::supervisor::supervise_if_asked;

/// Whether the loader has already called the function, so that `main` need not call it.
static HAS_LOOKED: AtomicBool = AtomicBool::new(false);

#[expect(
    unsafe_code,
    reason = "the loader calls the functions in this section; this one has the required signature"
)]
#[used]
#[unsafe(link_section = ".init_array")]
static BEFORE_MAIN: extern "C" fn() = look;

extern "C" fn look() {
    HAS_LOOKED.store(true, Ordering::Relaxed);
    supervise_if_asked(arguments());
}

/// Returns whether this process has been checked before `main` and is not a supervisor.
pub(super) fn has_looked() -> bool {
    HAS_LOOKED.load(Ordering::Relaxed)
}

/// Returns the arguments of this process as the operating system reports them: before `main`, Rust's standard library
/// has them only with some C libraries.
fn arguments() -> impl Iterator<Item = OsString> {
    let all = std::fs::read("/proc/self/cmdline").unwrap_or_default();
    let all: Vec<OsString> =
        all.split(|it| *it == 0).map(|it| OsString::from_vec(it.to_vec())).collect();
    // Each argument ends with a NUL character, so the last part after splitting is empty.
    let count = all.len().saturating_sub(1);
    all.into_iter().take(count)
}

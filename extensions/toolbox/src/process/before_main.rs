//! Supervises before `main`: a process that was started as a supervisor never reaches the program's own code.
//!
//! The system's loader calls the functions of the section `.init_array` before it calls `main`. This function reads the
//! arguments of the process, and returns at once unless the first one says that this process is a supervisor. It needs nothing
//! that Rust's start-up code prepares: arguments come from the system, threads and processes need no preparation, and it
//! writes to the socket in a way that raises no signal if the socket is closed; that signal is otherwise ignored only by the
//! start-up code.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;
use std::sync::atomic::{AtomicBool, Ordering};

use super::supervisor::supervise_if_asked;

/// Whether the loader has called the function, so that `main` need not do it.
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

/// Whether code that ran before `main` has found that this process is no supervisor.
pub(super) fn has_looked() -> bool {
    HAS_LOOKED.load(Ordering::Relaxed)
}

/// Returns the arguments of this process, from the system: before `main`, Rust has them only with some C libraries.
fn arguments() -> impl Iterator<Item = OsString> {
    let all = std::fs::read("/proc/self/cmdline").unwrap_or_default();
    let all: Vec<OsString> =
        all.split(|it| *it == 0).map(|it| OsString::from_vec(it.to_vec())).collect();
    // Each argument ends with a NUL character, so the last part is empty.
    let count = all.len().saturating_sub(1);
    all.into_iter().take(count)
}

//! Supervises before `main`: a process that was started as a supervisor never gets to the program's own code.
//!
//! The system's loader calls the functions of the section `.init_array` before it calls `main`. The one here reads the
//! arguments of the process, and returns at once unless the first says that this process supervises. Nothing that it uses is
//! prepared by Rust's own start: arguments come from the system, threads and processes need no preparation, and writes to a
//! closed socket raise no signal, which the start would have switched off.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;
use std::sync::atomic::{AtomicBool, Ordering};

use super::supervisor::supervise_if_asked;

/// Whether the loader of this system has called the function, so that nothing need be done in `main`.
static HAS_LOOKED: AtomicBool = AtomicBool::new(false);

#[expect(
    unsafe_code,
    reason = "the loader calls what is in this section, which has to be functions of this form: this is one"
)]
#[used]
#[unsafe(link_section = ".init_array")]
static BEFORE_MAIN: extern "C" fn() = look;

extern "C" fn look() {
    HAS_LOOKED.store(true, Ordering::Relaxed);
    supervise_if_asked(arguments());
}

/// Whether this process is known to be no supervisor.
pub(super) fn has_looked() -> bool {
    HAS_LOOKED.load(Ordering::Relaxed)
}

/// The arguments of this process as the system has them: before `main`, Rust knows them only with some libraries of C.
fn arguments() -> impl Iterator<Item = OsString> {
    let all = std::fs::read("/proc/self/cmdline").unwrap_or_default();
    let all: Vec<OsString> =
        all.split(|it| *it == 0).map(|it| OsString::from_vec(it.to_vec())).collect();
    // Each argument ends with a NUL character, so that nothing follows the last.
    let count = all.len().saturating_sub(1);
    all.into_iter().take(count)
}

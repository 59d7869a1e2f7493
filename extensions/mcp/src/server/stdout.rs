//! Reserves standard output for the protocol: all other text that the program prints goes to standard error.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd as _, OwnedFd};

/// The real standard output, which is restored when this value is dropped.
pub(super) struct RealStdout(OwnedFd);

impl RealStdout {
    pub(super) fn take() -> io::Result<Self> {
        let output = io::stdout().as_fd().try_clone_to_owned()?;
        rustix::stdio::dup2_stdout(io::stderr().as_fd())?;
        Ok(Self(output))
    }

    pub(super) fn writer(&self) -> io::Result<tokio::fs::File> {
        Ok(tokio::fs::File::from_std(File::from(self.0.try_clone()?)))
    }
}

impl Drop for RealStdout {
    fn drop(&mut self) {
        if let Err(error) = rustix::stdio::dup2_stdout(&self.0) {
            eprintln!("standard output could not be restored: {error}");
        }
    }
}

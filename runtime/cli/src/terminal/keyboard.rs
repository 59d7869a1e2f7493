//! The keyboard of this process's terminal.
//!
//! - It is read directly: lines that the application has read ahead answer no question.
//! - What was typed before a question is discarded, until no key was typed for a moment. Meanwhile the terminal hands
//!   over each character as it is typed, because a line that is not complete would not be seen otherwise.

use std::io::{self, Read, Stdin};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, retry_on_intr};
use rustix::termios::{
    LocalModes, OptionalActions, QueueSelector, SpecialCodeIndex, Termios, tcflush, tcgetattr,
    tcsetattr,
};

/// For how long no key may have been typed.
const QUIET: Duration = Duration::from_millis(500);

/// Standard input, past the buffer that the rest of the process reads it by.
pub struct Keyboard(Stdin);

/// The mode of the terminal, which is changed for one question while no key may be typed.
#[derive(Clone, Default)]
pub(super) struct Typing(Arc<Mutex<Option<Termios>>>);

/// Gives the terminal its mode back.
pub(super) struct RestoreMode(Typing);

impl Keyboard {
    pub(super) fn new() -> Self {
        Self(io::stdin())
    }
}

impl Read for Keyboard {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        Ok(retry_on_intr(|| rustix::io::read(&self.0, &mut *buffer))?)
    }
}

impl Typing {
    #[expect(clippy::unnecessary_wraps, reason = "elsewhere there is none")]
    pub(super) fn here() -> Option<Self> {
        Some(Self::default())
    }

    /// Gives the terminal its mode back when the value is dropped, also where another part of the program has changed it.
    pub(super) fn restore_at_end(&self) -> RestoreMode {
        RestoreMode(self.clone())
    }

    /// Discards what was typed, until no key is typed any more. Returns whether there was anything.
    pub(super) fn settle(&self, is_over: impl Fn() -> bool) -> io::Result<bool> {
        let _restored = self.restore_at_end();
        self.take_each_key(&is_over)?;
        let mut discarded = is_typed(Duration::ZERO)?;
        while !is_over() {
            tcflush(io::stdin(), QueueSelector::IFlush)?;
            if !is_typed(QUIET)? {
                return Ok(discarded);
            }
            discarded = true;
        }
        Err(over())
    }

    /// Has the terminal hand over each key, unless the question is over. Looked at under the lock: who gives the question up
    /// restores the mode after that, or finds nothing to restore.
    fn take_each_key(&self, is_over: impl Fn() -> bool) -> io::Result<()> {
        let mut saved = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if is_over() {
            return Err(over());
        }
        let before = tcgetattr(io::stdin())?;
        let mut each_key = before.clone();
        each_key.local_modes.remove(LocalModes::ICANON);
        each_key.special_codes[SpecialCodeIndex::VMIN] = 1;
        each_key.special_codes[SpecialCodeIndex::VTIME] = 0;
        tcsetattr(io::stdin(), OptionalActions::Now, &each_key)?;
        *saved = Some(before);
        Ok(())
    }
}

impl Drop for RestoreMode {
    fn drop(&mut self) {
        let Typing(saved) = &self.0;
        let saved = saved.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(mode) = saved {
            // A terminal that is gone has no mode. What was typed until now goes with the mode in which it was typed.
            let _ = tcsetattr(io::stdin(), OptionalActions::Flush, &mode);
        }
    }
}

fn over() -> io::Error {
    io::Error::other("the question was over before it could be answered")
}

/// Whether something is typed within this time.
fn is_typed(time: Duration) -> io::Result<bool> {
    let stdin = io::stdin();
    let mut watched = [PollFd::new(&stdin, PollFlags::IN)];
    let time = Timespec::try_from(time).map_err(io::Error::other)?;
    let seen = match poll(&mut watched, Some(&time)) {
        // A signal that the application handles: as if a key had been typed.
        Err(Errno::INTR) => return Ok(true),
        other => other?,
    };
    if watched[0].revents().intersects(PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL) {
        return Err(io::Error::other("it was closed"));
    }
    Ok(seen > 0)
}

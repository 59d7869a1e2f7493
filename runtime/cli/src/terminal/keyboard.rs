//! The keyboard of this process's terminal.
//!
//! - Keys are read directly from standard input, so that lines which the application has read ahead do not answer a
//!   question.
//! - Text typed before a question is discarded, until no key has been typed for a moment. Meanwhile the terminal passes
//!   on each character as it is typed, because an incomplete line would not be noticed otherwise.

use std::io::{self, Read, Stdin};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, retry_on_intr};
use rustix::termios::{
    LocalModes, OptionalActions, QueueSelector, SpecialCodeIndex, Termios, tcflush, tcgetattr,
    tcsetattr,
};

/// The pause in typing after which the prompt appears.
const QUIET: Duration = Duration::from_millis(500);

/// Standard input, without the buffer that the rest of the process uses.
pub struct Keyboard(Stdin);

/// The mode that the terminal had before a question changed it.
#[derive(Clone, Default)]
pub(super) struct Typing(Arc<Mutex<Option<Termios>>>);

/// Restores the mode of the terminal when this value is dropped.
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

    /// Restores the mode of the terminal when the returned value is dropped, even if another part of the program has
    /// changed it.
    pub(super) fn restore_at_end(&self) -> RestoreMode {
        RestoreMode(self.clone())
    }

    /// Discards the keys that are typed, until none is typed any more. Returns whether any key was discarded.
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

    /// Makes the terminal pass on each key, unless the question is over. The check and the change are made under one
    /// lock. So the end of the question either comes later and restores the mode, or comes earlier, and then nothing is
    /// changed here.
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
            // The error is ignored, because a terminal that is closed has no mode. The flush discards the keys that
            // were typed so far.
            let _ = tcsetattr(io::stdin(), OptionalActions::Flush, &mode);
        }
    }
}

fn over() -> io::Error {
    io::Error::other("the question was over before it could be answered")
}

/// Whether a person types a key within this time.
fn is_typed(time: Duration) -> io::Result<bool> {
    let stdin = io::stdin();
    let mut watched = [PollFd::new(&stdin, PollFlags::IN)];
    let time = Timespec::try_from(time).map_err(io::Error::other)?;
    let seen = match poll(&mut watched, Some(&time)) {
        // A signal that the application handles counts as a key.
        Err(Errno::INTR) => return Ok(true),
        other => other?,
    };
    if watched[0].revents().intersects(PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL) {
        return Err(io::Error::other("it was closed"));
    }
    Ok(seen > 0)
}

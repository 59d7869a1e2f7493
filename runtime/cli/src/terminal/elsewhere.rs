//! Standard input on systems where typed text cannot be discarded. There, each answer must repeat the code of its
//! question.

use std::io::{self, Read, Stdin};

/// Standard input, read line by line.
pub struct Keyboard(Stdin);

/// A type without values, because terminals of this system cannot be switched to single keys.
#[derive(Clone)]
pub(super) enum Typing {}

impl Keyboard {
    pub(super) fn new() -> Self {
        Self(io::stdin())
    }
}

impl Read for Keyboard {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer)
    }
}

impl Typing {
    pub(super) fn here() -> Option<Self> {
        None
    }

    pub(super) fn restore_at_end(&self) {
        match *self {}
    }

    pub(super) fn settle(&self, _: impl Fn() -> bool) -> io::Result<bool> {
        match *self {}
    }
}

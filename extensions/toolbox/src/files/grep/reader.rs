//! Reads a file until its end or until the call is cancelled.

use std::io::{self, Read};

use toolwright::ToolContext;

/// A file that fails to be read once the call is cancelled, because a file to which a program appends may have no end.
pub(super) struct CancellableReader {
    pub(super) context: ToolContext,
    pub(super) file: Box<dyn Read + Send>,
}

impl Read for CancellableReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.context.is_cancelled() {
            true => Err(io::Error::other("the call was cancelled")),
            false => self.file.read(buffer),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_without_an_end_is_read_until_the_call_is_cancelled() {
        let context = ToolContext::test();
        let file = Box::new(io::repeat(b'a'));
        let mut reader = CancellableReader { context: context.clone(), file };
        reader.read_exact(&mut [0; 100]).expect("it is not cancelled");
        context.ended().cancel();
        reader.read_to_end(&mut Vec::new()).expect_err("it is cancelled");
    }
}

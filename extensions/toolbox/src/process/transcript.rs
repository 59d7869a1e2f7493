//! What a program prints, as far as it is shown: its beginning and its end, in the order in which lines arrive; pure.

use std::collections::VecDeque;

/// So much of the beginning is shown, and as much of the end, in bytes.
pub(super) const SHOWN: usize = 15_000;

/// A line is held back until it ends, up to so many bytes, so that the two streams do not mix within one.
const LONGEST_HELD_BACK: usize = 8 * 1024;

/// Which stream something came from.
#[derive(Debug, Clone, Copy)]
pub(super) enum Stream {
    Output,
    Errors,
}

#[derive(Debug, Default)]
pub(super) struct Transcript {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    /// How many bytes stood between them.
    left_out: usize,
    /// The line of each stream that has not ended.
    lines: [Vec<u8>; 2],
}

impl Transcript {
    pub(super) fn push(&mut self, stream: Stream, bytes: &[u8]) {
        let line = &mut self.lines[stream as usize];
        line.extend_from_slice(bytes);
        let whole = line.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        let rest = line.split_off(whole);
        let mut ready = std::mem::replace(line, rest);
        if line.len() > LONGEST_HELD_BACK {
            ready.append(line);
        }
        self.take(&ready);
    }

    /// The text; where something was left out, it says how much.
    pub(super) fn finish(mut self) -> String {
        for line in std::mem::take(&mut self.lines) {
            self.take(&line);
        }
        let (mut head, tail) = (self.head, Vec::from(self.tail));
        if self.left_out == 0 {
            head.extend(tail);
            return String::from_utf8_lossy(&head).into_owned();
        }
        // Both parts end at the ends of lines where there are any.
        let end = head.iter().rposition(|byte| *byte == b'\n').map_or(head.len(), |end| end + 1);
        let start = tail.iter().position(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        let start = if start == tail.len() { 0 } else { start };
        let left_out = self.left_out + (head.len() - end) + start;
        let head = String::from_utf8_lossy(&head[..end]);
        let tail = String::from_utf8_lossy(&tail[start..]);
        let line_end = if head.ends_with('\n') { "" } else { "\n" };
        format!("{head}{line_end}[… {left_out} bytes left out …]\n{tail}")
    }

    fn take(&mut self, bytes: &[u8]) {
        let (head, rest) = bytes.split_at(bytes.len().min(SHOWN - self.head.len()));
        self.head.extend_from_slice(head);
        self.tail.extend(rest);
        let more = self.tail.len().saturating_sub(SHOWN);
        self.tail.drain(..more);
        self.left_out += more;
    }
}

//! Collects the output of a program for display: its beginning and its end, with lines in the order of arrival. Pure.

use std::collections::VecDeque;

/// How many bytes of the beginning are shown, and also how many bytes of the end.
pub(super) const SHOWN: usize = 15_000;

/// The most bytes of an unfinished line that are held back until the line ends, so that the two streams do not mix
/// within a line.
const LONGEST_HELD_BACK: usize = 8 * 1024;

/// The stream from which a piece of output comes.
#[derive(Debug, Clone, Copy)]
pub(super) enum Stream {
    Output,
    Errors,
}

#[derive(Debug, Default)]
pub(super) struct Transcript {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    /// How many bytes between head and tail were dropped.
    left_out: usize,
    /// The last line of each stream, as long as it is not finished.
    lines: [Vec<u8>; 2],
    /// Whether the lines of standard error are marked.
    marks: bool,
    /// Whether the last output was an unfinished line of standard error, which already has its mark.
    within: bool,
}

/// The mark before a line of standard error.
pub(super) const MARK: &str = "[stderr] ";

impl Transcript {
    /// Makes a transcript that marks the lines of standard error.
    pub(super) fn marking() -> Self {
        Self { marks: true, ..Self::default() }
    }

    pub(super) fn push(&mut self, stream: Stream, bytes: &[u8]) {
        let line = &mut self.lines[stream as usize];
        line.extend_from_slice(bytes);
        let whole = line.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        let rest = line.split_off(whole);
        let mut ready = std::mem::replace(line, rest);
        if line.len() > LONGEST_HELD_BACK {
            ready.append(line);
        }
        self.add(stream, &ready);
    }

    /// Returns the text, with a note of how many bytes were left out.
    pub(super) fn finish(mut self) -> String {
        let [output, errors] = std::mem::take(&mut self.lines);
        self.add(Stream::Output, &output);
        self.add(Stream::Errors, &errors);
        let (mut head, tail) = (self.head, Vec::from(self.tail));
        if self.left_out == 0 {
            head.extend(tail);
            return String::from_utf8_lossy(&head).into_owned();
        }
        // Cut both parts at line ends, if they contain any.
        let end = head.iter().rposition(|byte| *byte == b'\n').map_or(head.len(), |end| end + 1);
        let start = tail.iter().position(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        let start = if start == tail.len() { 0 } else { start };
        let left_out = self.left_out + (head.len() - end) + start;
        let head = String::from_utf8_lossy(&head[..end]);
        let tail = String::from_utf8_lossy(&tail[start..]);
        let line_end = if head.ends_with('\n') { "" } else { "\n" };
        format!("{head}{line_end}[… {left_out} bytes left out …]\n{tail}")
    }

    fn add(&mut self, stream: Stream, bytes: &[u8]) {
        if self.marks && matches!(stream, Stream::Errors) {
            for line in bytes.split_inclusive(|byte| *byte == b'\n') {
                if !std::mem::replace(&mut self.within, !line.ends_with(b"\n")) {
                    self.take(MARK.as_bytes());
                }
                self.take(line);
            }
            return;
        }
        self.take(bytes);
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn transcript(chunks: &[(bool, String)]) -> String {
        let mut transcript = Transcript::default();
        for (errors, chunk) in chunks {
            let stream = if *errors { Stream::Errors } else { Stream::Output };
            transcript.push(stream, chunk.as_bytes());
        }
        transcript.finish()
    }

    proptest! {
        // A case of the second is long.
        #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

        #[test]
        fn what_is_short_is_shown_whole_and_each_stream_in_its_order(
            chunks in prop::collection::vec((any::<bool>(), "[oü\n]{0,5}"), 0..20),
        ) {
            // The letter of a line says on which stream it was written.
            let chunks: Vec<(bool, String)> = chunks
                .into_iter()
                .map(|(errors, text)| (errors, if errors { text.replace('o', "e") } else { text }))
                .collect();
            let shown = transcript(&chunks);
            for stream in [false, true] {
                let of_stream = chunks.iter().filter(|(errors, _)| *errors == stream);
                let written: String = of_stream.map(|(_, text)| text.as_str()).collect();
                let letter = if stream { 'e' } else { 'o' };
                prop_assert_eq!(shown.matches(letter).count(), written.matches(letter).count());
            }
            let whole: usize = chunks.iter().map(|(_, text)| text.len()).sum();
            prop_assert_eq!(shown.len(), whole);
        }

        #[test]
        fn what_is_long_is_cut_in_the_middle_and_every_byte_is_counted(
            lines in prop::collection::vec("[a-z]{0,600}\n", 0..300), chunk in 1_usize..9000,
        ) {
            let whole: String = lines.concat();
            let chunks: Vec<(bool, String)> = whole
                .as_bytes()
                .chunks(chunk)
                .map(|it| (false, String::from_utf8(it.to_vec()).expect("ASCII")))
                .collect();
            let shown = transcript(&chunks);
            if whole.len() <= 2 * SHOWN {
                prop_assert_eq!(shown, whole);
            } else {
                let (head, rest) = shown.split_once("[… ").expect("a note");
                let (left_out, tail) = rest.split_once(" bytes left out …]\n").expect("a number");
                let left_out: usize = left_out.parse().expect("a number");
                prop_assert_eq!(head.len() + left_out + tail.len(), whole.len());
                prop_assert!(whole.starts_with(head) && whole.ends_with(tail));
                prop_assert!(head.ends_with('\n'));
                prop_assert!(head.len() > SHOWN - 700 && tail.len() > SHOWN - 700);
            }
        }
    }

    #[test]
    fn a_line_without_an_end_is_not_held_back_for_ever() {
        let mut transcript = Transcript::default();
        transcript.push(Stream::Output, &[b'x'; LONGEST_HELD_BACK + 1]);
        transcript.push(Stream::Errors, b"e\n");
        assert!(transcript.finish().ends_with("xe\n"));
    }
}

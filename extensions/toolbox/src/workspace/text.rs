//! The text of a file, its line ends, and its encoding, which is preserved when the file is written again. Pure.

use encoding_rs::{Encoding as Table, UTF_16BE, UTF_16LE, WINDOWS_1252};
use toolwright::ToolError;

use super::name::Name;

pub(crate) const MARK: char = '\u{feff}';

/// The kind of line ends of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ends {
    /// Each line end is a line feed, or the text has no line end.
    Lf,
    /// Each line ends with a carriage return and a line feed.
    Crlf,
    /// Some lines end with a line feed, and some with a carriage return and a line feed.
    Mixed,
}

impl Ends {
    pub(crate) fn of(text: &str) -> Self {
        let all = text.matches('\n').count();
        match text.matches("\r\n").count() {
            0 => Self::Lf,
            crlf if crlf == all => Self::Crlf,
            _ => Self::Mixed,
        }
    }
}

/// The encoding of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Encoding {
    /// UTF-8, with or without a byte order mark.
    Utf8 { mark: bool },
    /// UTF-16 with a byte order mark.
    Utf16 { big_endian: bool },
    /// Latin-1, with the characters that Windows uses in place of control characters (windows-1252).
    Latin1,
}

/// The text of a file without its byte order mark.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Text {
    pub(crate) text: String,
    pub(crate) encoding: Encoding,
}

impl Encoding {
    /// Returns the name of the encoding for answers; `None` for UTF-8 without a byte order mark.
    pub(crate) fn described(self) -> Option<&'static str> {
        match self {
            Self::Utf8 { mark: false } => None,
            Self::Utf8 { mark: true } => Some("UTF-8 with a byte order mark"),
            Self::Utf16 { big_endian: false } => Some("UTF-16, little-endian"),
            Self::Utf16 { big_endian: true } => Some("UTF-16, big-endian"),
            Self::Latin1 => Some("Latin-1"),
        }
    }

    /// Encodes a text. The error is the first character that the encoding lacks.
    pub(crate) fn encode(self, text: &str) -> Result<Vec<u8>, char> {
        let with_mark = || std::iter::once(MARK).chain(text.chars());
        match self {
            Self::Utf8 { mark: false } => Ok(text.as_bytes().to_vec()),
            Self::Utf8 { mark: true } => Ok(with_mark().collect::<String>().into_bytes()),
            Self::Utf16 { big_endian } => {
                let units = with_mark().flat_map(|it| it.encode_utf16(&mut [0; 2]).to_vec());
                let bytes = units.map(if big_endian { u16::to_be_bytes } else { u16::to_le_bytes });
                Ok(bytes.flatten().collect())
            }
            Self::Latin1 => {
                let (bytes, _, has_others) = WINDOWS_1252.encode(text);
                if !has_others {
                    return Ok(bytes.into_owned());
                }
                let is_other = |it: &char| WINDOWS_1252.encode(it.encode_utf8(&mut [0; 4])).2;
                Err(text.chars().find(is_other).unwrap_or_default())
            }
        }
    }
}

/// Decodes the bytes of a file, and refuses a binary file.
pub(crate) fn decode(name: &Name, bytes: &[u8]) -> Result<Text, ToolError> {
    if let Some((table, mark)) = Table::for_bom(bytes) {
        let encoding = match table {
            table if table == UTF_16LE => Encoding::Utf16 { big_endian: false },
            table if table == UTF_16BE => Encoding::Utf16 { big_endian: true },
            _ => Encoding::Utf8 { mark: true },
        };
        let text = table.decode_without_bom_handling_and_without_replacement(&bytes[mark..]);
        let broken = || {
            let described = encoding.described().unwrap_or_default();
            let message = format!("`{name}` begins as {described}, and is broken");
            ToolError::new("broken_text", message)
        };
        return Ok(Text { text: text.ok_or_else(broken)?.into_owned(), encoding });
    }
    let zero = bytes.iter().position(|byte| *byte == 0);
    let text = match zero {
        None => std::str::from_utf8(bytes).ok(),
        Some(_) => None,
    };
    if let Some(text) = text {
        return Ok(Text { text: text.to_owned(), encoding: Encoding::Utf8 { mark: false } });
    }
    let why = match zero {
        Some(place) => Some(format!("with a zero byte at position {place}")),
        None => bytes.iter().position(|byte| is_control(*byte)).map(|place| {
            format!("not UTF-8, and with byte 0x{:02x} at position {place}", bytes[place])
        }),
    };
    let Some(why) = why else {
        let (text, _) = WINDOWS_1252.decode_without_bom_handling(bytes);
        return Ok(Text { text: text.into_owned(), encoding: Encoding::Latin1 });
    };
    // The signatures of some kinds have only two letters, so the kind is named and decides nothing.
    let kind = infer::get(bytes).filter(|it| it.matcher_type() != infer::MatcherType::Text);
    let message = match kind {
        Some(kind) => format!("`{name}` is binary, {}, expected text", kind.mime_type()),
        None => format!("`{name}` is binary, {why}, expected text"),
    };
    Err(ToolError::new("binary_file", message))
}

/// Returns whether a byte is a control character that does not occur in texts.
fn is_control(byte: u8) -> bool {
    byte < 0x20 && !matches!(byte, b'\t' | b'\n' | b'\r' | 0x08 | 0x0c | 0x1b) || byte == 0x7f
}

#[cfg(test)]
mod tests {
    use super::{Encoding, Text, decode};
    use crate::workspace::Name;

    fn name() -> Name {
        Name::parse("a").expect("a name")
    }

    #[test]
    fn what_is_decoded_is_encoded_to_the_same_bytes() {
        let latin: Vec<u8> = (0x20..=0x7e).chain(0x80..=0xff).collect();
        let samples: [&[u8]; 6] = [
            b"plain\r\n",
            b"\xef\xbb\xbfmarked",
            b"\xff\xfea\0\x3d\xd8\x00\xde",
            b"\xfe\xff\0a",
            &latin,
            b"",
        ];
        for bytes in samples {
            let Text { text, encoding } = decode(&name(), bytes).expect("text");
            assert_eq!(encoding.encode(&text).expect("the same characters"), bytes, "{encoding:?}");
            assert!(!text.starts_with('\u{feff}'), "{encoding:?}");
        }
    }

    #[test]
    fn a_character_that_an_encoding_lacks_is_named() {
        assert_eq!(Encoding::Latin1.encode("café → x"), Err('→'));
    }

    #[test]
    fn a_latin_1_text_that_begins_like_a_picture_is_a_text() {
        for bytes in [&b"BMW;Gr\xf6\xdfe\n"[..], b"MZ \xfc", b"ID3 \xfc"] {
            let text = decode(&name(), bytes).expect("text");
            assert_eq!(text.encoding, Encoding::Latin1);
        }
    }

    #[test]
    fn a_broken_text_is_no_text() {
        for bytes in [&b"\xff\xfea\0\x00\xd8"[..], b"\xef\xbb\xbf\xff"] {
            assert_eq!(decode(&name(), bytes).expect_err("broken").kind(), "broken_text");
        }
    }
}

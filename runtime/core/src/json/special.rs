//! Finds the characters that must be escaped in a JSON string, many bytes at a time.

/// Returns the index of the first quote, backslash or control character from `start` on; the length of `bytes` if
/// there is none.
#[inline]
pub fn special(bytes: &[u8], mut start: usize) -> usize {
    // The loop body has no branches, so that the compiler can compare several bytes in one instruction.
    while let Some(chunk) = bytes.get(start..).and_then(<[u8]>::first_chunk::<16>) {
        let is_special = |&byte: &u8| byte < 0x20 || byte == b'"' || byte == b'\\';
        if chunk.iter().fold(false, |found, byte| found | is_special(byte)) {
            break;
        }
        start += 16;
    }
    while let Some(chunk) = bytes.get(start..).and_then(<[u8]>::first_chunk::<8>) {
        let found = marks(u64::from_le_bytes(*chunk));
        if found != 0 {
            return start + (found.trailing_zeros() / 8) as usize;
        }
        start += 8;
    }
    let rest = bytes.get(start..).unwrap_or_default();
    let length = rest.iter().position(|&byte| matches!(byte, b'"' | b'\\' | 0..0x20));
    start + length.unwrap_or(rest.len())
}

/// Sets the high bit of each special byte. Only the lowest set bit is reliable, because borrows affect the bytes above
/// it.
#[inline]
fn marks(chunk: u64) -> u64 {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = ONES * 0x80;
    let quote = chunk ^ (ONES * b'"' as u64);
    let backslash = chunk ^ (ONES * b'\\' as u64);
    let quotes = quote.wrapping_sub(ONES) & !quote;
    let backslashes = backslash.wrapping_sub(ONES) & !backslash;
    let controls = chunk.wrapping_sub(ONES * 0x20) & !chunk;
    (quotes | backslashes | controls) & HIGH
}

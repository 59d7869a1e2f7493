//! Reads from the header of an image how many pixels its sides have.

/// Returns the length of the longer side in pixels; `None` if the header does not contain it where it is expected.
pub(super) fn longer_side(media_type: &str, image: &[u8]) -> Option<u32> {
    let (width, height) = match media_type {
        "image/png" => (u32::from_be_bytes(read(image, 16)?), u32::from_be_bytes(read(image, 20)?)),
        "image/gif" => (little(image, 6)?, little(image, 8)?),
        "image/jpeg" => of_jpeg(image)?,
        "image/webp" => of_webp(image)?,
        _ => return None,
    };
    Some(width.max(height))
}

/// Finds the frame of a JPEG. The segments before it, such as one with a preview, may be long.
fn of_jpeg(image: &[u8]) -> Option<(u32, u32)> {
    let mut at = 2;
    loop {
        at += match read(image, at)? {
            // A fill byte.
            [0xff, 0xff] => 1,
            // A frame, whatever its compression.
            [0xff, 0xc0..=0xc3 | 0xc5..=0xc7 | 0xc9..=0xcb | 0xcd..=0xcf] => {
                return Some((big(image, at + 7)?, big(image, at + 5)?));
            }
            // The scan begins, so a frame should have come before.
            [0xff, 0xda] => return None,
            [0xff, _] => 2 + big(image, at + 2)? as usize,
            _ => return None,
        }
    }
}

/// Reads the sides from the first chunk of a WebP, whose kind depends on its compression.
fn of_webp(image: &[u8]) -> Option<(u32, u32)> {
    match &read(image, 12)? {
        b"VP8X" => {
            let side = |at| {
                let [low, middle, high] = read(image, at)?;
                Some(u32::from_le_bytes([low, middle, high, 0]) + 1)
            };
            Some((side(24)?, side(27)?))
        }
        b"VP8L" => {
            let both = u32::from_le_bytes(read(image, 21)?);
            Some(((both & 0x3fff) + 1, ((both >> 14) & 0x3fff) + 1))
        }
        b"VP8 " => Some((little(image, 26)? & 0x3fff, little(image, 28)? & 0x3fff)),
        _ => None,
    }
}

fn big(image: &[u8], at: usize) -> Option<u32> {
    read(image, at).map(u16::from_be_bytes).map(u32::from)
}

fn little(image: &[u8], at: usize) -> Option<u32> {
    read(image, at).map(u16::from_le_bytes).map(u32::from)
}

fn read<const COUNT: usize>(image: &[u8], at: usize) -> Option<[u8; COUNT]> {
    image.get(at..)?.first_chunk().copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longer_side_is_read_from_each_kind_of_header() {
        let png = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR\0\0\x05\0\0\0\x23\x28";
        let jpeg = b"\xff\xd8\xff\xe1\0\x04ab\xff\xff\xc2\0\x11\x08\x23\x28\x05\0\x03";
        let extended = b"RIFF\0\0\0\0WEBPVP8X\x0a\0\0\0\0\0\0\0\xff\x04\0\x27\x23\0";
        let both: u32 = ((9000 - 1) << 14) | (1280 - 1);
        let lossless = [&b"RIFF\0\0\0\0WEBPVP8L\0\0\0\0\x2f"[..], &both.to_le_bytes()].concat();
        let lossy = b"RIFF\0\0\0\0WEBPVP8 \0\0\0\0\0\0\0\x9d\x01\x2a\0\x05\x28\x23";
        for (media_type, image) in [
            ("image/png", &png[..]),
            ("image/gif", b"GIF89a\0\x05\x28\x23"),
            ("image/jpeg", jpeg),
            ("image/webp", extended),
            ("image/webp", &lossless),
            ("image/webp", lossy),
        ] {
            assert_eq!(longer_side(media_type, image), Some(9000), "{media_type}");
            for end in 0..image.len() - 1 {
                assert_ne!(longer_side(media_type, &image[..end]), Some(9000), "{media_type}");
            }
        }
        assert_eq!(longer_side("image/jpeg", b"\xff\xd8\xff\xda\0\x02"), None);
    }
}

//! Texts that hold secrets.

use std::path::PathBuf;

use proptest::prelude::*;
use toolwright::journal::StoredText;
use toolwright::journal::{SealingError, SealingKey};

const PLACE: &[u8] = b"call 7";

fn key() -> SealingKey {
    SealingKey::from_bytes([7; 32])
}

fn digits(kept: &StoredText) -> &str {
    match kept {
        StoredText::Encrypted(digits) => digits,
        StoredText::Plain(_) | StoredText::Omitted => panic!("not sealed"),
    }
}

proptest! {
    #[test]
    fn what_was_sealed_is_opened_again(text in any::<String>(), place in any::<Vec<u8>>()) {
        let kept = key().seal(&text, &place).unwrap();
        prop_assert_eq!(key().open(&kept, &place).unwrap(), text);
    }

    #[test]
    fn a_text_that_was_changed_anywhere_stays_closed(at in any::<prop::sample::Index>(), bit in 0_u8..4) {
        let kept = key().seal("4711", PLACE).unwrap();
        let mut changed = digits(&kept).as_bytes().to_vec();
        let at = at.index(changed.len());
        let digit = char::from(changed[at]).to_digit(16).unwrap() ^ (1 << bit);
        changed[at] = u8::try_from(char::from_digit(digit, 16).unwrap()).unwrap();
        let changed = StoredText::Encrypted(String::from_utf8(changed).unwrap());
        prop_assert!(matches!(key().open(&changed, PLACE), Err(SealingError::Closed)));
    }
}

#[test]
fn another_key_another_place_and_a_part_stay_closed() {
    let kept = key().seal("4711", PLACE).unwrap();
    assert!(!digits(&kept).contains(&hex::encode("4711")));
    let is_closed = |opened| matches!(opened, Err(SealingError::Closed));
    assert!(is_closed(SealingKey::from_bytes([8; 32]).open(&kept, PLACE)));
    assert!(is_closed(key().open(&kept, b"call 8")));
    assert!(is_closed(key().open(&kept, b"")));
    for end in 0..digits(&kept).len() {
        assert!(is_closed(
            key().open(&StoredText::Encrypted(digits(&kept)[..end].to_owned()), PLACE)
        ));
    }
    assert!(is_closed(key().open(&StoredText::Encrypted(format!("{}00", digits(&kept))), PLACE)));
    assert!(is_closed(key().open(&StoredText::Encrypted("é".repeat(60)), PLACE)));
}

#[test]
fn the_same_text_is_never_sealed_the_same_way_twice() {
    assert_ne!(key().seal("4711", PLACE).unwrap(), key().seal("4711", PLACE).unwrap());
    assert_ne!(
        digits(&SealingKey::generate().unwrap().seal("", b"").unwrap()).len(),
        0,
        "a new key can be made"
    );
}

#[test]
fn what_was_kept_otherwise_is_told_apart() {
    assert_eq!(key().open(&StoredText::Plain("a".into()), PLACE).unwrap(), "a");
    assert!(matches!(key().open(&StoredText::Omitted, PLACE), Err(SealingError::Withheld)));
}

#[test]
fn a_key_is_64_digits_and_never_printed() {
    let text = "0f".repeat(32);
    let kept = SealingKey::from_hex(&text).unwrap().seal("a", PLACE).unwrap();
    assert_eq!(SealingKey::from_bytes([15; 32]).open(&kept, PLACE).unwrap(), "a");
    assert_eq!(format!("{:?}", SealingKey::from_hex(&text).unwrap()), "SealingKey(..)");
    for wrong in ["", "0f", &"0f".repeat(33), &"0g".repeat(32), &" f".repeat(32)] {
        let error = SealingKey::from_hex(wrong).unwrap_err();
        assert!(wrong.is_empty() || !format!("{error} {error:?}").contains(wrong), "{error}");
    }
    let told = SealingKey::from_hex(&"0g".repeat(32)).unwrap_err().to_string();
    assert_eq!(
        told,
        "a sealing key is 64 hexadecimal digits and nothing else, found 64 bytes of another text"
    );
}

/// A folder of its own for a test, emptied before.
fn folder(test: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(test);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a folder for tests");
    folder
}

#[test]
fn a_saved_key_is_loaded_again_and_not_overwritten() {
    let path = folder("a_saved_key").join("key");
    let saved = SealingKey::generate().unwrap();
    saved.save(&path).unwrap();
    let kept = saved.seal("4711", PLACE).unwrap();
    assert_eq!(SealingKey::load(&path).unwrap().open(&kept, PLACE).unwrap(), "4711");

    let again = key().save(&path).unwrap_err();
    assert!(again.to_string().ends_with("could not be written"), "{again}");
    assert_eq!(SealingKey::load(&path).unwrap().open(&kept, PLACE).unwrap(), "4711");

    let missing = SealingKey::load(path.with_extension("none")).unwrap_err();
    assert!(missing.to_string().ends_with("key.none` could not be read"), "{missing}");
}

#[cfg(unix)]
#[test]
fn a_key_that_others_can_use_is_refused() {
    use std::fs::{Permissions, set_permissions};
    use std::os::unix::fs::PermissionsExt;

    let path = folder("an_exposed_key").join("key");
    key().save(&path).unwrap();
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    for mode in [0o640, 0o620, 0o604, 0o601, 0o660] {
        set_permissions(&path, Permissions::from_mode(mode)).unwrap();
        let error = SealingKey::load(&path).unwrap_err();
        assert!(error.to_string().contains(&format!("mode {mode:03o}")), "{error}");
    }
    set_permissions(&path, Permissions::from_mode(0o400)).unwrap();
    assert!(SealingKey::load(&path).is_ok());
}

#[test]
fn a_long_file_is_no_key() {
    let path = folder("a_long_file").join("key");
    key().save(&path).unwrap();
    std::fs::write(&path, "0f".repeat(1 << 20)).unwrap();
    assert!(matches!(SealingKey::load(&path), Err(SealingError::Key { found: 4096 })));
}

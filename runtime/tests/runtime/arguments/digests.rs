//! What a decision is bound to.

use std::collections::BTreeSet;

use hmac::{Hmac, KeyInit, Mac};
use proptest::prelude::*;
use sha2::{Digest, Sha256};
use toolwright::journal::SealingKey;
use toolwright::unstable::arguments::digest;

#[test]
fn the_digest_is_that_of_a_json_array_which_anybody_can_work_out() {
    let framed = r#"["toolwright call 1","say","f0","{\"a\":\"\\\"\"}","agent:1"]"#;
    let expected = hex::encode(Sha256::digest(framed));
    assert_eq!(digest("say", "f0", r#"{"a":"\""}"#, "agent:1", None), expected);
}

#[test]
fn with_secrets_it_is_keyed_by_a_key_of_its_own() {
    let derived = |key: &[u8], text: &str| {
        let mut mac = Hmac::<Sha256>::new_from_slice(key).unwrap();
        mac.update(text.as_bytes());
        mac.finalize().into_bytes()
    };
    let key = derived(&[7; 32], "toolwright key for digests 1");
    let framed = r#"["toolwright call with secrets 1","say","f0","{}","agent:1"]"#;
    let expected = hex::encode(derived(&key, framed));
    let of = |key: Option<[u8; 32]>| {
        digest("say", "f0", "{}", "agent:1", key.map(SealingKey::from_bytes).as_ref())
    };
    assert_eq!(of(Some([7; 32])), expected);
    assert_ne!(of(Some([8; 32])), expected);
    assert_ne!(of(None), expected);
}

#[test]
fn each_part_counts_with_a_key_as_without() {
    let parts = ["tool", "fingerprint", "{}", "agent"];
    let mut seen = BTreeSet::new();
    for key in [None, Some(SealingKey::from_bytes([7; 32]))] {
        for changed in 0..=parts.len() {
            let mut parts = parts.map(str::to_owned);
            if let Some(part) = parts.get_mut(changed) {
                part.push('x');
            }
            let [tool, fingerprint, canonical, principal] = &parts;
            seen.insert(digest(tool, fingerprint, canonical, principal, key.as_ref()));
        }
    }
    assert_eq!(seen.len(), 10);
}

proptest! {
    #[test]
    fn nothing_moves_from_one_part_to_the_next(
        one in prop::array::uniform4("[\",\\\\ab]{0,3}"), other in prop::array::uniform4("[\",\\\\ab]{0,3}"),
    ) {
        let of = |[tool, fingerprint, canonical, principal]: &[String; 4]| {
            digest(tool, fingerprint, canonical, principal, None)
        };
        prop_assert_eq!(of(&one) == of(&other), one == other);
    }
}

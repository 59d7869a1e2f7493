//! What a decision is bound to.

use std::collections::BTreeSet;

use hmac::{Hmac, KeyInit, Mac};
use proptest::prelude::*;
use sha2::{Digest, Sha256};
use toolwright::journal::SealingKey;
use toolwright::unstable::arguments::{DigestInput, digest};

/// A call for nobody, of no session.
fn input<'a>(
    tool: &'a str,
    fingerprint: &'a str,
    arguments: &'a str,
    run: &'a str,
) -> DigestInput<'a> {
    DigestInput { tool, fingerprint, arguments, user: None, session: None, run }
}

#[test]
fn the_digest_is_that_of_a_json_array_which_anybody_can_work_out() {
    let framed = r#"["toolwright call 2","say","f0","{\"a\":\"\\\"\"}","run-1","ada",null]"#;
    let expected = hex::encode(Sha256::digest(framed));
    let call = DigestInput { user: Some("ada"), ..input("say", "f0", r#"{"a":"\""}"#, "run-1") };
    assert_eq!(digest(&call, None), expected);
}

#[test]
fn with_secrets_it_is_keyed_by_a_key_of_its_own() {
    let derived = |key: &[u8], text: &str| {
        let mut mac = Hmac::<Sha256>::new_from_slice(key).unwrap();
        mac.update(text.as_bytes());
        mac.finalize().into_bytes()
    };
    let key = derived(&[7; 32], "toolwright key for digests 1");
    let framed = r#"["toolwright call with secrets 2","say","f0","{}","run-1",null,null]"#;
    let expected = hex::encode(derived(&key, framed));
    let of = |key: Option<[u8; 32]>| {
        digest(&input("say", "f0", "{}", "run-1"), key.map(SealingKey::from_bytes).as_ref())
    };
    assert_eq!(of(Some([7; 32])), expected);
    assert_ne!(of(Some([8; 32])), expected);
    assert_ne!(of(None), expected);
}

#[test]
fn each_part_counts_with_a_key_as_without() {
    let parts = ["tool", "fingerprint", "{}", "run", "user", "session"];
    let mut seen = BTreeSet::new();
    for key in [None, Some(SealingKey::from_bytes([7; 32]))] {
        for changed in 0..=parts.len() {
            let mut parts = parts.map(str::to_owned);
            if let Some(part) = parts.get_mut(changed) {
                part.push('x');
            }
            let [tool, fingerprint, canonical, run, user, session] = &parts;
            let call = input(tool, fingerprint, canonical, run);
            let of = |user, session| digest(&DigestInput { user, session, ..call }, key.as_ref());
            seen.insert(of(Some(user.as_str()), Some(session.as_str())));
            if changed == parts.len() {
                // No user is another than one without a name.
                seen.extend([of(None, None), of(Some(""), None), of(None, Some(""))]);
            }
        }
    }
    assert_eq!(seen.len(), 20);
}

proptest! {
    #[test]
    fn nothing_moves_from_one_part_to_the_next(
        one in prop::array::uniform5("[\",\\\\ab]{0,3}"), other in prop::array::uniform5("[\",\\\\ab]{0,3}"),
    ) {
        let of = |[tool, fingerprint, canonical, run, user]: &[String; 5]| {
            let call = input(tool, fingerprint, canonical, run);
            digest(&DigestInput { user: Some(user), ..call }, None)
        };
        prop_assert_eq!(of(&one) == of(&other), one == other);
    }
}

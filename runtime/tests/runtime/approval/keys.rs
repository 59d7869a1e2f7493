//! Keys, their files, and what they say.

use std::collections::HashSet;
use std::fs;
use std::path::PathBuf;

use ed25519_dalek::{Signer as _, SigningKey};
use toolwright::approval::{
    ApproverKey, PublicKey, SignedStatement, Statement, TrustedKeys, VerifyError,
};

use super::scene::{at, key, pending, trusted};

fn signed() -> SignedStatement {
    key("ada").sign(&Statement::approve(&pending(1), "ada", at(1))).expect("hers")
}

/// A folder of this test alone.
fn folder(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("approval-{name}"));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("a folder for the test");
    folder
}

fn told(result: Result<impl Sized, impl std::fmt::Display>) -> String {
    match result {
        Ok(_) => "no error".to_owned(),
        Err(error) => error.to_string(),
    }
}

#[test]
fn what_a_trusted_key_signed_is_verified_under_its_name() {
    let statement = Statement::approve(&pending(1), "ada", at(1));
    let verified = trusted().verify(&signed()).expect("signed and trusted");
    assert_eq!(verified.statement(), &statement);
    assert_eq!(verified.name(), "ada");
    assert_eq!(verified.key(), key("ada").public());
}

#[test]
fn any_change_of_the_text_breaks_the_signature() {
    let good = signed();
    for place in 0..good.text.len() {
        let mut bytes = good.text.clone().into_bytes();
        bytes[place] ^= 1;
        let Ok(text) = String::from_utf8(bytes) else { continue };
        let forged = SignedStatement { text, ..good.clone() };
        let expected = VerifyError::BadSignature { name: "ada".to_owned() };
        assert_eq!(trusted().verify(&forged), Err(expected), "{place}");
    }
}

#[test]
fn any_change_of_the_signature_breaks_it() {
    let good = signed();
    for place in 0..64 {
        let mut bytes = hex(&good.signature);
        bytes[place] ^= 1;
        let signature = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        let forged = SignedStatement { signature, ..good.clone() };
        assert!(trusted().verify(&forged).is_err(), "{place}");
    }
    for signature in ["", "00", "zz", &good.signature.to_uppercase()] {
        let forged = SignedStatement { signature: signature.to_owned(), ..good.clone() };
        let expected = VerifyError::NoSignature { name: "ada".to_owned() };
        assert_eq!(trusted().verify(&forged), Err(expected), "{signature}");
    }
}

fn hex(digits: &str) -> Vec<u8> {
    let pairs = digits.as_bytes().chunks(2).map(|pair| std::str::from_utf8(pair).expect("ASCII"));
    pairs.map(|pair| u8::from_str_radix(pair, 16).expect("hexadecimal")).collect()
}

#[test]
fn the_statement_of_one_key_does_not_count_as_anothers() {
    let forged = SignedStatement { key: key("bob").public().to_string(), ..signed() };
    let expected = VerifyError::BadSignature { name: "bob".to_owned() };
    assert_eq!(trusted().verify(&forged), Err(expected));
}

#[test]
fn a_key_that_is_not_trusted_does_not_count() {
    let eve = key("eve").sign(&Statement::approve(&pending(1), "eve", at(1))).expect("hers");
    assert_eq!(trusted().verify(&eve), Err(VerifyError::UnknownKey(key("eve").public())));
    assert!(TrustedKeys::new().verify(&signed()).is_err());
}

#[test]
fn a_trusted_key_cannot_speak_in_anothers_name() {
    // Bob's key says that it is Ada.
    let mut seed = [7; 32];
    seed[..3].copy_from_slice(b"bob");
    let as_ada = ApproverKey::from_seed("ada", seed).expect("a name");
    let forged = as_ada.sign(&Statement::approve(&pending(1), "ada", at(1))).expect("its own");
    let expected = VerifyError::OtherName { by: "ada".to_owned(), name: "bob".to_owned() };
    assert_eq!(trusted().verify(&forged), Err(expected));
}

#[test]
fn what_another_says_is_not_signed() {
    let error = key("ada").sign(&Statement::approve(&pending(1), "bob", at(1)));
    assert_eq!(
        told(error),
        r#"the statement is by "bob" and the key is that of "ada": each signs what they say themselves"#
    );
}

/// Ada's signature of a text, with what stands before it.
fn signed_after(domain: &str, text: &str) -> SignedStatement {
    let mut seed = [7; 32];
    seed[..3].copy_from_slice(b"ada");
    let signature =
        SigningKey::from_bytes(&seed).sign(format!("{domain}{text}").as_bytes()).to_bytes();
    let signature = signature.iter().map(|byte| format!("{byte:02x}")).collect();
    SignedStatement { text: text.to_owned(), key: key("ada").public().to_string(), signature }
}

#[test]
fn a_signature_of_the_same_text_for_something_else_is_none_for_a_statement() {
    let text = signed().text;
    assert!(trusted().verify(&signed_after("toolwright statement 1\n", &text)).is_ok());
    for domain in ["", "toolwright statement 2\n", "toolwright statement 1"] {
        let expected = VerifyError::BadSignature { name: "ada".to_owned() };
        assert_eq!(trusted().verify(&signed_after(domain, &text)), Err(expected), "{domain}");
    }
}

#[test]
fn a_signed_text_that_is_no_statement_does_not_count() {
    let good = signed().text;
    let more = good.replacen('{', r#"{"more":1,"#, 1);
    let twice = good.replacen('{', r#"{"by":"bob","#, 1);
    let other = good.replace(r#"{"grant":null}"#, r#"{"grant":null,"until":1}"#);
    let after = format!("{good} {{}}");
    for text in ["", "{}", "null", &more, &twice, &other, &after] {
        assert_ne!(*text, good);
        let read = trusted().verify(&signed_after("toolwright statement 1\n", text));
        assert!(matches!(read, Err(VerifyError::Unreadable(_))), "{text}");
    }
}

#[test]
fn what_was_signed_is_not_in_debug_output() {
    let record = pending(1);
    for statement in [
        Statement::edit(&record, r#"{"token":"hunter2"}"#, "d2", "ada", at(1)),
        Statement::happened(&record, "hunter2", "ada", at(1)),
    ] {
        let signed = key("ada").sign(&statement).expect("hers");
        let shown = format!("{statement:?} {signed:?}");
        assert!(shown.contains("ada") && !shown.contains("hunter2"), "{shown}");
    }
}

#[test]
fn a_key_or_name_is_trusted_once() {
    let again = trusted().with("eve", key("ada").public());
    assert!(told(again).contains(r#"is already trusted, as that of "ada""#));
    let again = trusted().with("ada", key("eve").public());
    assert!(told(again).contains(r#""ada" is already trusted with another key"#));
    for name in ["", " ", "a\nb", "a\u{1b}[2J", " ada"] {
        assert!(TrustedKeys::new().with(name, key("eve").public()).is_err(), "{name:?}");
        assert!(ApproverKey::generate(name).is_err(), "{name:?}");
    }
}

#[test]
fn a_public_key_is_read_as_it_is_written_and_in_no_other_way() {
    let public = key("ada").public();
    let text = public.to_string();
    assert_eq!(text.parse(), Ok(public));
    let json = serde_json::to_string(&public).expect("a text");
    assert_eq!(json, format!("\"{text}\""));
    assert_eq!(serde_json::from_str::<PublicKey>(&json).expect("the same"), public);
    assert_eq!(HashSet::from([public, public]).len(), 1);

    let upper = text.to_uppercase();
    let weak = format!("ed25519:01{}", "00".repeat(31));
    let not_a_point = format!("ed25519:02{}", "00".repeat(31));
    let digits = text.strip_prefix("ed25519:").expect("its prefix");
    let longer = format!("{text}00");
    for text in ["", "ed25519:", digits, &upper, &weak, &not_a_point, &longer, &text[..70]] {
        assert!(text.parse::<PublicKey>().is_err(), "{text}");
    }
}

#[test]
fn two_keys_are_never_the_same() {
    let one = ApproverKey::generate("ada").expect("a key");
    let other = ApproverKey::generate("ada").expect("a key");
    assert_ne!(one.public(), other.public());
}

#[test]
fn a_key_comes_back_from_its_file_as_it_was() {
    let path = folder("back").join("ada.key");
    key("ada").save(&path).expect("written");
    let back = ApproverKey::load(&path).expect("read");
    assert_eq!((back.name(), back.public()), ("ada", key("ada").public()));
    let statement = Statement::approve(&pending(1), "ada", at(1));
    assert_eq!(back.sign(&statement), key("ada").sign(&statement));
}

#[test]
fn a_key_file_is_never_written_over() {
    let path = folder("over").join("ada.key");
    fs::write(&path, "mine").expect("written");
    let error = told(key("ada").save(&path));
    assert!(error.contains("is there already, and a key is never written over"), "{error}");
    assert_eq!(fs::read_to_string(&path).expect("there"), "mine");
}

#[cfg(unix)]
#[test]
fn a_key_file_that_others_can_read_is_refused_with_what_to_do() {
    use std::os::unix::fs::PermissionsExt as _;
    let path = folder("shared").join("ada.key");
    key("ada").save(&path).expect("written");
    assert_eq!(fs::metadata(&path).expect("there").permissions().mode() & 0o777, 0o600);
    for mode in [0o640, 0o604, 0o620, 0o666] {
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("set");
        let error = told(ApproverKey::load(&path));
        assert!(error.contains(&format!("run `chmod 600 {}`", path.display())), "{error}");
    }
}

#[test]
fn a_file_that_holds_no_key_is_told_without_its_secret() {
    let folder = folder("broken");
    let path = folder.join("ada.key");
    key("ada").save(&path).expect("written");
    let good = fs::read_to_string(&path).expect("there");
    let secret = good.lines().last().expect("a line").strip_prefix("secret: ").expect("a secret");
    let cases = [
        (String::new(), "its first line is not"),
        (good.replace("key 1", "key 2"), "it is of a newer format"),
        (good.replace("name: ada\n", ""), "there is no `name: …`"),
        (good.replace("name: ada", "name:  "), "its name is none"),
        (good.replace(secret, &secret[2..]), "its secret is not 64"),
        (good.replace(secret, &"11".repeat(32)), "does not belong to its public key"),
        (format!("{good}more\n"), "there is more after the secret"),
    ];
    for (number, (text, expected)) in cases.into_iter().enumerate() {
        fs::write(&path, text).expect("written");
        let error = told(ApproverKey::load(&path));
        assert!(error.contains(expected), "{number}: {error}");
        assert!(!error.contains(&secret[2..]), "{number}: {error}");
    }
    fs::write(&path, [0xff; 32]).expect("written");
    let error = told(ApproverKey::load(&path));
    assert!(
        error.contains("it is no text; `toolwright keys new --name NAME --out FILE` makes"),
        "{error}"
    );
    let error = told(ApproverKey::load(folder.join("none")));
    assert!(
        error.contains(
            "there is no such file; `toolwright keys new --name NAME --out FILE` makes one"
        ),
        "{error}"
    );
}

#[test]
fn a_secret_is_not_shown() {
    let path = folder("debug").join("ada.key");
    key("ada").save(&path).expect("written");
    let text = fs::read_to_string(&path).expect("there");
    let secret = text.lines().last().expect("a line").strip_prefix("secret: ").expect("a secret");
    let shown = format!("{:?}", key("ada"));
    assert!(shown.contains("ada") && !shown.contains(secret), "{shown}");
    assert!(!shown.contains(&format!("{:?}", secret.as_bytes())), "{shown}");
}

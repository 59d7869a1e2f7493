//! What the reader takes, serde_json takes with an equal value; nothing makes it panic or slow.

mod written;

use std::{
    collections::{BTreeMap, HashMap},
    fmt::Debug,
};

use proptest::prelude::*;
use serde::{Deserialize, de::DeserializeOwned, de::IgnoredAny};
use serde_json::Value;
use toolwright::__private0::{Fault, Key, Keys, Reader, Slots, fill, read_object};

use self::written::{Written, float, integer, kind, leaf, object, string, token, tree, value};

#[derive(Debug, Clone, PartialEq, Deserialize)]
struct Leaf {
    id: u32,
    #[serde(default)]
    name: String,
    ratio: Option<Close>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
enum Kind {
    Plain,
    Other,
    One(i16),
    Two(u8, bool),
    Many(Vec<Kind>),
    Named { leaf: Leaf, flag: Option<bool> },
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
struct Tree {
    leaf: Leaf,
    kinds: Vec<Kind>,
    children: BTreeMap<String, Tree>,
    wide: i128,
    pair: (i64, Option<char>),
    newtype: Option<Newtype>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
struct Newtype(Vec<Option<u64>>);

fn read<T: DeserializeOwned>(text: &str) -> Result<T, Fault> {
    let mut reader = Reader::new(text);
    let value = reader.read()?;
    reader.finish()?;
    Ok(value)
}

/// A float that equals one that is a unit off: serde_json may be, without `float_roundtrip`.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(transparent)]
struct Close(f64);

impl PartialEq for Close {
    fn eq(&self, other: &Self) -> bool {
        let difference = (self.0 - other.0).abs();
        self.0 == other.0 || difference <= self.0.abs().max(f64::MIN_POSITIVE) * 1e-15
    }
}

/// Any value, its floats compared as [`Close`].
#[derive(Debug, Deserialize)]
#[serde(transparent)]
struct AnyValue(Value);

impl PartialEq for AnyValue {
    fn eq(&self, other: &Self) -> bool {
        same(&self.0, &other.0)
    }
}

fn same(ours: &Value, theirs: &Value) -> bool {
    match (ours, theirs) {
        (Value::Array(ours), Value::Array(theirs)) => {
            ours.len() == theirs.len() && ours.iter().zip(theirs).all(|(a, b)| same(a, b))
        }
        (Value::Object(ours), Value::Object(theirs)) => {
            ours.len() == theirs.len()
                && ours.iter().all(|(key, a)| theirs.get(key).is_some_and(|b| same(a, b)))
        }
        (Value::Number(ours), Value::Number(theirs)) if ours.is_f64() && theirs.is_f64() => {
            ours.as_f64().map(Close) == theirs.as_f64().map(Close)
        }
        _ => ours == theirs,
    }
}

fn agree<T: DeserializeOwned + Debug + PartialEq>(
    text: &str,
    plain: &str,
) -> Result<bool, TestCaseError> {
    match (read::<T>(text), serde_json::from_str::<T>(plain)) {
        (Ok(ours), Ok(theirs)) => {
            prop_assert_eq!(ours, theirs, "{}", text);
            Ok(true)
        }
        (Ok(ours), Err(error)) => {
            prop_assert!(false, "only the reader takes {text} as {ours:?}: {error}");
            Ok(true)
        }
        (Err(fault), _) => {
            prop_assert!(!fault.to_string().is_empty());
            Ok(false)
        }
    }
}

/// Whether the text may have an integer in a form that only the reader takes.
fn has_odd_number(text: &str) -> bool {
    text.contains("-0") || text.chars().any(|letter| matches!(letter, '.' | 'e' | 'E'))
}

fn agree_in_all_types(text: &str) -> Result<(), TestCaseError> {
    agree::<AnyValue>(text, text)?;
    agree::<Tree>(text, text)?;
    agree::<Leaf>(text, text)?;
    agree::<Vec<Kind>>(text, text)?;
    agree::<Kind>(text, text)?;
    agree::<Vec<Option<i32>>>(text, text)?;
    agree::<HashMap<String, u8>>(text, text)?;
    agree::<BTreeMap<u8, Option<bool>>>(text, text)?;
    agree::<(u8, i8)>(text, text)?;
    agree::<String>(text, text)?;
    agree::<Option<u64>>(text, text)?;
    agree::<Close>(text, text)?;
    agree::<Newtype>(text, text)?;
    agree::<IgnoredAny>(text, text)?;
    prop_assert_eq!(
        read::<IgnoredAny>(text).is_ok(),
        Reader::new(text).skip_value().is_ok_and(|value| value
            == text.trim_matches(|letter| { matches!(letter, ' ' | '\n' | '\t' | '\r') })),
    );
    Ok(())
}

#[derive(Default)]
struct TreeSlots(Option<Leaf>, Option<Vec<Kind>>, Option<Option<u8>>);

impl Slots for TreeSlots {
    fn put(&mut self, index: usize, reader: &mut Reader<'_>) -> Result<(), Fault> {
        match index {
            0 => fill(&mut self.0, reader),
            1 => fill(&mut self.1, reader),
            _ => fill(&mut self.2, reader),
        }
    }
}

fn read_slots(text: &str) -> Option<TreeSlots> {
    let keys = Keys::new([
        Key::required("leaf", "an object"),
        Key::required("kinds", "an array"),
        Key::optional("limit", "an integer"),
    ])
    .expect("no key twice");
    let mut slots = TreeSlots::default();
    match read_object(text, &keys, &mut slots) {
        Ok(()) => Some(slots),
        Err(problems) => {
            assert!(!problems.is_empty() && !problems.to_string().is_empty());
            None
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn typed_texts_read_as_serde_json_reads_them(tree in tree()) {
        prop_assert!(agree::<Tree>(&tree.text, &tree.plain)?, "{}", read::<Tree>(&tree.text).unwrap_err());
        prop_assert_eq!(Reader::new(&tree.text).skip_value().ok(), Some(tree.text.as_str()));
    }

    #[test]
    fn values_read_as_serde_json_reads_them(value in value(), pretty: bool) {
        let text = if pretty { format!("{value:#}") } else { value.to_string() };
        prop_assert!(agree::<AnyValue>(&text, &text)?);
        agree_in_all_types(&text)?;
    }

    #[test]
    fn strings_read_as_serde_json_reads_them(string in string()) {
        prop_assert!(agree::<String>(&string.text, &string.text)?);
    }

    #[test]
    fn floats_are_read_as_the_standard_library_reads_them(float in float()) {
        prop_assert_eq!(read::<f64>(&float.text).unwrap(), float.text.parse::<f64>().unwrap());
        match float.text.parse::<f32>().unwrap() {
            number if number.is_finite() => prop_assert_eq!(read::<f32>(&float.text).unwrap(), number),
            _ => prop_assert!(read::<f32>(&float.text).is_err()),
        }
    }

    #[test]
    fn changed_texts_are_not_taken_more_than_by_serde_json(
        tree in tree(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), 0..6_usize, token()), 1..4),
    ) {
        let mut letters: Vec<char> = tree.plain.chars().collect();
        for (at, gone, token) in changes {
            let at = at.index(letters.len() + 1);
            let end = (at + gone).min(letters.len());
            letters.splice(at..end, token.chars());
        }
        let text: String = letters.into_iter().collect();
        if let Ok(ours) = read::<Tree>(&text) {
            match serde_json::from_str::<Tree>(&text) {
                Ok(theirs) => prop_assert_eq!(ours, theirs),
                Err(error) => prop_assert!(has_odd_number(&text), "{text}: {error}"),
            }
        }
        if !text.contains("-0") {
            agree::<AnyValue>(&text, &text)?;
        }
        read_slots(&text);
    }

    #[test]
    fn token_soup_is_not_taken_more_than_by_serde_json(tokens in prop::collection::vec(token(), 0..12)) {
        let text = tokens.concat();
        if !has_odd_number(&text) {
            agree_in_all_types(&text)?;
        }
        read_slots(&text);
        read_slots(&format!("{{\"leaf\":{text}}}"));
        read_slots(&format!("{{\"kinds\":{text},\"leaf\":{{\"id\":1}}}}"));
    }

    #[test]
    fn arbitrary_text_never_panics(text: String) {
        agree::<IgnoredAny>(&text, &text)?;
        agree::<AnyValue>(&text, &text)?;
        read_slots(&text);
        let quoted = format!("\"{text}\"");
        agree::<String>(&quoted, &quoted)?;
    }

    #[test]
    fn slots_take_what_a_derived_struct_takes(
        leaf in leaf(),
        kinds in prop::collection::vec(kind(), 0..4),
        limit in prop::option::of(integer(any::<u8>())),
        turned: bool,
    ) {
        #[derive(Debug, Deserialize)]
        struct Whole {
            leaf: Leaf,
            kinds: Vec<Kind>,
            limit: Option<u8>,
        }

        let kinds = Written::joined("[", kinds, "]");
        let mut fields = vec![("leaf", Some(leaf)), ("kinds", Some(kinds)), ("limit", limit)];
        if turned {
            fields.reverse();
        }
        let whole = object(fields);
        let slots = read_slots(&whole.text).unwrap();
        let theirs: Whole = serde_json::from_str(&whole.plain).unwrap();
        prop_assert_eq!(slots.0.unwrap(), theirs.leaf);
        prop_assert_eq!(slots.1.unwrap(), theirs.kinds);
        prop_assert_eq!(slots.2.flatten(), theirs.limit);
    }
}

#[test]
fn large_and_deep_texts_end_and_never_overflow_the_stack() {
    for open in ["[", "{\"a\":", "{\"Many\":[", "[{\"a\":"] {
        let text = open.repeat((1 << 20) / open.len());
        assert!(read::<Value>(&text).is_err());
        assert!(read::<IgnoredAny>(&text).is_err());
        assert!(read::<Kind>(&text).is_err());
        assert!(read::<u8>(&text).is_err());
        assert!(read_slots(&text).is_none());
        assert!(read_slots(&format!("{{\"leaf\":{text}")).is_none());
    }
    let entries: Vec<_> =
        (0..100_000).map(|index| format!("\"k\\u0065y{index}\":{index}")).collect();
    let object = format!("{{{}}}", entries.join(","));
    assert_eq!(read::<HashMap<String, u32>>(&object).unwrap().len(), 100_000);
    assert_eq!(read::<Value>(&object).unwrap().as_object().unwrap().len(), 100_000);
    let twice = format!("{},\"key0\":0}}", object.trim_end_matches('}'));
    assert!(read::<Value>(&twice).is_err());
    let digits = "7".repeat(1 << 20);
    assert!(read::<u64>(&digits).is_err());
    assert!(read::<u64>(&format!("0.{digits}")).is_err());
    assert!(read::<u64>(&format!("1e{digits}")).is_err());
    assert_eq!(read::<u64>(&format!("1{}e-{}", "0".repeat(1 << 20), 1 << 20)).unwrap(), 1);
}

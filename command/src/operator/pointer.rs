//! Parses `POINTER=JSON`, and sets the value at a JSON pointer in JSON text. Numbers keep all of their digits. Pure.

use std::collections::BTreeMap;

use serde_json::value::RawValue;

/// Parses a pointer and a value. The value stays JSON text.
pub(crate) fn value(text: &str) -> Result<(String, String), String> {
    let value = |text: &str| {
        serde_json::from_str::<&RawValue>(text).ok().map(|value| value.get().to_owned())
    };
    split(text, value).ok_or_else(|| {
        "expected POINTER=JSON, such as /copies=2 or /to='\"ada\"': write a text in double quotes"
            .to_owned()
    })
}

/// Splits a text at the first `=` after which `values` can be parsed, since a pointer may itself contain `=`.
pub(crate) fn split<T>(text: &str, values: impl Fn(&str) -> Option<T>) -> Option<(String, T)> {
    text.match_indices('=').find_map(|(place, _)| {
        let values = values(&text[place + 1..])?;
        Some((text[..place].to_owned(), values))
    })
}

/// Returns JSON text with `value` at the pointer. The pointer's parent must exist. Its last part may be a new key of an
/// object, or `-` for a new item at the end of an array.
pub(crate) fn set(text: &str, pointer: &str, value: &str) -> Result<String, String> {
    let Some(path) = pointer.strip_prefix('/') else {
        return Err(format!(
            "{pointer:?} is not a place in the arguments: a pointer begins with /"
        ));
    };
    let keys: Vec<String> =
        path.split('/').map(|key| key.replace("~1", "/").replace("~0", "~")).collect();
    within(text, &keys, value).map_err(|why| format!("{pointer:?} cannot be set: {why}"))
}

fn within(text: &str, keys: &[String], value: &str) -> Result<String, String> {
    let Some((key, rest)) = keys.split_first() else { return Ok(value.to_owned()) };
    let deeper = |held: Option<&Box<RawValue>>| match (held, rest.is_empty()) {
        (_, true) => raw(value),
        (Some(held), false) => raw(&within(held.get(), rest, value)?),
        (None, false) => Err(format!("there is nothing at {key:?} to set a value in")),
    };
    if let Ok(mut entries) = serde_json::from_str::<BTreeMap<String, Box<RawValue>>>(text) {
        let new = deeper(entries.get(key))?;
        entries.insert(key.clone(), new);
        return to_json(&entries);
    }
    let Ok(mut items) = serde_json::from_str::<Vec<Box<RawValue>>>(text) else {
        return Err(format!("{text} has no {key:?} in it: it is neither an object nor an array"));
    };
    if key == "-" && rest.is_empty() {
        items.push(raw(value)?);
        return to_json(&items);
    }
    let place = key.parse().ok().filter(|place: &usize| place.to_string() == *key);
    let Some(place) = place.filter(|place| *place < items.len()) else {
        return Err(format!("there is no item {key:?} in an array of {}", items.len()));
    };
    items[place] = deeper(items.get(place))?;
    to_json(&items)
}

fn raw(text: &str) -> Result<Box<RawValue>, String> {
    RawValue::from_string(text.to_owned()).map_err(|error| error.to_string())
}

fn to_json(value: &impl serde::Serialize) -> Result<String, String> {
    serde_json::to_string(value).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_set_and_all_others_stay_digit_for_digit() {
        let text = r#"{"a/b":[1.50,{"c":9007199254740993}],"d":"=","~":null}"#;
        let set = |pointer, value| set(text, pointer, value);
        assert_eq!(set("/a~1b/1/c", "2").unwrap(), r#"{"a/b":[1.50,{"c":2}],"d":"=","~":null}"#);
        assert_eq!(
            set("/a~1b/-", "[]").unwrap(),
            r#"{"a/b":[1.50,{"c":9007199254740993},[]],"d":"=","~":null}"#
        );
        assert_eq!(
            set("/~0", "1").unwrap(),
            r#"{"a/b":[1.50,{"c":9007199254740993}],"d":"=","~":1}"#
        );
        assert!(set("/new", "1").unwrap().contains(r#""new":1"#));
        for pointer in ["", "d", "/new/deeper", "/a~1b/2", "/a~1b/01", "/a~1b/-/c", "/d/e"] {
            assert!(set(pointer, "1").is_err(), "{pointer}");
        }
    }

    #[test]
    fn the_first_equals_sign_before_a_value_ends_the_pointer() {
        assert_eq!(value("/a=1").unwrap(), ("/a".to_owned(), "1".to_owned()));
        assert_eq!(value("/a=b=\"c=d\"").unwrap(), ("/a=b".to_owned(), "\"c=d\"".to_owned()));
        assert!(value("/a=b").is_err());
    }
}

//! Determines whether the output schema of a tool has constraints that its Rust type lacks, such as a bound, a length
//! or a pattern. The results of such a tool are checked. The results of another annotated tool match its schema,
//! because its type guarantees that.

use serde_json::{Map, Number, Value};
use toolwright_core::schema::walk::pointers;

/// Keywords that can make a value of the right type invalid.
const KEYWORDS: [&str; 13] = [
    "contains",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "if",
    "maxItems",
    "maxLength",
    "maxProperties",
    "minItems",
    "minLength",
    "minProperties",
    "multipleOf",
    "not",
    "pattern",
];

/// Returns whether a schema or one of its subschemas can refuse a value that has the right type.
pub(crate) fn promises_more(schema: &Value) -> bool {
    let mut places = Vec::new();
    pointers(schema, String::new(), &mut places);
    let mut schemas = places.iter().filter_map(|at| schema.pointer(at)?.as_object());
    schemas.any(|it| KEYWORDS.iter().any(|word| it.contains_key(*word)) || is_bounded(it))
}

/// Returns whether a schema has a bound that its integer format does not imply, such as a maximum below 255 for
/// `uint8`.
fn is_bounded(schema: &Map<String, Value>) -> bool {
    let format = schema.get("format").and_then(Value::as_str).unwrap_or_default();
    let (unsigned, width) = match format.strip_prefix("uint") {
        Some(width) => (true, width),
        None => (false, format.strip_prefix("int").unwrap_or_default()),
    };
    let width: Option<u32> = width.parse().ok().filter(|it| (8..=64).contains(it));
    let own: [Option<i128>; 2] = match (unsigned, width) {
        (true, width) => [Some(0), width.map(|it| (1 << it) - 1)],
        (false, Some(width)) => [Some(-(1 << (width - 1))), Some((1 << (width - 1)) - 1)],
        (false, None) => [None, None],
    };
    ["minimum", "maximum"].iter().zip(own).any(|(word, own)| {
        let bound = schema.get(*word);
        bound.is_some_and(|it| own.is_none() || it.as_number().and_then(Number::as_i128) != own)
    })
}

#[cfg(test)]
mod tests {
    use schemars::JsonSchema;
    use serde_json::json;

    use super::*;

    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "its schema is looked at")]
    struct Plain {
        small: u8,
        signed: i16,
        large: u64,
        number: f64,
        text: Option<String>,
        list: Vec<Inner>,
        flag: bool,
    }

    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "its schema is looked at")]
    struct Inner {
        pattern: String,
    }

    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "its schema is looked at")]
    struct Deep {
        list: Vec<Bounded>,
    }

    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "its schema is looked at")]
    struct Bounded {
        #[schemars(range(min = 10))]
        number: u64,
    }

    #[test]
    fn what_the_type_says_is_no_more_than_that() {
        assert!(!promises_more(schemars::schema_for!(Plain).as_value()));
        for more in [
            schemars::schema_for!(Deep).to_value(),
            json!({"type": "string", "pattern": "^a"}),
            json!({"type": "integer", "minimum": 0}),
            json!({"type": "integer", "format": "uint8", "minimum": 0, "maximum": 254}),
            json!({"anyOf": [{"type": "array", "items": {"maxLength": 1}}]}),
        ] {
            assert!(promises_more(&more), "{more}");
        }
    }
}

//! JSON texts of the types in the test's root, in many spellings, and texts that are nearly JSON.

use std::fmt::Debug;

use proptest::prelude::*;
use serde_json::Value;

/// A JSON text in two spellings: as it is written, and with plain integers only.
#[derive(Debug, Clone, Default)]
pub struct Written {
    pub text: String,
    pub plain: String,
}

impl Written {
    fn same(text: impl Into<String>) -> Self {
        let text = text.into();
        Self { plain: text.clone(), text }
    }

    fn then(mut self, next: &Self) -> Self {
        self.text.push_str(&next.text);
        self.plain.push_str(&next.plain);
        self
    }

    pub fn joined(open: &str, items: Vec<Self>, close: &str) -> Self {
        let mut joined = Self::same(open);
        for (index, item) in items.iter().enumerate() {
            let comma = if index > 0 { "," } else { "" };
            joined = joined.then(&Self::same(comma)).then(item);
        }
        joined.then(&Self::same(close))
    }
}

fn space() -> impl Strategy<Value = Written> {
    prop_oneof![
        8 => Just(""),
        1 => Just(" "),
        1 => Just("\n\t \r"),
    ]
    .prop_map(Written::same)
}

pub fn integer<N: Debug + ToString + Clone + 'static>(
    numbers: impl Strategy<Value = N>,
) -> impl Strategy<Value = Written> {
    (numbers, 0..8_u8).prop_map(|(number, form)| {
        let plain = number.to_string();
        let text = match form {
            0 => format!("{plain}.0"),
            1 => format!("{plain}e0"),
            2 => format!("{plain}.000E+0"),
            3 if plain != "0" => format!("{plain}00e-2"),
            4 => plain.strip_suffix('0').map_or(plain.clone(), |start| match start {
                "" | "-" => "-0".to_owned(),
                _ => format!("{start}e1"),
            }),
            _ => plain.clone(),
        };
        Written { text, plain }
    })
}

pub fn string() -> impl Strategy<Value = Written> {
    let letter = prop_oneof![
        6 => "[a-zA-Z0-9 ]".prop_map(|letter: String| letter),
        2 => any::<char>().prop_map(|letter| {
            let quoted = Value::from(letter.to_string()).to_string();
            quoted[1..quoted.len() - 1].to_owned()
        }),
        2 => any::<char>().prop_map(|letter| {
            let mut units = [0; 2];
            letter.encode_utf16(&mut units).iter().map(|unit| format!("\\u{unit:04x}")).collect()
        }),
        1 => prop::sample::select(vec!["\\n", "\\/", "\\\\", "\\\"", "\\b", "\\f", "\\t"])
            .prop_map(str::to_owned),
    ];
    prop::collection::vec(letter, 0..24)
        .prop_map(|letters| Written::same(format!("\"{}\"", letters.concat())))
}

pub fn float() -> impl Strategy<Value = Written> {
    prop_oneof![
        any::<f64>()
            .prop_filter("JSON has finite numbers only", |number| number.is_finite())
            .prop_map(|number| Written::same(format!("{number:e}"))),
        (-100_000..100_000_i32)
            .prop_map(|number| { Written::same(format!("{:.3}", f64::from(number) / 1000.0)) }),
    ]
}

pub fn object(fields: Vec<(&'static str, Option<Written>)>) -> Written {
    let items = fields
        .into_iter()
        .filter_map(|(name, value)| Some(Written::same(format!("\"{name}\":")).then(&value?)));
    Written::joined("{", items.collect(), "}")
}

pub fn leaf() -> impl Strategy<Value = Written> {
    let name = prop::option::of(string());
    (integer(any::<u32>()), name, prop::option::of(float()), space(), any::<bool>()).prop_map(
        |(id, name, ratio, space, turned)| {
            let mut fields = vec![("id", Some(space.then(&id))), ("name", name), ("ratio", ratio)];
            if turned {
                fields.reverse();
            }
            object(fields)
        },
    )
}

pub fn kind() -> impl Strategy<Value = Written> {
    let flag = prop::option::of(any::<bool>().prop_map(|flag| Written::same(flag.to_string())));
    let simple = prop_oneof![
        prop::sample::select(vec!["\"Plain\"", "\"Other\"", "\"Pl\\u0061in\""])
            .prop_map(Written::same),
        integer(any::<i16>()).prop_map(|number| object(vec![("One", Some(number))])),
        (integer(any::<u8>()), any::<bool>()).prop_map(|(number, flag)| {
            let pair = vec![number, Written::same(flag.to_string())];
            object(vec![("Two", Some(Written::joined("[", pair, "]")))])
        }),
        (leaf(), flag).prop_map(|(leaf, flag)| {
            object(vec![("Named", Some(object(vec![("leaf", Some(leaf)), ("flag", flag)])))])
        }),
    ];
    simple.prop_recursive(3, 12, 4, |kind| {
        prop::collection::vec(kind, 0..4)
            .prop_map(|kinds| object(vec![("Many", Some(Written::joined("[", kinds, "]")))]))
    })
}

pub fn tree() -> impl Strategy<Value = Written> {
    let parts = || {
        let numbers = prop::option::of(integer(any::<u64>()));
        (
            leaf(),
            prop::collection::vec(kind(), 0..4),
            integer(any::<i128>()),
            integer(any::<i64>()),
            prop::option::of(any::<char>()),
            prop::option::of(prop::collection::vec(numbers, 0..4)),
        )
    };
    let node = |(leaf, kinds, wide, number, letter, newtype): Parts, children: Vec<Written>| {
        let null = || Written::same("null");
        let letter = letter
            .map_or_else(null, |letter| Written::same(Value::from(letter.to_string()).to_string()));
        let children = children
            .into_iter()
            .enumerate()
            .map(|(index, child)| Written::same(format!("\"child{index}\":")).then(&child));
        let newtype = newtype.map(|numbers| {
            let numbers = numbers.into_iter().map(|number| number.unwrap_or_else(null));
            Written::joined("[", numbers.collect(), "]")
        });
        object(vec![
            ("leaf", Some(leaf)),
            ("kinds", Some(Written::joined("[", kinds, "]"))),
            ("children", Some(Written::joined("{", children.collect(), "}"))),
            ("wide", Some(wide)),
            ("pair", Some(Written::joined("[", vec![number, letter], "]"))),
            ("newtype", newtype),
        ])
    };
    parts().prop_map(move |parts| node(parts, Vec::new())).prop_recursive(3, 6, 3, move |tree| {
        (parts(), prop::collection::vec(tree, 0..3))
            .prop_map(move |(parts, children)| node(parts, children))
    })
}

type Parts = (Written, Vec<Written>, Written, Written, Option<char>, Option<Vec<Option<Written>>>);

pub fn value() -> impl Strategy<Value = Value> {
    let scalar = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        (-1_000_000..1_000_000_i32)
            .prop_map(|number| Value::from((f64::from(number) + 0.5) / 64.0)),
        any::<String>().prop_map(Value::from),
    ];
    scalar.prop_recursive(5, 48, 12, |value| {
        prop_oneof![
            prop::collection::vec(value.clone(), 0..12).prop_map(Value::from),
            prop::collection::btree_map(".{0,6}", value, 0..12)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

/// A piece of text that is likely to matter.
pub fn token() -> impl Strategy<Value = String> {
    prop_oneof![
        8 => prop::sample::select(vec![
            "{", "}", "[", "]", ",", ":", "\"", "\\", "null", "true", "false", "1", "-1", "0",
            "300", "99999999999999999999", " ", "\n", "\"a\"", "\"b\"", "\"id\"", "\"Plain\"",
            "\"One\"", "\"Two\"", "\"leaf\"", "{\"id\":1}", "{\"One\":1}", "\"\\ud800\"", "\"é\"",
            "[[", "]]", "{\"a\":", "-", "01",
        ]).prop_map(str::to_owned),
        1 => any::<char>().prop_map(String::from),
    ]
}

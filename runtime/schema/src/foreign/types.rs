//! The names of types: the names in JSON Schema, and the names that other languages have for the same types.

use super::TypeNames;

/// The names of types in JSON Schema.
const KNOWN: [&str; 7] = ["object", "array", "string", "number", "integer", "boolean", "null"];

/// The type names of other languages, grouped by the JSON type that they mean. `None` means any type.
const FOREIGN: &[(Option<&str>, &[&str])] = &[
    (
        Some("object"),
        &["dict", "dictionary", "mapping", "hashmap", "hashtable", "treemap", "map", "struct"],
    ),
    (Some("array"), &["list", "arraylist", "linkedlist", "sequence", "tuple", "set", "frozenset"]),
    (Some("string"), &["str", "text", "char", "character"]),
    (Some("number"), &["float", "double", "float32", "float64", "decimal", "bigdecimal", "num"]),
    (Some("integer"), &["int", "int32", "int64", "long", "short", "byte", "bigint", "biginteger"]),
    (Some("boolean"), &["bool"]),
    (Some("null"), &["none", "nonetype", "nil", "void", "undefined"]),
    (None, &["any", "mixed", "unknown", ""]),
];

/// The constraints that type names of other languages add to their JSON types.
const LOST: &[(&str, &str)] = &[
    ("tuple", "A tuple."),
    ("set", "A set: no item twice."),
    ("frozenset", "A set: no item twice."),
    ("char", "One character."),
    ("character", "One character."),
];

/// The meaning of a type's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Meaning {
    Own(&'static str),
    /// A name from another language. The first value is its JSON type, or `None` for any type. The second value is the
    /// constraint that the name adds.
    Mapped(Option<&'static str>, Option<&'static str>),
    Unknown,
}

pub(super) fn meaning(name: &str, names: TypeNames) -> Meaning {
    if let Some(own) = KNOWN.into_iter().find(|known| *known == name) {
        return Meaning::Own(own);
    }
    match names {
        TypeNames::JsonSchema => Meaning::Unknown,
        TypeNames::Foreign => match foreign(name) {
            Some(kind) => Meaning::Mapped(kind, loss_of(name)),
            None => Meaning::Unknown,
        },
    }
}

/// Tells a person which type name to write instead of a name that JSON Schema does not have.
pub(super) fn instead(name: &str) -> String {
    match foreign(name) {
        Some(Some(kind)) => format!("expected \"{kind}\""),
        Some(None) => "leave `type` out where any value is taken".to_owned(),
        None => format!("expected one of \"{}\"", KNOWN.join("\", \"")),
    }
}

fn foreign(name: &str) -> Option<Option<&'static str>> {
    let name = name.trim().to_ascii_lowercase();
    let own = KNOWN.into_iter().find(|known| *known == name);
    own.map(Some).or_else(|| {
        let row = FOREIGN.iter().find(|(_, names)| names.contains(&name.as_str()));
        row.map(|(kind, _)| *kind)
    })
}

fn loss_of(name: &str) -> Option<&'static str> {
    let name = name.trim().to_ascii_lowercase();
    LOST.iter().find(|(foreign, _)| *foreign == name).map(|(_, words)| *words)
}

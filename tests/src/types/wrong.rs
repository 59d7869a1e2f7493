//! A schema that is wrong for its type makes no registry, and the error says where it is wrong.

use std::collections::BTreeMap;

use toolwright::{Handle, Registry, RegistryProblem, data, tool};

/// A default that is no value of its own.
#[data]
pub struct WrongDefault {
    #[serde(default = "hundred")]
    #[schemars(range(max = 10))]
    size: u8,
}

fn hundred() -> u8 {
    100
}

/// An example that is no value of its own.
#[data]
pub struct WrongExample {
    #[schemars(extend("examples" = ["a"]))]
    size: u8,
}

/// A keyword with a value that it cannot have.
#[data]
pub struct WrongKeyword {
    #[schemars(extend("minLength" = "three"))]
    name: String,
}

/// A reference to nothing.
#[data]
pub struct WrongReference {
    #[schemars(extend("$ref" = "#/$defs/Nothing"))]
    name: String,
}

/// A pattern that is none.
#[data]
pub struct WrongPattern {
    #[schemars(extend("pattern" = "["))]
    name: String,
}

/// A pattern that takes more than one pass to match.
#[data]
pub struct LookingAround {
    #[schemars(extend("pattern" = "^(?!a)"))]
    name: String,
}

/// A type of another kind than it says.
#[data]
pub struct WrongType {
    #[schemars(with = "String")]
    size: u8,
}

/// A key of another name than it says.
#[data]
pub struct WrongName {
    #[schemars(rename = "length")]
    size: Option<u8>,
}

/// A key that it does not say it needs.
#[data]
pub struct WrongNeed {
    #[schemars(with = "Option<u8>")]
    size: u8,
}

/// A choice that it does not have.
#[data]
pub enum WrongChoice {
    #[schemars(rename = "quick")]
    Fast,
    Slow,
}

/// A number that serde's buffer does not hold.
#[data]
pub struct WideInside {
    #[serde(flatten)]
    inner: Wide,
}

#[data]
pub struct Wide {
    number: u128,
}

/// A map that serde cannot read through its buffer.
#[data]
#[serde(untagged)]
pub enum MapInside {
    Map(BTreeMap<u8, bool>),
}

/// A number that it does not expect is no error to it.
#[data]
#[serde(from = "u8")]
pub struct Panicking(u8);

impl From<u8> for Panicking {
    fn from(number: u8) -> Self {
        assert!(number < 2, "{number} is too large");
        Self(number)
    }
}

macro_rules! wrong {
    ($($name:ident: $type:ty,)*) => {
        $(mod $name {
            use super::*;

            /// Takes a value.
            #[tool(effect = read, handle = HANDLE)]
            pub async fn $name(
                /// The value.
                value: $type,
            ) {
                let _ = value;
            }
        })*

        /// The tools that no registry takes.
        pub fn tools() -> Vec<Handle> {
            vec![$($name::HANDLE),*]
        }
    };
}

wrong! {
    wrong_default: WrongDefault,
    wrong_example: WrongExample,
    wrong_keyword: WrongKeyword,
    wrong_reference: WrongReference,
    wrong_pattern: WrongPattern,
    looking_around: LookingAround,
    wrong_type: WrongType,
    wrong_name: WrongName,
    wrong_need: WrongNeed,
    wrong_choice: WrongChoice,
    wide_inside: WideInside,
    map_inside: MapInside,
    map_by_float: BTreeMap<Float, bool>,
    zoned: jiff::Zoned,
    panicking: Panicking,
}

/// A number that has no total order but this.
#[data]
#[derive(PartialEq, PartialOrd)]
pub struct Float(f64);

impl Eq for Float {}

#[expect(
    clippy::derive_ord_xor_partial_ord,
    reason = "only a map needs it, and nothing is put into one"
)]
impl Ord for Float {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}

/// S2.60: a type that has no schema is an error, never silently a string.
#[test]
fn a_schema_that_is_wrong_for_its_type_is_told_by_its_place() {
    let told: Vec<String> = tools()
        .into_iter()
        .map(|handle| match Registry::of([handle]) {
            Ok(_) => format!("{}: nothing is wrong", handle.name()),
            Err(error) => error
                .problems
                .iter()
                .map(|problem| match problem {
                    RegistryProblem::Schema { name, problem, .. } => format!("{name}: {problem}"),
                    other => other.to_string(),
                })
                .collect(),
        })
        .collect();
    insta::assert_snapshot!(told.join("\n"));
}

//! Arguments with the defaults of their schema filled in: a tool of any type takes them, and reads what it would have
//! read without.

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::Value;
use toolwright::unstable::arguments::{FinalArguments, canonical};
use toolwright::{Call, Executor, Handle, tool};

use super::kinds::{self, *};
use super::values::values;
use crate::support::strict;

macro_rules! echo {
    ($($name:ident: $type:ty,)*) => {
        $(mod $name {
            use std::collections::BTreeMap;

            use super::*;

            /// Takes a value and writes it as JSON.
            #[tool(effect = read, handle = HANDLE)]
            pub async fn $name(
                /// The value.
                value: $type,
                /// Another.
                more: Option<Vec<$type>>,
                /// By name.
                #[arg(default)]
                by_name: BTreeMap<String, $type>,
            ) -> String {
                serde_json::to_string(&(value, more, by_name)).unwrap()
            }
        })*

        fn echoes() -> Vec<Handle> {
            vec![$($name::HANDLE),*]
        }
    };
}

echo! {
    texts: String,
    wide_integers: i128,
    floats: f64,
    any_values: Value,
    options: Option<u8>,
    double_options: Option<Option<Point>>,
    tuples: (u8, Option<bool>, Defaults),
    trees: Tree,
    external_enums: External,
    internal_enums: Internal,
    adjacent_enums: Adjacent,
    untagged_enums: Untagged,
    newtypes_with_defaults: HoldsNewtypes,
    double_options_inside: DoubleInside,
    flattened_structs: Flattened,
    flattened_enums: FlattenedEnum,
    flattened_maps: FlattenedMap,
    defaults_of_a_type: Defaults,
    defaults_of_fields: FieldDefaults,
    renamed: Renamed,
    aliased: Aliased,
    skipping: Skips,
    limited: Limited,
}

/// What the settled text is read as, where the tool takes the text.
fn settled(executor: &Executor, name: &str, text: &str) -> Result<Option<String>, TestCaseError> {
    if executor.examine(&Call::new(name, text)).is_err() {
        return Ok(None);
    }
    let definition = executor.registry().get(name).unwrap();
    let settled = FinalArguments::of(&definition, text).unwrap();
    let read = executor.examine(&Call::new(name, settled.arguments()));
    let why = read.as_ref().err().map(|error| error.message().to_owned());
    prop_assert!(read.is_ok(), "{} reads {} ({:?})", name, settled.arguments(), why);
    prop_assert!(executor.examine(&Call::new(name, settled.canonical())).is_ok());
    let again = FinalArguments::of(&definition, settled.arguments()).unwrap();
    prop_assert_eq!(&again, &settled);
    prop_assert_eq!(canonical(settled.arguments()).unwrap(), settled.canonical());
    Ok(Some(settled.arguments().to_owned()))
}

/// Lets a property hold of values of each tool's schema; at least some must be taken.
fn each(executor: &Executor, holds: impl Fn(&str, &str) -> Result<bool, TestCaseError>) {
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|it| it.parse().ok()).unwrap_or(50);
    for definition in executor.registry().definitions() {
        let schema = &definition.input_schema;
        let taken = std::cell::Cell::new(0);
        let config = Config { cases, failure_persistence: None, ..Config::default() };
        let tested = TestRunner::new(config).run(&values(schema, schema, 3), |input| {
            taken.set(taken.get() + u32::from(holds(&definition.name, &input.to_string())?));
            Ok(())
        });
        assert!(tested.is_ok(), "{}: {}", definition.name, tested.unwrap_err());
        assert!(taken.get() > 0, "{} takes none of the values", definition.name);
    }
}

#[test]
fn a_tool_of_any_type_takes_its_settled_arguments() {
    let executor = strict([kinds::tools(), kinds::whole()].concat());
    each(&executor, |name, text| Ok(settled(&executor, name, text)?.is_some()));
}

#[test]
fn a_tool_reads_the_same_values_from_settled_arguments() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let executor = strict(echoes());
    each(&executor, |name, text| {
        let Some(arguments) = settled(&executor, name, text)? else { return Ok(false) };
        let read = |text: &str| runtime.block_on(executor.call(&Call::new(name, text)));
        let (before, after) = (read(text), read(&arguments));
        prop_assert!(!before.is_error());
        prop_assert_eq!(after.text(), before.text(), "{} reads {}", name, arguments);
        Ok(true)
    });
}

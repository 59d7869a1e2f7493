//! What is known of a type without reading it is what reading samples of it would find.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::Value;
use toolwright::data;
use toolwright_core::input::{
    Fault, Input, IsKnown, Knowledge, Reader, UnknownType as _, VisitedTypes, fill,
};

use super::super::*;
use super::{Aliased, Plain};

#[data]
struct Page {
    offset: Option<u32>,
    #[serde(default)]
    limit: u8,
    #[serde(default = "five", skip_serializing_if = "Option::is_none")]
    most: Option<u16>,
    #[serde(default)]
    options: Options,
}

fn five() -> Option<u16> {
    Some(5)
}

#[data]
#[derive(Default)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
struct Options {
    first_name: String,
    #[serde(rename = "SECOND")]
    second_name: Option<Box<Options>>,
    twice: Option<Option<u8>>,
    anything: Option<Value>,
    numbers: HashMap<String, Option<f32>>,
    speed: Option<Speed>,
    forms: Vec<Form>,
}

#[data]
#[serde(rename_all = "snake_case")]
enum Speed {
    Fast,
    /// Slower than that.
    VerySlow,
}

#[data]
#[serde(rename_all_fields = "camelCase")]
enum Form {
    Nothing,
    One(u8),
    Maybe(Option<u8>),
    Pair(u64, i128),
    Named {
        #[serde(default)]
        the_name: String,
        page: Option<Box<Page>>,
    },
}

#[data]
struct HoldsUnknown {
    plain: Vec<Derived>,
}

/// Derived without `#[data]`.
#[derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
struct Derived {
    size: u8,
}

#[data]
struct HoldsAliased {
    name: Name,
}

#[data]
struct Name {
    #[serde(alias = "title")]
    name: String,
}

/// What is known of a type, and what samples of it say: whether type and schema agree, and whether the schema stays.
fn judged<T: Input>(is_known: IsKnown) -> (bool, bool) {
    let spec = T::PARAM.spec("value", "A value.");
    let mut generator = SchemaSettings::draft2020_12().with(inlined).into_generator();
    let raw = limits::tighten(Value::from((spec.schema)(&mut generator)));
    let definitions = definitions(&mut generator);
    let derived = exact::is_exact(&raw, &definitions);
    let mut schema = normal::normalise(raw);
    if (spec.optional)() {
        normal::strip_null(&mut schema);
    }
    let mut document = joined(schema, &normal::definitions(definitions));
    nulls::settle(&mut document, spec.probe).unwrap();
    let before = document.clone();
    let agreed = probe::agree(&mut document, spec.probe).unwrap() && document == before;
    (derived && is_known(&mut VisitedTypes::default()), derived && agreed)
}

macro_rules! judged {
    ($($type:ty),* $(,)?) => {
        [$((stringify!($type), judged::<$type>(Knowledge::<$type>::is_known))),*]
    };
}

#[test]
fn a_known_type_is_one_whose_samples_agree_with_its_schema() {
    let known = judged![
        bool, String, f32, f64, u8, i16, u64, i128, u128, usize, Value,
        Option<String>, Vec<Option<u32>>, Vec<Vec<f32>>, Box<i8>,
        HashMap<String, Vec<u8>>, BTreeMap<String, Option<bool>>,
        Page, Options, Speed, Form, Option<Page>, Vec<Form>, HashMap<String, Options>,
    ];
    for (name, judged) in known {
        assert_eq!(judged, (true, true), "{name}");
    }
}

#[test]
fn a_type_is_not_known_when_one_inside_it_is_not() {
    // Samples of the first say that it is exact, which its attributes alone do not.
    for (name, (is_known, _)) in judged![HoldsUnknown, Plain, HoldsAliased, Vec<Name>, Aliased] {
        assert!(!is_known, "{name}");
    }
}

static READS: AtomicUsize = AtomicUsize::new(0);

fn counted(reader: &mut Reader<'_>) -> Result<(), Fault> {
    READS.fetch_add(1, Ordering::Relaxed);
    fill::<Page>(&mut None, reader)
}

#[test]
fn a_known_type_is_not_read_when_it_is_registered() {
    const PAGE: ParamSpec = <Page as Input>::PARAM.spec("page", " Where.");
    const SPECS: [ParamSpec; 2] = [
        ParamSpec { probe: counted, is_known: Knowledge::<Page>::is_known, ..PAGE },
        ParamSpec { probe: counted, is_known: |_| false, ..PAGE },
    ];
    static KNOWN: Spec = Spec { parameters: &[SPECS[0]], ..Spec::EMPTY };
    static UNKNOWN: Spec = Spec { parameters: &[SPECS[1]], ..Spec::EMPTY };
    let (known, _) = describe(&KNOWN).unwrap();
    let reads = READS.load(Ordering::Relaxed);
    let (unknown, _) = describe(&UNKNOWN).unwrap();
    // Of its two unions with `null`, each is asked once or twice what it makes of it.
    assert!(reads <= 8, "{reads}");
    assert!(READS.load(Ordering::Relaxed) > 100);
    assert_eq!(known.input_schema, unknown.input_schema);
}

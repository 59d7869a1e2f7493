//! A crate of the same build may switch `serde_json/preserve_order` on, so that maps are in the order in which they were made. Two
//! builds of one application, one with it and one without, share a journal: what is signed, compared and shown of a call, and
//! what a model is given, is the same in both. This file is tried in both:
//!
//! ```sh
//! cargo test -p tests --features serde_json/preserve_order builds
//! ```

use std::collections::{BTreeMap, HashMap};

use serde_json::{Value, json};
use toolwright::dialect::Dialect;
use toolwright::unstable::arguments::{
    DigestInput, FinalArguments, canonical, digest, fingerprint,
};
use toolwright::{DynamicTool, Registry, ToolError, data, tool};

/// How a parcel travels.
#[data]
#[serde(tag = "way", rename_all = "snake_case")]
enum Travel {
    /// On a ship.
    Sea {
        /// Its name.
        vessel: String,
        /// The deck.
        deck: Option<u8>,
    },
    /// In a plane.
    Air {
        /// Its number.
        flight: String,
    },
}

/// What a parcel is.
#[data]
struct Parcel {
    /// How heavy, in grams.
    weight: u32,
    /// How it travels.
    travel: Travel,
    /// What is written on it.
    #[serde(default)]
    labels: BTreeMap<String, Vec<String>>,
    /// What is in it.
    #[serde(default)]
    parts: Vec<Parcel>,
}

/// Ships parcels.
#[tool(unlinked, name = "builds_ship", approval = "it costs money")]
async fn ship(
    /// Where to.
    to: String,
    /// What.
    parcels: Vec<Parcel>,
    /// Notes for those who carry it.
    #[arg(default = HashMap::new())]
    notes: HashMap<String, i64>,
    /// How often it is tried.
    #[arg(default = 3)]
    attempts: u8,
) -> usize {
    parcels.len() + to.len() + notes.len() + usize::from(attempts)
}

/// A tool whose schema was written in no order.
fn foreign() -> DynamicTool {
    let schema = json!({
        "type": "object",
        "required": ["zone", "at"],
        "properties": {
            "zone": {"description": "Which.", "type": "string", "enum": ["b", "a"]},
            "at": {"$ref": "#/$defs/Place"},
            "options": {
                "type": "object",
                "properties": {"z": {"type": "integer", "default": 1}, "a": {"type": "boolean", "default": true}},
                "default": {"z": 2, "a": false}
            },
        },
        "$defs": {
            "Place": {
                "type": "object",
                "properties": {"y": {"type": "number"}, "x": {"type": "number"}},
                "required": ["y", "x"]
            },
        },
    });
    let handler = |_: Value, _| async { Ok::<_, ToolError>("") };
    DynamicTool::new("builds_place", "Finds a place.", schema, handler)
}

fn registry() -> Registry {
    let registry = Registry::of([SHIP]).unwrap();
    registry.register(foreign()).unwrap();
    registry
}

const SHIPMENT: &str =
    r#"{"to":"ada","parcels":[{"weight":5,"travel":{"way":"sea","vessel":"v"}}]}"#;
const PLACE: &str = r#"{"zone":"a","at":{"y":1.50,"x":2},"options":{}}"#;

#[test]
fn fingerprints_and_digests_are_those_of_every_build() {
    let registry = registry();
    let mut all = String::new();
    for (tool, arguments) in [("builds_ship", SHIPMENT), ("builds_place", PLACE)] {
        let definition = registry.get(tool).unwrap();
        let fingerprint = fingerprint(&definition);
        let made = FinalArguments::of(&definition, arguments).unwrap();
        let (user, session) = (Some("ada"), None);
        let arguments = made.canonical();
        let input =
            DigestInput { tool, fingerprint: &fingerprint, arguments, user, session, run: "r" };
        let digest = digest(&input, None);
        all.push_str(&format!("{tool} {fingerprint}\n{digest} {arguments}\n"));
        assert_eq!(canonical(made.shown()).unwrap(), arguments);
    }
    insta::assert_snapshot!(all);
}

#[test]
fn what_models_are_given_is_that_of_every_build() {
    let mut all = String::new();
    for dialect in Dialect::ALL {
        let listed = match registry().listing(dialect) {
            Ok(listing) => listing.tools().get().to_owned(),
            Err(error) => error.to_string(),
        };
        all.push_str(&format!("{dialect}: {listed}\n"));
    }
    insta::assert_snapshot!(all);
}

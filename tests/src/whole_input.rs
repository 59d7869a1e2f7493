//! One type of the user's carries the whole input, with attributes of its own.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use toolwright::{Call, Registry, RegistryProblem, data, tool};

use crate::support::{executor, kind, strict};

/// What to book.
#[data]
#[serde(rename_all = "camelCase")]
struct Booking {
    /// Who travels.
    first_name: String,
    /// How many nights.
    #[schemars(range(min = 1, max = 30))]
    nights: u32,
    /// Wishes, each once.
    #[serde(default)]
    #[schemars(extend("uniqueItems" = true))]
    wishes: Vec<String>,
}

/// Books a room.
#[tool]
async fn book_room(#[input] booking: Booking) -> String {
    format!("{} {} {}", booking.first_name, booking.nights, booking.wishes.len())
}

/// S2.31: a tool made from a type with a schema of its own: converted to JSON Schema, and its
/// values checked by it.
/// S2.21: the schema of the input is a type of the user's, however it came by its schema.
#[tokio::test]
async fn the_attributes_of_the_type_make_the_schema_and_are_kept() {
    let executor = strict([BOOK_ROOM]);
    let schema = &executor.registry().get("book_room").unwrap().input_schema;
    assert_eq!(schema["required"], json!(["firstName", "nights"]));
    assert_eq!(schema["properties"]["nights"]["maximum"], 30);
    assert_eq!(schema["additionalProperties"], false);
    let booked = executor
        .call(&Call::new("book_room", r#"{"firstName":"Ada","nights":2,"wishes":["quiet"]}"#))
        .await;
    assert_eq!(booked.text(), "Ada 2 1");
    for (wrong, place) in [
        (r#"{"firstName":"Ada","nights":31}"#, "/nights"),
        (r#"{"firstName":"Ada","nights":1,"wishes":["quiet","quiet"]}"#, "/wishes"),
        (r#"{"first_name":"Ada","nights":1}"#, "/first_name"),
    ] {
        let answer = executor.call(&Call::new("book_room", wrong)).await;
        assert_eq!(kind(&answer), "invalid_input", "{wrong}");
        assert!(answer.text().contains(place), "{wrong}: {}", answer.text());
    }
}

/// An input that takes more than it names.
#[data]
struct Open {
    /// The name.
    name: String,
    /// Whatever else comes.
    #[serde(flatten)]
    rest: BTreeMap<String, Value>,
}

/// Takes whatever comes.
#[tool]
async fn take_open(#[input] open: Open) -> String {
    format!("{} {:?}", open.name, open.rest.keys())
}

/// S2.24: types are always checked and unknown keys refused, unless the input's type opts out.
/// S2.25: the schema has its descriptions and is closed; a type that allows additional properties
/// says so in it.
#[tokio::test]
async fn unknown_keys_are_refused_unless_the_type_takes_them() {
    let executor = strict([BOOK_ROOM, TAKE_OPEN]);
    let closed =
        executor.call(&Call::new("book_room", r#"{"firstName":"Ada","nights":1,"age":3}"#)).await;
    assert_eq!(kind(&closed), "invalid_input");
    let open = executor.call(&Call::new("take_open", r#"{"name":"Ada","age":3}"#)).await;
    assert_eq!(open.text(), r#"Ada ["age"]"#);
    let twice = executor.call(&Call::new("take_open", r#"{"name":"Ada","age":3,"age":4}"#)).await;
    assert_eq!(kind(&twice), "invalid_input");
    let wrong = executor.call(&Call::new("take_open", r#"{"name":7,"age":3}"#)).await;
    assert_eq!(kind(&wrong), "invalid_input");
    let catalog = executor.catalog();
    let schema = |name| &catalog.get(name).unwrap().input_schema;
    assert_eq!(schema("book_room")["additionalProperties"], false);
    assert_ne!(schema("take_open")["additionalProperties"], false);
    assert_eq!(schema("take_open")["properties"]["name"]["description"], "The name.");
}

/// A list, which the macro does not see through.
#[data]
struct List(Vec<String>);

/// Takes a list, which no model can call.
#[tool]
async fn take_list(#[input] list: List) -> usize {
    list.0.len()
}

/// S2.54: a type that cannot be converted is an ordinary error, at registration.
#[test]
fn an_input_that_is_no_object_is_refused_at_registration() {
    let error = Registry::of([TAKE_LIST]).unwrap_err();
    assert!(matches!(
        error.problems.as_slice(),
        [RegistryProblem::Schema { name, .. }] if name == "take_list"
    ));
    let error: Box<dyn std::error::Error> = error.into();
    assert!(error.to_string().contains("the input of a tool is an object"), "{error}");
}

/// A tree.
#[data]
struct Tree {
    /// Its name.
    name: String,
    /// Its branches.
    #[serde(default)]
    branches: Vec<Tree>,
}

/// Counts the leaves of a tree.
#[tool(effect = read)]
async fn count_leaves(#[input] tree: Tree) -> usize {
    fn leaves(tree: &Tree) -> usize {
        let below: usize = tree.branches.iter().map(leaves).sum();
        below.max(usize::from(!tree.name.is_empty()))
    }
    leaves(&tree)
}

#[tokio::test]
async fn a_type_that_holds_itself_has_a_schema_and_is_read() {
    let executor = executor([COUNT_LEAVES]);
    let schema = &executor.registry().get("count_leaves").unwrap().input_schema;
    assert_eq!(schema["type"], "object");
    let tree = r#"{"name":"a","branches":[{"name":"b"},{"name":"c"}]}"#;
    assert_eq!(executor.call(&Call::new("count_leaves", tree)).await.text(), "2");
    let wrong = r#"{"name":"a","branches":[{"name":"b","branches":[{"nam":"c"}]}]}"#;
    let answer = executor.call(&Call::new("count_leaves", wrong)).await;
    assert!(answer.text().contains("/branches/0/branches/0/nam"), "{}", answer.text());
}

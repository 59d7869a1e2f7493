//! Every form in which a provider takes tools: what it is sent, what it is told in words, what is
//! refused and why.

mod limits;
mod names;
mod reduced;
mod refused;
mod way_back;

use serde_json::{Value, json};
use toolwright::dialect::{Dialect, Severity};
use toolwright::{Handle, Registry, data, tool};

/// A folder of files.
#[data]
struct Folder {
    /// Its name, without its parents'.
    name: String,
    /// The folders in it.
    #[serde(default)]
    folders: Vec<Folder>,
    /// Where it links to.
    link: Option<Box<Folder>>,
}

/// Create a folder with everything in it.
#[tool(effect = idempotent)]
async fn create_folder(
    /// What to create.
    folder: Folder,
) {
    drop(folder);
}

/// When something happens.
#[data]
#[serde(untagged)]
enum When {
    /// So many seconds from now.
    In(u32),
    /// At a time of day, as `hh:mm`.
    At(String),
    /// Again and again.
    Every {
        /// How many minutes apart.
        minutes: u8,
        /// How often; for ever when absent.
        times: Option<u16>,
    },
}

/// Remind somebody of something.
#[tool(name = "reminder.set")]
async fn set_reminder(
    /// Of what.
    #[arg(length = 1..=200, example = "call the bank")]
    text: String,
    /// When to do so.
    when: When,
    /// How loudly, from 1 to 5.
    #[arg(default = 3, minimum = 1, maximum = 5)]
    volume: u8,
) {
    drop((text, when, volume));
}

fn shown(tool: Handle) -> String {
    let registry = Registry::of([tool]).unwrap();
    let mut text = String::new();
    for dialect in Dialect::ALL {
        text.push_str(&format!("== {dialect}\n"));
        match registry.listing(dialect) {
            Ok(listing) => {
                text.push_str(listing.tools().get());
                text.push('\n');
                for note in listing.notes() {
                    text.push_str(&format!("note: {}: {}\n", note.pointer, note.message));
                }
            }
            Err(error) => {
                for finding in error.findings.iter().filter(|it| it.severity == Severity::Error) {
                    text.push_str(&format!("{finding}\n"));
                }
            }
        }
    }
    text
}

#[test]
fn a_recursive_type() {
    insta::assert_snapshot!(shown(CREATE_FOLDER));
}

#[test]
fn an_untagged_enum() {
    insta::assert_snapshot!(shown(SET_REMINDER));
}

/// Read part of a file.
#[tool(effect = read)]
async fn read_part(
    /// Where it is.
    path: String,
    /// The first line.
    #[arg(default = 1, minimum = 1)]
    from: u32,
    /// The number of lines; all when absent.
    count: Option<u32>,
) -> String {
    format!("{path}:{from}+{count:?}")
}

/// Ends the run.
#[tool(terminal, title = "Finish")]
async fn end_run() {}

/// Nobody is shown this.
#[tool(hidden)]
async fn unseen() {}

/// S0.2: a model provider is given a tool's schema as `input_schema`.
/// S0.26: the whole registry, each tool with name, description and an object schema of properties and
/// required keys.
/// S1.3: the parameters as the provider's JSON Schema.
/// S3.12: the input's schema is sent in the function's definition.
#[test]
fn a_registry_is_listed_as_each_provider_wants_it() {
    let registry = Registry::of([READ_PART, END_RUN, UNSEEN]).unwrap();
    let mut text = String::new();
    for dialect in Dialect::ALL {
        let listing = registry.listing(dialect).unwrap();
        text.push_str(&format!("{dialect}: {}\n", listing.tools()));
    }
    insta::assert_snapshot!(text);
}

#[test]
fn a_listing_is_made_once() {
    let registry = Registry::of([READ_PART]).unwrap();
    let one = registry.listing(Dialect::Mcp).unwrap();
    let other = registry.clone().listing(Dialect::Mcp).unwrap();
    assert!(std::ptr::eq(one.tools(), other.tools()));
}

/// Measure how far two cities are apart, in kilometres.
#[tool(effect = read)]
async fn measure_way(
    /// Where it begins.
    start: String,
    /// Where it ends.
    end: String,
    /// By which means.
    by: String,
) -> usize {
    start.len() + end.len() + by.len()
}

/// Where the keys stand in a text, in their order there.
fn order_of<'a>(text: &str, mut keys: Vec<&'a str>) -> Vec<&'a str> {
    keys.sort_by_key(|key| text.find(&format!(r#""{key}":{{"#)).unwrap());
    keys
}

#[test]
fn a_request_carries_the_parameters_in_the_order_of_the_signature() {
    let registry = Registry::of([MEASURE_WAY]).unwrap();
    for dialect in Dialect::ALL {
        let listing = registry.listing(dialect).unwrap();
        let rest = json!({ "model": "m", "messages": [{ "role": "user", "content": "how far?" }] });
        let text = serde_json::to_string(&listing.request(&rest)).unwrap();
        assert_eq!(
            order_of(&text, vec!["by", "end", "start"]),
            ["start", "end", "by"],
            "{dialect}"
        );
        assert!(text.contains(&format!(r#""tools":{}"#, listing.tools().get())), "{dialect}");
        let mut read: Value = serde_json::from_str(&text).unwrap();
        read.as_object_mut().unwrap().remove("tools").unwrap();
        assert_eq!(read, rest, "{dialect}");
    }
}

#[test]
fn a_request_that_has_tools_already_or_is_no_object_is_refused() {
    let listing = Registry::of([MEASURE_WAY]).unwrap().listing(Dialect::Anthropic).unwrap();
    let refused = |rest: Value| serde_json::to_string(&listing.request(rest)).unwrap_err();
    assert_eq!(
        refused(json!({ "tools": [] })).to_string(),
        "the request has the key `tools` already; leave it out, the listing adds it"
    );
    assert_eq!(refused(json!([])).to_string(), "the rest of a request is an object");
}

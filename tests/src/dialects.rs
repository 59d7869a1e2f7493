//! Every form in which a provider takes tools: what it is sent, what it is told in words, what is
//! refused and why.

mod names;
mod refused;
mod way_back;

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

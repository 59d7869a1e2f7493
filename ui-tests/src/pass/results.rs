// A `Result` is one under any name; what an error becomes is the type's to say.
#![deny(warnings, dead_code)]
use toolwright::{Output, Registry, ToolError, data, tool};

type Fallible<T = ()> = Result<T, Failed>;

struct Failed;

impl From<Failed> for ToolError {
    fn from(_: Failed) -> Self {
        ToolError::new("failed", "it failed")
    }
}

#[data]
struct Line {
    text: String,
}

/// A serialisable type without a schema.
#[derive(serde::Serialize)]
struct Plain {
    text: String,
}

/// Reads.
#[tool]
async fn by_io() -> std::io::Result<String> {
    Ok("".into())
}

/// Reads.
#[tool]
async fn by_alias() -> Fallible<Vec<Line>> {
    Ok(vec![Line { text: "one".into() }])
}

/// Reads.
#[tool]
async fn by_default() -> Fallible {
    Ok(())
}

/// Reads.
#[tool]
async fn by_box() -> Result<Option<Line>, Box<dyn std::error::Error + Send + Sync>> {
    Ok(None)
}

/// Reads.
#[tool]
async fn without_schema() -> Plain {
    Plain { text: "one".into() }
}

/// Reads.
#[tool]
async fn by_hand() -> Result<Output, ToolError> {
    Ok(Output::text("done"))
}

pub(super) fn main() {
    Registry::of([BY_IO, BY_ALIAS, BY_DEFAULT, BY_BOX, WITHOUT_SCHEMA, BY_HAND]).expect("sound tools");
}

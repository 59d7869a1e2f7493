// The text of an operating system is bytes in JSON.
use std::ffi::OsString;
use toolwright::tool;

/// Names the host.
#[tool(effect = read)]
async fn host() -> Option<OsString> {
    None
}

fn main() {}

//! Runs command lines one after the other in the current folder: `command_lines LINE…`. It notes each start of itself in the
//! folder above, by which a test knows that no supervisor of a line runs this `main`.

use std::error::Error;
use std::fs::OpenOptions;
use std::io::Write as _;

use serde_json::json;
use toolwright::{Call, Executor, Registry};
use toolwright_toolbox::CodingTools;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut starts = OpenOptions::new().create(true).append(true).open("../starts.txt")?;
    writeln!(starts, "main")?;
    let coding = CodingTools::open(".")?.log("../state/changes.db");
    let executor = Executor::builder(Registry::empty()).unrestricted().with(coding).build()?;
    for line in std::env::args().skip(1) {
        let input = json!({"command": line}).to_string();
        println!("{}", executor.call(&Call::new("bash", input)).await.text());
    }
    Ok(())
}

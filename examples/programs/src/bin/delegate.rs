//! features = ["agent", "toolbox"]
use toolwright::Agent;
use toolwright::agent::SubAgent;
use toolwright::toolbox::CodingTools;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let researcher = SubAgent::new("researcher", "Finds out how the code works. Changes nothing.")
        .profile(["read_file", "grep", "glob", "list_files"])
        .max_turns(20);
    let agent = Agent::builder("anthropic:claude-sonnet-4-6")
        .with(CodingTools::open(".")?)
        .sub_agent(researcher)
        .max_cost("2 USD".parse()?)
        .build()?;
    println!("{}", agent.run("Why does the parser drop the last line?").await?);
    Ok(())
}

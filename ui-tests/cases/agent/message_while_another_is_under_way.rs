// A conversation has one turn under way at a time.
use toolwright_agent::Agent;

fn main() {
    let agent = Agent::builder("anthropic:some-model").build().unwrap();
    let mut chat = agent.chat();
    let first = chat.send("One.");
    let second = chat.send("Two.");
    drop((first, second));
}

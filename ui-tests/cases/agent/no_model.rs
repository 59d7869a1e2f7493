// An agent begins with its model.
use toolwright_agent::Agent;

fn main() {
    let _ = Agent::builder().build();
}

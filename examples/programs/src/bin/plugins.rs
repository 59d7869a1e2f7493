//! features = ["agent", "skills"]
use toolwright::agent::{InstructionFiles, NextTurn, Plugin, PluginError, Plugins, Skills};
use toolwright::runtime::Registration;
use toolwright::{Agent, ToolError, tool};

/// What is in the basket.
#[toolwright::data]
#[derive(Clone, Default)]
struct Basket {
    /// The names of the goods.
    goods: Vec<String>,
}

/// Put something into the basket.
#[tool(effect = idempotent, danger = safe, writes())]
async fn put(
    plugins: &Plugins,
    /// What, such as `tea`.
    name: String,
) -> Result<usize, ToolError> {
    let change = |basket: &mut Basket| {
        basket.goods.push(name);
        basket.goods.len()
    };
    plugins.edit::<Shopping, _>(change).await
}

/// Say what the basket costs, in cents.
#[tool(effect = read)]
async fn total(plugins: &Plugins) -> usize {
    plugins.get::<Shopping>().map_or(0, |basket| basket.goods.len() * 450)
}

/// Offers the model the tool `total` only while the basket is not empty.
struct Shopping;

impl Plugin for Shopping {
    type State = Basket;

    fn id(&self) -> String {
        "shopping".to_owned()
    }

    fn tools(&self) -> Vec<Registration> {
        vec![PUT.into()]
    }

    async fn prepare(&self, turn: &mut NextTurn<'_>) -> Result<(), PluginError> {
        if turn.get::<Self>().is_some_and(|basket| !basket.goods.is_empty()) {
            turn.add_tool(TOTAL);
        }
        Ok(())
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let agent = Agent::builder("openai:gpt-5.2")
        .instructions("You keep a shop.")
        .with(InstructionFiles::read(".", ".")?)
        .with(Skills::read(["skills"])?)
        .with(Shopping)
        .build()?;
    println!("{}", agent.run("I want two packets of tea. What do they cost?").await?);
    Ok(())
}

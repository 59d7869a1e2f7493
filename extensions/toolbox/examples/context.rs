//! A text that no model reads whole: it is stored, searched, and queried.
use toolwright::{Call, Executor, Registry};
use toolwright_toolbox::{CONTEXT, ContextStore};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    let store = ContextStore::open(folder.path().join("context.db"))?;
    let executor =
        Executor::builder(Registry::of(CONTEXT)?).unrestricted().service(store).build()?;
    let calls = [
        (
            "context_write",
            r#"{"path":"orders.json","content":"[{\"item\":\"tea\",\"cents\":450},{\"item\":\"tea\",\"cents\":120}]"}"#,
        ),
        ("context_search", r#"{"query":"tea"}"#),
        ("context_query", r#"{"path":"orders.json","expression":"${ item: $sum(cents) }"}"#),
    ];
    for (tool, input) in calls {
        println!("{}", executor.call(&Call::new(tool, input)).await.text());
    }
    Ok(())
}

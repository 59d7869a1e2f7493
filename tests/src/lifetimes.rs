//! A borrowed type may have lifetimes without a name: what is registered has `'static`.

use toolwright::{Closing, Resource, ToolError, tool, tools};

use crate::support::{builder, call};

struct Db<'a>(&'a str);

trait Store: Send + Sync {
    fn name(&self) -> &str;
}

impl Store for Db<'_> {
    fn name(&self) -> &str {
        self.0
    }
}

struct Tx<'a>(&'a str);

impl Resource for Tx<'static> {
    async fn close(self, _: Closing) -> Result<(), ToolError> {
        Ok(())
    }
}

/// Names what it was given.
#[tool]
async fn name_the_given(db: &Db<'_>, store: &(dyn Store + '_), tx: &mut Tx<'_>) -> String {
    format!("{} {} {}", db.0, store.name(), tx.0)
}

#[tools]
impl Db<'_> {
    /// Names the database.
    #[tool(effect = read)]
    async fn name_of_db(&self) -> String {
        self.0.to_owned()
    }
}

#[tokio::test]
async fn a_tool_borrows_what_has_a_lifetime_without_a_name() {
    let executor = builder([NAME_THE_GIVEN, Db::NAME_OF_DB])
        .service(Db("one"))
        .service_arc::<dyn Store>(std::sync::Arc::new(Db("two")))
        .resource(async |_| Ok(Tx("three")))
        .build()
        .unwrap();
    assert_eq!(executor.call(&call("name_the_given")).await.text(), "one two three");
    assert_eq!(executor.call(&call("name_of_db")).await.text(), "one");
}

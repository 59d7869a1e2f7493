// A capability may have lifetimes without a name: what is registered is `'static`.
#![deny(warnings, dead_code)]
use toolwright::{Closing, Registry, Resource, ToolError, tool, tools};

pub trait Store: Send + Sync {
    fn name(&self) -> String;
}

pub struct Db<'a>(pub &'a str);

pub struct Tx<'a>(pub &'a mut u64);

impl Resource for Tx<'static> {
    async fn close(self, _: Closing) -> Result<(), ToolError> {
        Ok(())
    }
}

type Filter<'a> = dyn Fn(&str) -> bool + Send + Sync + 'a;

/// Finds.
#[tool(effect = read)]
async fn find(db: &Db<'_>, store: &(dyn Store + '_), filter: &Filter<'_>) -> bool {
    filter(db.0) && store.name() == db.0
}

/// Counts.
#[tool]
async fn count(tx: &mut Tx<'_>) -> u64 {
    *tx.0 += 1;
    *tx.0
}

/// Finds, on a thread that may wait.
#[tool(blocking, effect = read)]
fn wait(db: &Db<'_>) -> String {
    db.0.to_owned()
}

#[tools]
impl Db<'_> {
    /// Names it.
    #[tool(effect = read)]
    async fn name(&self) -> String {
        self.0.to_owned()
    }
}

pub(super) fn main() {
    let _ = (Db(""), Tx(Box::leak(Box::new(0))));
    Registry::of([FIND, COUNT, WAIT, Db::NAME]).expect("sound tools");
}

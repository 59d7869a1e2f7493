// A preview and a reconciliation are closures over the tool's parameters by name, or paths where types tell them apart.
#![deny(warnings, dead_code)]
use toolwright::{Closing, Reconciled, Registry, Resource, ToolContext, ToolError, tool, tools};

pub struct Ledger(u64);

pub struct Transaction;

impl Resource for Transaction {
    async fn close(self, _: Closing) -> Result<(), ToolError> {
        Ok(())
    }
}

impl Ledger {
    async fn find(&self, from: &str) -> Result<u64, ToolError> {
        Ok(self.0 + from.len() as u64)
    }
}

/// Pays.
#[tool(
    preview = |to, from| format!("{from} pays {to}"),
    reconcile = async |ledger, from| -> Result<Reconciled, ToolError> {
        if ledger.find(&from).await? > 3 {
            return Ok(Reconciled::Unknown);
        }
        Ok(Reconciled::DidNotHappen)
    }
)]
pub async fn pay(
    ledger: &Ledger,
    context: &ToolContext,
    transaction: &mut Transaction,
    /// Who pays.
    from: String,
    /// Who is paid.
    to: String,
) {
    let _ = (ledger, context, transaction, from, to);
}

/// Pays on the blocking pool.
#[tool(
    blocking,
    preview = |transaction: &mut Transaction, mut from: String| -> Result<String, ToolError> {
        let _: &mut Transaction = transaction;
        from.push('!');
        if from.is_empty() { return Err(ToolError::invalid("nobody pays")) }
        Ok(from)
    },
    reconcile = move |ledger, from| async move {
        ledger.find(&from).await.map(|_| Reconciled::Unknown)
    }
)]
pub fn pay_slowly(
    ledger: &Ledger,
    transaction: &mut Transaction,
    /// Who pays.
    from: String,
    /// Who is paid.
    to: String,
) {
    let _ = (ledger, transaction, from, to);
}

/// Says nothing of its parameters.
#[tool(preview = || "it pays".to_owned())]
pub async fn pay_blindly(
    /// The type.
    r#type: String,
) {
    let _ = r#type;
}

/// Pays by a type.
#[tool(preview = |r#type| r#type, reconcile = found)]
pub async fn pay_by_type(
    /// The type.
    r#type: String,
    /// How much.
    cents: u64,
) {
    let _ = (r#type, cents);
}

async fn found(_of: String, _cents: u64) -> Reconciled {
    Reconciled::Unknown
}

#[tools]
impl Ledger {
    /// Adds.
    #[tool(preview = async |from| self.find(&from).await.map(|cents| cents.to_string()))]
    pub async fn add(
        &self,
        /// Who pays.
        from: String,
        /// Who is paid.
        to: String,
    ) -> u64 {
        self.0 + (from.len() + to.len()) as u64
    }
}

pub(super) fn main() {
    let tools = [PAY, PAY_SLOWLY, PAY_BLINDLY, PAY_BY_TYPE, Ledger::ADD];
    assert_eq!(Registry::of(tools).unwrap().catalog().names().count(), 5);
}

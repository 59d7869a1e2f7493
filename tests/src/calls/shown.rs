//! What a person is shown of a call reaches the closure that shows it by name.

use std::sync::Arc;

use toolwright::journal::Journal;
use toolwright::{Call, Closing, OnNoApprover, Registry, Resource, ToolError, tool, tools};

use super::support::{Office, Ran, office, suspended};

struct Vault;

impl Resource for Vault {
    async fn close(self, _: Closing) -> Result<(), ToolError> {
        Ok(())
    }
}

/// Moves money.
#[tool(name = "shown_move", approval = "it moves money", preview = |to, from| format!("{from} pays {to}"))]
async fn move_money(
    vault: &mut Vault,
    /// Who pays.
    from: String,
    /// Who is paid.
    to: String,
) {
    let _ = (vault, from, to);
}

/// Moves money and looks first.
#[tool(
    name = "shown_look",
    approval = "it moves money",
    preview = async |ran, vault, to| -> Result<String, ToolError> {
        let Vault = vault;
        ran.add("looked");
        tokio::task::yield_now().await;
        if to.is_empty() {
            return Err(ToolError::invalid("nobody is paid"));
        }
        Ok(format!("pays {to}"))
    }
)]
async fn look_first(
    vault: &mut Vault,
    ran: &Ran,
    /// Who pays.
    from: String,
    /// Who is paid.
    to: String,
) {
    let _ = (vault, ran, from, to);
}

/// Moves money on the blocking pool.
#[tool(
    name = "shown_block",
    blocking,
    approval = "it moves money",
    preview = |ran: &Ran, to: String| -> Result<String, ToolError> {
        ran.add("looked");
        let first = to.chars().next().ok_or_else(|| ToolError::invalid("nobody is paid"))?;
        Ok(format!("pays {first}"))
    }
)]
fn move_slowly(
    vault: &mut Vault,
    ran: &Ran,
    /// Who pays.
    from: String,
    /// Who is paid.
    to: String,
) {
    let _ = (vault, ran, from, to);
}

struct Bank(&'static str);

#[tools]
impl Bank {
    /// Moves money in a bank.
    #[tool(name = "shown_bank", approval = "it moves money", preview = |to| format!("{} pays {to}", self.0))]
    async fn pay(
        &self,
        /// Who pays.
        from: String,
        /// Who is paid.
        to: String,
    ) {
        let _ = (self, from, to);
    }
}

/// What an approver is shown of a call of the tool, and whether the vault was opened for it.
async fn preview(office: &Office, tool: &str, input: &str) -> (Option<String>, bool) {
    let opened = Arc::new(std::sync::atomic::AtomicBool::new(false));
    let seen = Arc::clone(&opened);
    let tools = [MOVE_MONEY, LOOK_FIRST, MOVE_SLOWLY, Bank::PAY];
    let executor = toolwright::Executor::builder(Registry::of(tools).unwrap())
        .service_arc(Arc::clone(&office.ran))
        .service(Bank("uno"))
        .resource(move |_| {
            seen.store(true, std::sync::atomic::Ordering::SeqCst);
            async { Ok(Vault) }
        })
        .unrestricted()
        .journal(
            Journal::new(office.store.clone())
                .trust("ada", office.ada.public())
                .on_no_approver(OnNoApprover::Park),
        )
        .build()
        .unwrap();
    let request = suspended(executor.submit(&Call::new(tool, input)).await).request.unwrap();
    (request.preview, opened.load(std::sync::atomic::Ordering::SeqCst))
}

const MONEY: &str = r#"{"from":"ann","to":"bob"}"#;

#[tokio::test]
async fn a_preview_takes_the_parameters_by_name_in_any_order() {
    let office = office();
    let (shown, _) = preview(&office, "shown_move", MONEY).await;
    assert_eq!(shown.as_deref(), Some("ann pays bob"));
    let (shown, _) = preview(&office, "shown_bank", MONEY).await;
    assert_eq!(shown.as_deref(), Some("uno pays bob"));
}

#[tokio::test]
async fn a_preview_opens_only_what_it_names() {
    let office = office();
    assert!(!preview(&office, "shown_move", MONEY).await.1);
    let (shown, opened) = preview(&office, "shown_look", MONEY).await;
    assert_eq!((shown.as_deref(), opened), (Some("pays bob"), true));
    assert_eq!(office.ran.all(), ["looked"]);
}

#[tokio::test]
async fn a_preview_of_a_blocking_tool_may_return_early() {
    let office = office();
    let (shown, opened) = preview(&office, "shown_block", MONEY).await;
    assert_eq!((shown.as_deref(), opened), (Some("pays b"), false));
    let (shown, _) = preview(&office, "shown_block", r#"{"from":"ann","to":""}"#).await;
    assert_ne!(shown.as_deref(), Some("pays "));
}

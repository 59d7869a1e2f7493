//! The methods of a service are tools, and the service is what they need.

use std::sync::Arc;

use toolwright::{BuildProblem, Call, Closing, Resource, ToolError, tools};

use crate::support::{Log, builder, call, kind};

/// Keeps notes.
#[derive(Default)]
struct Notes(Log);

#[tools(group = "notes", tags("kept"))]
impl Notes {
    /// Keeps a note.
    #[tool(name = "notes.keep", tags("writing"))]
    async fn keep(
        &self,
        /// What it says.
        text: String,
    ) -> usize {
        self.0.add(text);
        self.len()
    }

    /// Lists the notes.
    #[tool(name = "notes.list", group = "lists", effect = read, blocking)]
    fn list(&self) -> Vec<String> {
        self.0.lines()
    }

    /// No tool, an ordinary method beside them.
    fn len(&self) -> usize {
        self.0.lines().len()
    }
}

#[tokio::test]
async fn methods_are_tools_and_still_methods() {
    let notes = Arc::new(Notes::default());
    let executor = builder([Notes::KEEP, Notes::LIST]).service_arc(notes.clone()).build().unwrap();
    assert_eq!(notes.keep("milk".to_owned()).await, 1);
    let kept = executor.call(&Call::new("notes.keep", r#"{"text":"bread"}"#)).await;
    assert_eq!(kept.text(), "2");
    assert_eq!(executor.call(&call("notes.list")).await.text(), r#"["milk","bread"]"#);
}

#[test]
fn methods_take_from_their_block_what_they_do_not_say_themselves() {
    let executor = builder([Notes::KEEP, Notes::LIST]).service(Notes::default()).build().unwrap();
    let [keep, list] =
        ["notes.keep", "notes.list"].map(|name| executor.registry().get(name).unwrap());
    assert_eq!((keep.group.as_deref(), list.group.as_deref()), (Some("notes"), Some("lists")));
    assert!(["kept", "writing"].iter().all(|tag| keep.tags.iter().any(|it| it == tag)));
    assert_eq!(list.tags, ["kept"]);
}

#[test]
fn the_service_of_methods_is_missed_where_nobody_gives_it() {
    let error = builder([Notes::KEEP]).build().unwrap_err();
    assert!(matches!(
        error.problems.as_slice(),
        [BuildProblem::Missing { requirement, .. }] if requirement.type_name.ends_with("Notes")
    ));
}

/// A transaction.
struct Transaction(Log);

impl Resource for Transaction {
    async fn close(self, outcome: Closing) -> Result<(), ToolError> {
        self.0.add(format!("{outcome:?}"));
        Ok(())
    }
}

#[tools]
impl Transaction {
    /// Writes within the transaction.
    #[tool]
    async fn write_row(
        &mut self,
        /// The row.
        row: String,
    ) -> Result<(), ToolError> {
        if row.is_empty() {
            return Err(ToolError::invalid("an empty row"));
        }
        self.0.add(row);
        Ok(())
    }
}

#[tokio::test]
async fn a_method_that_changes_its_service_gets_one_opened_for_the_call() {
    let log = Log::default();
    let opened = log.clone();
    let executor = builder([Transaction::WRITE_ROW])
        .resource(move |_| {
            let transaction = Transaction(opened.clone());
            async { Ok(transaction) }
        })
        .build()
        .unwrap();
    let row = |row: &str| serde_json::json!({"row": row}).to_string();
    assert_eq!(kind(&executor.call(&Call::new("write_row", row("a"))).await), "ok");
    assert_eq!(kind(&executor.call(&Call::new("write_row", row(""))).await), "invalid_input");
    assert_eq!(log.lines(), ["a", "Succeeded", "Failed"]);
}

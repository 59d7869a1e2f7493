//! The methods of a service are tools, and the service is what they need.

use std::sync::Arc;

use toolwright::{BuildProblem, Call, Closing, Danger, Resource, ResourceKind, ToolError, tools};

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

/// Tells the time.
struct Clock {
    offset: u8,
}

#[tools]
impl Clock {
    const FIRST: u8 = 1;
    const LAST: u8 = 24;
    const MOST: usize = 3;

    /// Sets the clock.
    #[tool(danger = Self::grade(hour), preview = Self::shown, approval = Self::reason(hour), writes(Self = Self::name()))]
    async fn set_clock(
        &self,
        /// To when.
        #[arg(default = Self::FIRST, minimum = Self::FIRST, maximum = Self::LAST, example = Self::LAST)]
        hour: u8,
        /// Its names.
        #[arg(default, length = ..=Self::MOST)]
        names: Vec<String>,
    ) -> u8 {
        hour + self.offset + names.len() as u8
    }

    async fn shown(&self, hour: u8, _names: Vec<String>) -> String {
        format!("would set it to {}", hour + self.offset)
    }

    fn grade(hour: u8) -> Danger {
        if hour > 12 { Danger::Critical } else { Danger::Safe }
    }

    fn reason(hour: u8) -> Option<String> {
        (hour > 12).then(|| "it is late".to_owned())
    }

    fn name() -> &'static str {
        "tower"
    }
}

impl ResourceKind for Clock {
    const LABEL: &'static str = "clock";
}

#[tokio::test]
async fn options_of_a_method_may_name_their_type_self() {
    let executor = builder([Clock::SET_CLOCK]).service(Clock { offset: 1 }).build().unwrap();
    let hour = &executor.registry().get("set_clock").unwrap().parameters[0].schema;
    let said = ["default", "minimum", "maximum"].map(|it| hour[it].as_u64().unwrap());
    assert_eq!((said, &hour["examples"][0]), ([1, 1, 24], &24.into()));
    assert_eq!(executor.call(&call("set_clock")).await.text(), "2");
    let late = executor.examine(&Call::new("set_clock", r#"{"hour":13}"#)).unwrap();
    assert_eq!((late.danger, late.approval.as_deref()), (Danger::Critical, Some("it is late")));
}

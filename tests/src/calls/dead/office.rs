//! An application whose letters get lost, and its operator.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

use toolwright::approval::Statement;
use toolwright::{
    Call, CallId, Executor, ExecutorBuilder, OnNoApprover, Outcome, Registry, Run, ToolContext,
    tool,
};

use super::super::support::{Office, Ran, answered, office};

/// Whether the post is broken.
pub struct Broken(pub AtomicBool);

/// Sends a letter.
#[tool(name = "letter_post", effect = idempotent, approval = abroad(&to))]
pub async fn post(
    ran: &Ran,
    broken: &Broken,
    context: &ToolContext,
    /// To whom.
    to: String,
    /// How many of it.
    #[arg(default = 1, minimum = 1)]
    copies: u64,
) -> String {
    ran.add(format!("{to} {copies} {}", context.idempotency_key()));
    assert!(!broken.0.load(SeqCst), "the post is broken");
    format!("sent {copies} to {to}")
}

fn abroad(to: &str) -> Option<String> {
    (to == "abroad").then(|| "it goes abroad".to_owned())
}

/// Does not find it.
#[tool(name = "letter_seek", effect = idempotent)]
pub async fn seek(ran: &Ran) -> Result<String, toolwright::ToolError> {
    ran.add("seek");
    Err(toolwright::ToolError::new("not_found", "string not found"))
}

pub struct DeadLetters {
    pub office: Office,
    pub broken: Arc<Broken>,
}

impl Default for DeadLetters {
    fn default() -> Self {
        Self { office: office(), broken: Arc::new(Broken(AtomicBool::new(true))) }
    }
}

pub fn dead_letters() -> DeadLetters {
    DeadLetters::default()
}

pub fn a_dead_letter() -> Call<'static> {
    Call::new("letter_post", r#"{"to":"eve"}"#)
}

/// What a model reads of an answer.
#[track_caller]
pub fn told(outcome: Outcome) -> String {
    answered(outcome).text().into_owned()
}

impl DeadLetters {
    pub fn builder(&self) -> ExecutorBuilder {
        Executor::builder(Registry::of([POST, SEEK]).unwrap())
            .unrestricted()
            .service_arc(Arc::clone(&self.office.ran))
            .service_arc(Arc::clone(&self.broken))
            .journal(self.office.parking())
    }

    pub fn executor(&self) -> Executor {
        self.builder().build().unwrap()
    }

    /// Where no approver can be asked.
    pub fn denying(&self) -> Executor {
        self.builder()
            .journal(self.office.parking().on_no_approver(OnNoApprover::Deny))
            .build()
            .unwrap()
    }

    pub fn run(&self) -> Run {
        self.executor().run("r").start().unwrap()
    }

    /// The answer of the one call of a turn.
    pub async fn turn(&self) -> String {
        told(self.run().submit_turn(1, &[a_dead_letter()]).await.remove(0))
    }

    /// A letter that is dead now, and what its run was answered.
    pub async fn die(&self) -> (CallId, String) {
        let answer = self.turn().await;
        (self.office.records().await[0].id, answer)
    }

    pub async fn requeue(&self, id: CallId, new_key: bool) {
        let record = self.office.record(id).await;
        let requeue = Statement::requeue(&record, new_key, "ada", self.office.clock.now());
        self.office.say(requeue).await.unwrap();
    }

    pub async fn edit(&self, id: CallId, arguments: &str) {
        let record = self.office.record(id).await;
        let requeue = Statement::requeue_with(&record, arguments, "ada", self.office.clock.now());
        self.office.say(requeue).await.unwrap();
    }
}

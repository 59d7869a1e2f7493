//! Decides who approves a typed call if the application has not set an approver: the person at the terminal, or the
//! person who typed `--yes`.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use futures::future::{BoxFuture, FutureExt as _, ready};

use super::Exit;
use super::streams::complain;
use crate::terminal::{Terminal, attended};
use toolwright_executor::event::ToolEventKind;
use toolwright_executor::executor::ExecutorBuilder;
use toolwright_journal::approval::{ApprovalRequest, Approver, ApproverError, Reply, Response};

/// Who approves the call of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Consent {
    /// The approver that the application has set, if there is one.
    Application,
    /// The person at the terminal, who is asked.
    Terminal,
    /// The person who typed `--yes`.
    Given,
    /// No person can be asked, for this reason.
    NoTerminal(&'static str),
}

impl Consent {
    /// Decides who approves, by the application's settings and the typed flags.
    ///
    /// # Errors
    /// When `--yes` is given although the application has an approver or a journal of its own.
    pub(super) fn of(builder: &ExecutorBuilder, is_given: bool) -> Result<Self, Exit> {
        match (builder.names_people(), is_given) {
            (true, true) => Err(complain(
                Exit::Usage,
                "`--yes` approves in place of a question at the terminal, and this application has people or a journal for that; \
                 run it without `--yes`",
            )),
            (true, false) => Ok(Self::Application),
            (false, true) => Ok(Self::Given),
            (false, false) => Ok(attended().map_or_else(Self::NoTerminal, |()| Self::Terminal)),
        }
    }

    /// Sets the approver of the executor.
    pub(super) fn ask(self, builder: ExecutorBuilder) -> ExecutorBuilder {
        match self {
            Self::Application | Self::NoTerminal(_) => builder,
            Self::Terminal => builder.or_ask(Terminal::new()),
            Self::Given => with_approver(builder, Terminal::new()),
        }
    }

    /// Returns what a person can do about a call that was not approved; `None` if the executor's own advice is enough.
    pub(super) fn advice(self) -> Option<String> {
        match self {
            Self::NoTerminal(why) => Some(format!(
                "nothing ran; {why}, so that no person can be asked here: run it at a terminal, or approve it with `--yes`"
            )),
            Self::Application | Self::Terminal | Self::Given => None,
        }
    }
}

/// Sets an approver that approves the first call itself and asks `others` about all further calls.
fn with_approver(builder: ExecutorBuilder, others: impl Approver) -> ExecutorBuilder {
    let typed = TypedConsent { has_begun: Arc::default(), first: OnceLock::new(), others };
    let has_begun = Arc::clone(&typed.has_begun);
    let builder = builder.listen(move |event| {
        if matches!(event.kind, ToolEventKind::Executing) {
            has_begun.store(true, Ordering::SeqCst);
        }
    });
    builder.or_ask(typed)
}

/// An approver that approves the typed call, and asks `others` about the calls that it makes. A call can make other
/// calls only after it has begun, so a question before any call has begun is about the typed call. If an edit or a
/// changed tool changes the typed call, `others` is asked about it as well.
struct TypedConsent<A> {
    has_begun: Arc<AtomicBool>,
    /// The digest of the first call.
    first: OnceLock<String>,
    others: A,
}

impl<A: Approver> Approver for TypedConsent<A> {
    fn ask<'a>(
        &'a self,
        request: &'a ApprovalRequest,
    ) -> BoxFuture<'a, Result<Reply, ApproverError>> {
        let is_typed = || *self.first.get_or_init(|| request.digest.clone()) == request.digest;
        match !self.has_begun.load(Ordering::SeqCst) && is_typed() {
            true => ready(Ok(Reply::Decided(Response::Approve))).boxed(),
            false => self.others.ask(request),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::PoisonError;

    use super::*;
    use toolwright_executor::executor::Executor;
    use toolwright_executor::registry::Registry;

    /// Rejects every call, and remembers what it was asked.
    #[derive(Clone, Default)]
    struct Rejects(Arc<std::sync::Mutex<Vec<ApprovalRequest>>>);

    impl Approver for Rejects {
        fn ask<'a>(
            &'a self,
            request: &'a ApprovalRequest,
        ) -> BoxFuture<'a, Result<Reply, ApproverError>> {
            let Self(asked) = self;
            asked.lock().unwrap_or_else(PoisonError::into_inner).push(request.clone());
            ready(Ok(Reply::Decided(Response::Reject { reason: None }))).boxed()
        }
    }

    /// Pays.
    #[toolwright::tool(approval = "it spends money")]
    async fn pay() {}

    #[tokio::test]
    async fn yes_is_said_of_the_call_that_was_typed_and_of_none_after_it() {
        let rejects = Rejects::default();
        let builder = Executor::builder(Registry::of([PAY]).unwrap()).unrestricted();
        let executor = with_approver(builder, rejects.clone()).build().unwrap();
        let call = toolwright_core::call::Call::new("pay", "{}");
        assert!(executor.call(&call).await.error().is_none());
        let Rejects(asked) = rejects;
        assert!(asked.lock().unwrap().is_empty());
        assert_eq!(executor.call(&call).await.error().unwrap().kind(), "rejected");
        let tools: Vec<_> = asked.lock().unwrap().iter().map(|it| it.tool.clone()).collect();
        assert_eq!(tools, ["pay"]);
    }

    #[tokio::test]
    async fn yes_is_not_said_of_what_the_typed_call_has_become_before_it_began() {
        let rejects = Rejects::default();
        let executor = Executor::builder(Registry::of([PAY]).unwrap()).unrestricted();
        let executor = executor.or_ask(rejects.clone()).build().unwrap();
        executor.call(&toolwright_core::call::Call::new("pay", "{}")).await;
        let typed = rejects.0.lock().unwrap()[0].clone();
        let mut edited = typed.clone();
        edited.digest.push_str(" of something else");
        let approver =
            TypedConsent { has_begun: Arc::default(), first: OnceLock::new(), others: rejects };
        let approve = Ok(Reply::Decided(Response::Approve));
        let reject = Ok(Reply::Decided(Response::Reject { reason: None }));
        assert_eq!(approver.ask(&typed).await, approve);
        assert_eq!(approver.ask(&edited).await, reject);
        assert_eq!(approver.ask(&typed).await, approve, "asked again about the same call");
    }

    #[test]
    fn yes_is_no_answer_where_the_application_asks_people_itself() {
        let builder = || Executor::builder(Registry::empty()).ask(Rejects::default());
        assert_eq!(Consent::of(&builder(), false), Ok(Consent::Application));
        assert_eq!(Consent::of(&builder(), true), Err(Exit::Usage));
    }
}

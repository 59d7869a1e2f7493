//! The ten steps of a call, in their order on the builder of an executor.

#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::Arc;

use toolwright::policy::Policy;
use toolwright::{Bundle, ExecutorBuilder, Middleware, ReadCache, Reservations};

use crate::{ChangeLog, SyntaxCheck, Workspace};

/// What a call passes on its way to the files of a workspace, in this order:
///
/// | step | what does it |
/// | --- | --- |
/// | 1 plan mode | the policy's plan: what changes something is queued |
/// | 2 policy | its rules |
/// | 3 safety | its mode and its protections, by the danger and the files of the call |
/// | 4 permission | the approver, or a decision or grant in the journal |
/// | 5 reservation | [`Reservations`]: no other run holds what the call touches |
/// | 6 cache | [`ReadCache`]: a read that is known is answered |
/// | 7 execute | the tool |
/// | 8 record | [`ChangeLog`]: what the call changed; the journal and listeners besides |
/// | 9 invalidation | the cache forgets what was written |
/// | 10 syntax check | [`SyntaxCheck`]: an edit that breaks a file is reported |
///
/// It is a [`Bundle`], without tools. [`CodingTools`](crate::CodingTools) has it.
///
/// Steps 1 to 3 are one look of the policy, in which the strictest wins: what a rule denies is refused in plan mode too, in place
/// of being queued. The first step that stops a call keeps it from those after it.
///
/// ```
/// use std::sync::Arc;
///
/// use toolwright::policy::{Mode, Policy};
/// use toolwright::{Call, Executor, Registry};
/// use toolwright_toolbox::{ChangeLog, FILES, TenSteps, Workspace};
///
/// # let around = tempfile::tempdir()?;
/// # let (folder, log) = (around.path().join("work"), around.path().join("changes.db"));
/// # std::fs::create_dir(&folder)?;
/// let workspace = Arc::new(Workspace::open(folder)?);
/// let log = ChangeLog::open(log, Arc::clone(&workspace))?;
/// let executor = Executor::builder(Registry::of(FILES)?)
///     .policy(Policy::builder().mode(Mode::AutoSafe))
///     .with(TenSteps::new(workspace, log))
///     .build()?;
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// let written = executor.call(&Call::new("write_file", r#"{"path":"a.json","content":"[1, 2"}"#)).await;
/// assert!(written.text().contains("missing `]`"), "{}", written.text());
/// # });
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "an executor has the steps only after `.with(…)`"]
pub struct TenSteps {
    workspace: Arc<Workspace>,
    log: ChangeLog,
    reservations: Reservations,
    cache: ReadCache,
}

impl TenSteps {
    /// Makes the steps over one workspace, with reservations and a cache of their own. Workspace and log become services of the
    /// tools, the log's file is protected from tools, and relative names in rules begin in the workspace unless the
    /// application says where else.
    pub fn new(workspace: Arc<Workspace>, log: ChangeLog) -> Self {
        let (reservations, cache) = (Reservations::new(), ReadCache::new().constant::<Workspace>());
        Self { workspace, log, reservations, cache }
    }

    /// Shares reservations with the other executors of the process that work on the same files.
    pub fn reservations(self, reservations: &Reservations) -> Self {
        Self { reservations: reservations.clone(), ..self }
    }

    /// Shares a cache with them.
    pub fn cache(self, cache: &ReadCache) -> Self {
        Self { cache: cache.clone(), ..self }
    }

    /// Adds the steps to a builder, with each stage as the caller gives it back.
    fn install_as(
        self,
        builder: ExecutorBuilder,
        as_given: impl Fn(&'static str, Arc<dyn Middleware>) -> Arc<dyn Middleware>,
    ) -> ExecutorBuilder {
        let stages = self.stages();
        let Self { workspace, log, .. } = self;
        let policy = Policy::builder().base(workspace.root()).journal(log.file());
        let builder = builder.policy_defaults(policy).service(log).service_arc(workspace);
        stages
            .into_iter()
            .fold(builder, |builder, (name, stage)| builder.middleware(as_given(name, stage)))
    }

    /// The stages by their names, the first to look at a call first. They look at its answer in reverse, so that the one which
    /// records what it changed is the last here and the first there.
    fn stages(&self) -> [(&'static str, Arc<dyn Middleware>); 4] {
        [
            ("reservation", Arc::new(self.reservations.clone())),
            ("syntax check", Arc::new(SyntaxCheck::new(Arc::clone(&self.workspace)))),
            ("cache", Arc::new(self.cache.clone())),
            ("record", Arc::new(self.log.clone())),
        ]
    }
}

impl Bundle for TenSteps {
    fn name(&self) -> String {
        "ten steps".to_owned()
    }

    fn install(self, executor: ExecutorBuilder) -> ExecutorBuilder {
        self.install_as(executor, |_, stage| stage)
    }
}

impl fmt::Debug for TenSteps {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("TenSteps")
            .field("workspace", &self.workspace)
            .field("log", &self.log.file())
            .finish_non_exhaustive()
    }
}

//! The ten steps of a call, in their order on the builder of an executor.

#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::Arc;

use toolwright::policy::Policy;
use toolwright::{Bundle, ExecutorBuilder, Middleware};
use toolwright_middleware::{ReadCache, Reservations};

use crate::{ChangeLog, SyntaxCheck, Workspace};

/// The steps of a call that uses the files of a workspace, in this order:
///
/// | step | done by |
/// | --- | --- |
/// | 1 plan mode | the policy's plan: a call that changes something is queued |
/// | 2 policy | its rules |
/// | 3 safety | the policy's mode and its protections, by the danger and the files of the call |
/// | 4 permission | the approver, or a decision or grant in the journal |
/// | 5 reservation | [`Reservations`]: the call waits until no other run holds what it touches |
/// | 6 cache | [`ReadCache`]: a repeated read is answered from the cache |
/// | 7 execute | the tool |
/// | 8 record | [`ChangeLog`]: records what the call changed; so do the journal and listeners |
/// | 9 invalidation | the cache drops what was written |
/// | 10 syntax check | [`SyntaxCheck`]: an edit that breaks a file is reported |
///
/// This is a [`Bundle`] without tools. [`CodingTools`](crate::CodingTools) contains it.
///
/// Steps 1 to 3 are one evaluation of the policy, in which the strictest result applies: a call that a rule denies is
/// refused even in plan mode, and not queued. If a step stops a call, the later steps do not see the call.
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
    /// Makes the steps for one workspace, with their own reservations and cache. Workspace and log become services of the
    /// tools, the log's file is protected from tools, and relative paths in rules start from the workspace unless the
    /// application sets another base.
    pub fn new(workspace: Arc<Workspace>, log: ChangeLog) -> Self {
        let (reservations, cache) = (Reservations::new(), ReadCache::new().constant::<Workspace>());
        Self { workspace, log, reservations, cache }
    }

    /// Shares reservations with other executors of this process that work on the same files.
    pub fn reservations(self, reservations: &Reservations) -> Self {
        Self { reservations: reservations.clone(), ..self }
    }

    /// Shares a cache with other executors of this process.
    pub fn cache(self, cache: &ReadCache) -> Self {
        Self { cache: cache.clone().constant::<Workspace>(), ..self }
    }

    /// Adds the steps to a builder. `as_given` may replace each piece of middleware, for instance by one that wraps it.
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

    /// Returns the middleware by name. The first piece sees a call first and its answer last. The change log, which is
    /// last here, sees the answer first.
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

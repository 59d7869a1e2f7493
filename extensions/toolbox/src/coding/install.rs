//! Adds the parts of the bundle to the builder of an executor.

use std::sync::Arc;

use toolwright::policy::{Policy, Rule};
use toolwright::{BuildProblem, Bundle, ExecutorBuilder};

use super::{CodingTools, state};
use crate::{
    BASH, CHANGES, ChangeLog, FILES, PROCESS, SANDBOXED_BASH, Sandbox, SandboxedShell, Shell,
    ShellReader, Supervisor, TenSteps,
};

impl Bundle for CodingTools {
    fn name(&self) -> String {
        "coding tools".to_owned()
    }

    fn install(mut self, executor: ExecutorBuilder) -> ExecutorBuilder {
        let log = match self.log.clone().and_then(|it| state::prepare(it, self.root())) {
            Ok(log) => log,
            Err(why) => return unavailable(executor, "the change log", why),
        };
        let wall = self.wanted_wall();
        let hidden = self.hidden();
        let sandbox = self.sandbox.take();
        let sandbox = sandbox.map(|it| hidden.into_iter().fold(it, Sandbox::hide));
        if let Some(sandbox) = sandbox.clone() {
            self.workspace = self.workspace.with_executor(sandbox);
        }
        let supervisor = match self.known_supervisor() {
            Ok(supervisor) => supervisor,
            Err(error) => {
                return unavailable(executor, "the supervisor of command lines", error.to_string());
            }
        };
        let mut executor = executor.tools(FILES);
        if self.has_programs {
            executor = executor.tools(PROCESS);
        }
        if self.has_shell {
            executor = self.with_shell(executor, supervisor, sandbox, wall);
        }
        if self.has_undo {
            executor = executor.tools(CHANGES);
        }
        executor = self.with_rules(executor);
        let workspace = Arc::new(self.workspace);
        match ChangeLog::open(&log, Arc::clone(&workspace)) {
            Ok(log) => {
                let steps = TenSteps::new(workspace, log);
                let steps = steps.reservations(&self.reservations).cache(&self.cache);
                steps.install(executor)
            }
            Err(error) => {
                let source = std::error::Error::source(&error);
                let source = source.map(|it| format!(": {it}")).unwrap_or_default();
                unavailable(executor, "the change log", format!("{error}{source}"))
            }
        }
    }
}

impl CodingTools {
    fn with_shell(
        &self,
        executor: ExecutorBuilder,
        supervisor: Supervisor,
        sandbox: Option<Sandbox>,
        wall: Option<Result<Sandbox, String>>,
    ) -> ExecutorBuilder {
        if let Some(sandbox) = sandbox {
            let shell = SandboxedShell::new(supervisor, sandbox).with_table(self.table.clone());
            let shell = shell.pass_on(&self.passed_on);
            let shell = self.folders.iter().fold(shell, SandboxedShell::folders_in);
            return executor.tools([SANDBOXED_BASH]).service(shell);
        }
        let shell = Shell::new(supervisor).with_table(self.table.clone()).pass_on(&self.passed_on);
        let shell = self.folders.iter().fold(shell, Shell::folders_in);
        let shell = match wall {
            Some(Ok(wall)) => shell.with_wall(wall),
            Some(Err(why)) => {
                tracing::warn!("command lines that are rated safe run without a sandbox: {why}");
                shell
            }
            None => shell,
        };
        executor.tools([BASH]).service(shell)
    }

    /// Adds rules that rank below those of the application.
    fn with_rules(&self, executor: ExecutorBuilder) -> ExecutorBuilder {
        let policy = Policy::builder().root(self.root());
        let policy = if self.has_shell { policy.commands(ShellReader) } else { policy };
        executor.policy_defaults(match self.has_undo {
            true => {
                let undo = Rule::allow("it restores earlier contents, and can itself be undone");
                policy.rule(undo.named("undo").tool("undo_file").tool("undo_turn"))
            }
            false => policy,
        })
    }
}

fn unavailable(executor: ExecutorBuilder, what: &str, why: String) -> ExecutorBuilder {
    executor.problem(BuildProblem::Unavailable { what: what.to_owned(), why })
}

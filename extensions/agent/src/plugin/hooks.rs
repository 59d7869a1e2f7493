//! Runs the hooks of plugins before a turn and at the end of a run, one after the other. Each hook has a time limit,
//! and its panics are caught.

use std::any::Any;
use std::panic::AssertUnwindSafe;
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use tokio::time::timeout;
use toolwright::Run;

use super::draft::Draft;
use super::set::InstalledPlugin;
use super::turn_tools::TurnTools;
use super::{EndedRun, NextTurn, PluginError, PluginFailure, PluginStates, Plugins, PreparedTurn};
use crate::events::RunEnd;
use crate::history::Message;

/// How long a hook of a plugin may take.
const LIMIT: Duration = Duration::from_secs(30);

/// Prepares a turn before the model is asked.
pub(crate) async fn prepare(
    plugins: &Plugins,
    number: u64,
    run: &Run,
    history: &[Message],
    reserved: &[&str],
) -> Result<PreparedTurn, PluginFailure> {
    let shown = plugins.lock().await.record().shown.clone();
    let turn = prepare_turn(plugins, number, run, history).await?;
    let NextTurn { catalog, draft, added, left_out, instructions, .. } = turn;
    let tools = TurnTools::new(&catalog, added, left_out, &shown, reserved);
    let tools = tools.map_err(|why| of_all(plugins, number, why))?;
    Ok(PreparedTurn { instructions, tools, draft })
}

/// Prepares a turn again after the model has answered, to find the tools of the answer's calls. Other changes by
/// plugins are ignored.
pub(crate) async fn prepare_again(
    plugins: &Plugins,
    number: u64,
    run: &Run,
    history: &[Message],
) -> Result<PreparedTurn, PluginFailure> {
    let PluginStates { shown, turn: recorded, .. } = plugins.lock().await.record().clone();
    let NextTurn { catalog, added, .. } = prepare_turn(plugins, number, run, history).await?;
    let tools = TurnTools::again(&catalog, added, &recorded, &shown);
    let tools = tools.map_err(|why| of_all(plugins, number, why))?;
    Ok(PreparedTurn { instructions: Vec::new(), tools, draft: plugins.draft() })
}

async fn prepare_turn<'t>(
    plugins: &Plugins,
    number: u64,
    run: &'t Run,
    history: &'t [Message],
) -> Result<NextTurn<'t>, PluginFailure> {
    let mut turn = NextTurn {
        number,
        run,
        history,
        catalog: run.catalog(),
        draft: plugins.draft(),
        added: Vec::new(),
        left_out: std::collections::BTreeSet::new(),
        instructions: Vec::new(),
        problems: Vec::new(),
    };
    for InstalledPlugin { id, plugin, .. } in &plugins.set_of().plugins {
        let failed = |why: String| PluginFailure { plugin: id.clone(), turn: number, why };
        guard(|| plugin.prepare(&mut turn)).await.map_err(failed)?;
        if !turn.problems.is_empty() {
            return Err(failed(turn.problems.join("; ")));
        }
    }
    Ok(turn)
}

/// Runs the plugins' hooks for the end of a run, and returns a draft with the states that they have changed.
pub(crate) async fn end_plugins(
    plugins: &Plugins,
    run: &str,
    end: &RunEnd,
    history: &[Message],
) -> Draft {
    let mut ended = EndedRun { run, end, history, draft: plugins.draft() };
    for InstalledPlugin { id, plugin, .. } in &plugins.set_of().plugins {
        let before = ended.draft.clone();
        if let Err(why) = guard(|| plugin.ended(&mut ended)).await {
            tracing::warn!(run, plugin = id, why, "a plugin failed at the end of a run");
            ended.draft = before;
        }
    }
    ended.draft
}

/// Runs a hook with a time limit, and catches panics; the error says why the hook failed.
async fn guard<'a>(
    work: impl FnOnce() -> BoxFuture<'a, Result<(), PluginError>>,
) -> Result<(), String> {
    // The hook is called inside the future, so that a panic before its first await is caught too.
    let work = AssertUnwindSafe(async { work().await }).catch_unwind();
    match timeout(LIMIT, work).await {
        Ok(Ok(Ok(()))) => Ok(()),
        Ok(Ok(Err(error))) => Err(with_causes(&*error)),
        Ok(Err(panic)) => Err(format!("it panicked: {}", words_of(&*panic))),
        Err(_) => Err(format!("it took longer than {} seconds", LIMIT.as_secs())),
    }
}

fn with_causes(error: &(dyn std::error::Error + 'static)) -> String {
    let mut words = error.to_string();
    let mut cause = error.source();
    while let Some(it) = cause {
        words = format!("{words}: {it}");
        cause = it.source();
    }
    words
}

fn words_of(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|it| (*it).to_owned());
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
    text.unwrap_or_else(|| "without a text".to_owned())
}

/// Makes the failure for a problem that several plugins cause together.
fn of_all(plugins: &Plugins, turn: u64, why: String) -> PluginFailure {
    let plugin = plugins.set_of().ids().collect::<Vec<_>>().join("`, `");
    PluginFailure { plugin, turn, why }
}

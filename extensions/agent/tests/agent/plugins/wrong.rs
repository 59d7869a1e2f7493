//! What plugins do wrong: two of one id, a turn that cannot be prepared, a state that is none.

use std::sync::Arc;

use toolwright_agent::{
    Agent, AgentBuilder, EndedRun, NextTurn, Plugin, PluginError, PluginState, ScriptedModel,
    Stopped,
};

use super::{Guide, House, LOOK, Visit, agent, does, says};

fn problem(agent: AgentBuilder) -> String {
    agent.build().unwrap_err().to_string()
}

#[test]
fn two_plugins_of_one_id_and_two_tools_of_one_name_are_errors_with_both_places() {
    let model = || Agent::builder(ScriptedModel::new());
    let twice = problem(model().with(does("a", |_| Ok(()))).with(does("a", |_| Ok(()))));
    assert!(twice.contains("the bundle `plugin a` is given twice"), "{twice}");
    assert_eq!(twice.matches("tests/agent/plugins/wrong.rs:").count(), 2, "{twice}");

    let tools = problem(model().with(House).tool(says("enter", "no")));
    assert!(tools.contains("two tools are called `enter`"), "{tools}");
    assert_eq!(tools.matches("plugins").count(), 2, "{tools}");

    struct Other;
    impl Plugin for Other {
        type State = Vec<u8>;
        fn id(&self) -> String {
            "other".to_owned()
        }
    }
    let no_struct = problem(model().with(Other));
    assert!(
        no_struct.contains("the plugin `other`, given at ") && no_struct.contains("is no struct"),
        "{no_struct}"
    );
    let nameless = problem(model().with(does(" ", |_| Ok(()))));
    assert!(nameless.contains("it has no id"), "{nameless}");

    struct Named<S>(&'static str, std::marker::PhantomData<fn() -> S>);
    impl<S: PluginState> Plugin for Named<S> {
        type State = S;
        fn id(&self) -> String {
            self.0.to_owned()
        }
    }
    let named = |id| Named::<Visit>(id, std::marker::PhantomData);
    let one_type = problem(model().with(named("a")).with(named("b")));
    assert!(one_type.contains("another plugin of its type is given at "), "{one_type}");
}

/// What a run stops with whose plugin does this before its second turn.
async fn stopped(
    work: impl Fn(&mut NextTurn<'_>) -> Result<(), PluginError> + Send + Sync + 'static,
) -> String {
    let model = Arc::new(ScriptedModel::new().calls([("look", "{}")]));
    let plugin = does("bad", move |turn| if turn.number() == 2 { work(turn) } else { Ok(()) });
    let agent = agent(&model).with(plugin).build().unwrap();
    let mut run = agent.new_run("r").start().unwrap();
    let stopped = run.send("Go!").await.unwrap_err();
    assert!(matches!(stopped, Stopped::Plugin(_)), "{stopped}");
    assert_eq!(run.plugins().unwrap().get::<Guide>().unwrap().rooms, [0], "it is as it was");
    stopped.to_string()
}

#[tokio::test]
async fn a_plugin_that_fails_stops_the_run_before_its_model_is_asked() {
    let failed = stopped(|_| Err("the disk is full".into())).await;
    assert_eq!(
        failed,
        "the plugin `bad` cannot prepare turn 2: the disk is full; resume the run when that is repaired"
    );
    let panicked = stopped(|_| panic!("on purpose")).await;
    assert!(panicked.contains("it panicked: on purpose"), "{panicked}");
    let unknown = stopped(|turn| {
        turn.leave_out("look2");
        Ok(())
    });
    let unknown = unknown.await;
    assert!(unknown.contains("it leaves out the tool `look2`, found no tool of that name; the tools are `enter`, `look`"), "{unknown}");
    let duplicate = stopped(|turn| {
        turn.add_tool(says("look", "no"));
        Ok(())
    });
    let duplicate = duplicate.await;
    assert!(duplicate.contains("two tools are called `look`"), "{duplicate}");
    assert_eq!(duplicate.matches("plugins").count(), 2, "{duplicate}");
    let reserved = stopped(|turn| {
        turn.add_tool(says("read_large_result", "no"));
        Ok(())
    });
    let reserved = reserved.await;
    assert!(
        reserved.contains("the tool `read_large_result`, added at ")
            && reserved.contains("has the name of a tool that the run itself shows its model"),
        "{reserved}"
    );
    let nameless = stopped(|turn| {
        turn.add_tool(says("no name", "no"));
        Ok(())
    });
    assert!(nameless.await.contains("cannot be called \"no name\""));
    let misfit = stopped(|turn| Ok(turn.set::<House>(Visit { keys: 9, ..Visit::default() })?));
    assert!(misfit.await.contains("/keys: found 9"));
}

#[tokio::test(start_paused = true)]
async fn a_plugin_that_never_ends_stops_the_run_and_one_at_its_end_does_not() {
    struct Hangs {
        at_end: bool,
    }
    impl Plugin for Hangs {
        type State = ();
        fn id(&self) -> String {
            "hangs".to_owned()
        }
        async fn prepare(&self, _: &mut NextTurn<'_>) -> Result<(), PluginError> {
            if !self.at_end {
                std::future::pending::<()>().await;
            }
            Ok(())
        }
        async fn ended(&self, run: &mut EndedRun<'_>) -> Result<(), PluginError> {
            run.edit::<Guide, _>(|seen| seen.rooms.clear())?;
            std::future::pending().await
        }
    }
    let model = Arc::new(ScriptedModel::new());
    let agent = agent(&model).with(Hangs { at_end: false }).build().unwrap();
    let stopped = agent.new_run("r").start().unwrap().send("Go!").await.unwrap_err().to_string();
    assert!(
        stopped.contains("`hangs` cannot prepare turn 1: it took longer than 30 seconds"),
        "{stopped}"
    );

    let model = Arc::new(ScriptedModel::new().says("Done."));
    let agent = self::agent(&model).with(Hangs { at_end: true }).build().unwrap();
    let mut run = agent.new_run("r").start().unwrap();
    run.send("Go!").await.unwrap();
    assert_eq!(run.plugins().unwrap().get::<Guide>().unwrap().rooms, [0]);
}

#[tokio::test]
async fn an_agent_without_the_plugin_is_not_built_with_its_tools() {
    let error = problem(Agent::builder(ScriptedModel::new()).tools([LOOK]));
    assert!(
        error.contains("the tool `look` at ") && error.contains("Plugins`, which is not provided"),
        "{error}"
    );
}

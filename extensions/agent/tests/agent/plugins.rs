//! Plugins: what the model is shown by them, what they remember, and what they do wrong.

mod wrong;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::future::BoxFuture;
use toolwright::dialect::Dialect;
use toolwright::{DynamicTool, ErrorClass, IntoTool, Registration, ToolError, tool};
use toolwright_agent::{
    Agent, AgentBuilder, Delta, EndedRun, Model, ModelAnswer, ModelError, ModelRequest, NextTurn,
    Plugin, PluginError, PluginStates, Plugins, ScriptedModel,
};

use crate::support::{LOOK_UP, Log, call, kinds};

/// Which rooms a visitor has seen.
#[toolwright::data]
#[derive(Clone, Default)]
pub struct Visit {
    /// In order.
    pub rooms: Vec<String>,
    /// How many keys the visitor has.
    #[schemars(range(max = 3))]
    pub keys: u8,
}

/// A house with rooms: once the visitor has entered one, there is a tool to leave, and none to look at the house from outside.
pub struct House;

/// Enters a room.
#[tool(effect = idempotent, danger = safe, writes())]
pub async fn enter(
    plugins: &Plugins,
    /// Which.
    room: String,
) -> Result<usize, ToolError> {
    plugins
        .edit::<House, _>(|visit| {
            if !visit.rooms.contains(&room) {
                visit.rooms.push(room);
            }
            visit.rooms.len()
        })
        .await
}

/// Looks at the house from outside.
#[tool(effect = read)]
pub async fn look(plugins: &Plugins) -> String {
    let rooms = plugins.get::<House>().map(|it| it.rooms.len());
    format!("{rooms:?} rooms were entered")
}

/// Leaves the house.
#[tool(effect = read)]
pub async fn leave(plugins: &Plugins) -> String {
    plugins.get::<House>().map_or_else(String::new, |it| it.rooms.join(", "))
}

impl Plugin for House {
    type State = Visit;

    fn id(&self) -> String {
        "house".to_owned()
    }

    fn tools(&self) -> Vec<Registration> {
        vec![ENTER.into_tool(), LOOK.into_tool()]
    }

    async fn prepare(&self, turn: &mut NextTurn<'_>) -> Result<(), PluginError> {
        let visit = turn.get::<Self>().unwrap_or_default();
        if !visit.rooms.is_empty() {
            turn.add_tool(LEAVE);
            turn.leave_out("look");
        }
        turn.instruct(format!("Rooms: {:?}.", visit.rooms));
        Ok(())
    }
}

/// How many turns there were, and how many rooms at each.
#[toolwright::data]
#[derive(Clone, Default)]
pub struct Seen {
    /// The number of rooms at the beginning of each turn.
    pub rooms: Vec<usize>,
    /// How the run ended.
    pub end: Option<String>,
}

/// Counts turns, and reads the state of the house.
pub struct Guide;

impl Plugin for Guide {
    type State = Seen;

    fn id(&self) -> String {
        "guide".to_owned()
    }

    async fn prepare(&self, turn: &mut NextTurn<'_>) -> Result<(), PluginError> {
        let rooms = turn.get::<House>().map_or(0, |it| it.rooms.len());
        turn.edit::<Self, _>(|seen| seen.rooms.push(rooms))?;
        turn.instruct("Follow the guide.");
        Ok(())
    }

    async fn ended(&self, run: &mut EndedRun<'_>) -> Result<(), PluginError> {
        let end = run.end().to_string();
        Ok(run.edit::<Self, _>(|seen| seen.end = Some(end))?)
    }
}

/// A plugin without a state that does something before each turn.
struct Does<F>(&'static str, F);

impl<F> Plugin for Does<F>
where
    F: Fn(&mut NextTurn<'_>) -> Result<(), PluginError> + Send + Sync + 'static,
{
    type State = ();

    fn id(&self) -> String {
        self.0.to_owned()
    }

    async fn prepare(&self, turn: &mut NextTurn<'_>) -> Result<(), PluginError> {
        (self.1)(turn)
    }
}

fn does(
    id: &'static str,
    work: impl Fn(&mut NextTurn<'_>) -> Result<(), PluginError> + Send + Sync + 'static,
) -> impl Plugin<State = ()> {
    Does(id, work)
}

fn says(name: &'static str, text: &'static str) -> DynamicTool {
    let schema = serde_json::json!({"type": "object"});
    DynamicTool::new(name, "Says something.", schema, move |_, _| async move { Ok(text) })
        .effect(toolwright::Effect::Read)
}

fn agent(model: &Arc<ScriptedModel>) -> AgentBuilder {
    Agent::builder(Arc::clone(model)).instructions("You visit houses.").with(House).with(Guide)
}

fn names(tools: &str) -> Vec<String> {
    let tools: Vec<serde_json::Value> = serde_json::from_str(tools).unwrap();
    tools.iter().map(|it| it["name"].as_str().unwrap().to_owned()).collect()
}

/// S3.22, S3.23, S3.24, S3.39: a plugin has an id, a state, tools that are always there, and prepares each turn; all plugins are
/// asked before each request, in their order.
#[tokio::test]
async fn plugins_prepare_each_turn_by_what_the_run_knows() {
    let model = ScriptedModel::new()
        .calls([("look", "{}"), ("enter", r#"{"room":"hall"}"#)])
        .calls([("leave", "{}"), ("look", "{}")])
        .says("Done.");
    let model = Arc::new(model);
    let agent = agent(&model).build().unwrap();
    let mut run = agent.new_run("r").start().unwrap();
    run.send("Go!").await.unwrap();

    let requests = model.requests();
    assert_eq!(names(&requests[0].tools), ["enter", "look"]);
    assert_eq!(names(&requests[1].tools), ["enter", "leave"]);
    let instructions: Vec<&str> = requests.iter().map(|it| it.instructions.as_str()).collect();
    assert_eq!(
        instructions,
        [
            "You visit houses.\n\nRooms: [].\n\nFollow the guide.",
            "You visit houses.\n\nRooms: [\"hall\"].\n\nFollow the guide.",
            "You visit houses.\n\nRooms: [\"hall\"].\n\nFollow the guide.",
        ]
    );
    // What was left out is gone, and not unknown.
    assert_eq!(kinds(run.history()), [vec!["ok", "ok"], vec!["ok", "gone_tool"]]);
    let plugins = run.plugins().unwrap();
    assert_eq!(plugins.get::<Guide>().unwrap().rooms, [0, 1, 1]);
    assert_eq!(plugins.get::<Guide>().unwrap().end.as_deref(), Some("ended with a text"));
    assert_eq!(plugins.get::<House>().unwrap().rooms, ["hall"]);
}

/// S3.10, S3.18, S3.19: a tool reads and sets the state of any plugin by its type; a state that breaks its schema is refused.
#[tokio::test]
async fn a_tool_reads_and_sets_the_state_of_any_plugin() {
    let plugins = Plugins::holding(House, Visit { rooms: Vec::new(), keys: 1 }).unwrap();
    assert_eq!(enter(&plugins, "hall".into()).await.unwrap(), 1);
    assert_eq!(enter(&plugins, "hall".into()).await.unwrap(), 1);
    let visit = plugins.get::<House>().unwrap();
    assert_eq!((&*visit.rooms, visit.keys), (&["hall".to_owned()][..], 1));

    let error = plugins.set::<House>(Visit { rooms: Vec::new(), keys: 4 }).await.unwrap_err();
    let words = format!("{error}: {}", std::error::Error::source(&error).unwrap());
    assert!(
        words.contains("the state of the plugin `house` is not what its type `Visit` asks for"),
        "{words}"
    );
    assert!(words.contains("/keys: found 4"), "{words}");
    assert_eq!(plugins.get::<House>().unwrap().rooms, ["hall"], "it is as it was");

    assert!(plugins.get::<Guide>().is_none());
    let error = plugins.set::<Guide>(Seen::default()).await.unwrap_err();
    let words = std::error::Error::source(&error).unwrap().to_string();
    assert!(words.starts_with("the agent has no plugin `") && words.contains("Guide"), "{words}");
}

#[tokio::test]
async fn calls_of_one_turn_lose_no_change_of_each_other() {
    let enters = |room: &str| ("enter", format!(r#"{{"room":"{room}"}}"#));
    let all: Vec<(&str, String)> = (0..20).map(|it| enters(&it.to_string())).collect();
    let model = ScriptedModel::new().calls(all.iter().map(|(name, it)| (*name, it.as_str())));
    let model = Arc::new(model.says("Done."));
    let mut run = agent(&model).build().unwrap().new_run("r").start().unwrap();
    run.send("Go!").await.unwrap();
    assert_eq!(run.plugins().unwrap().get::<House>().unwrap().rooms.len(), 20);
}

#[tokio::test]
async fn a_stored_run_goes_on_with_its_plugins() {
    let model = ScriptedModel::new().calls([("enter", r#"{"room":"hall"}"#)]).says("One.");
    let model = Arc::new(model);
    let mut run = agent(&model).build().unwrap().new_run("r").start().unwrap();
    run.send("Go!").await.unwrap();
    let stored = serde_json::to_string(&run.plugins().unwrap().export_states().await).unwrap();

    let again = Arc::new(ScriptedModel::new().calls([("leave", "{}")]).says("Two."));
    let builder = agent(&again).build().unwrap().new_run("r");
    let states: PluginStates = serde_json::from_str(&stored).unwrap();
    let builder = builder.restored(run.state().clone(), run.history().to_vec()).plugins(states);
    let mut run = builder.start().unwrap();
    run.send("And now?").await.unwrap();
    assert_eq!(run.plugins().unwrap().get::<Guide>().unwrap().rooms, [0, 1, 1, 1]);
    assert_eq!(names(&again.requests()[0].tools), ["enter", "leave"]);
}

#[tokio::test]
async fn a_state_that_its_type_does_not_take_names_plugin_and_place() {
    let states = r#"{"states":{"house":{"rooms":["hall",7],"keys":1,"garden":true},"other":[1]},"shown":[],"turn":{}}"#;
    let states: PluginStates = serde_json::from_str(states).unwrap();
    let agent = agent(&Arc::new(ScriptedModel::new())).build().unwrap();
    let error = agent.new_run("r").plugins(states).start().unwrap_err().to_string();
    for words in ["the state of the plugin `house`", "/rooms/1: found 7", "/garden: unknown key"] {
        assert!(error.contains(words), "{error}");
    }
    // One of a plugin that the agent has not got stays as it is.
    let states: PluginStates =
        serde_json::from_str(r#"{"states":{"other":[1]},"shown":[],"turn":{}}"#).unwrap();
    let run = agent.new_run("r").plugins(states.clone()).start().unwrap();
    assert_eq!(run.plugins().unwrap().export_states().await, states);
}

#[tokio::test]
async fn plugins_may_leave_out_and_replace_each_others_tools() {
    let log = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&log);
    let adds = |id, name, other: &'static str| {
        does(id, move |turn| {
            turn.add_tool(says(name, "here"));
            if turn.tools().contains(&other) {
                turn.leave_out(other);
            }
            Ok(())
        })
    };
    let last = does("last", move |turn| {
        seen.lock()
            .unwrap()
            .push(turn.tools().iter().map(|it| (*it).to_owned()).collect::<Vec<_>>());
        turn.leave_out("look_up");
        turn.add_tool(says("look_up", "replaced"));
        turn.leave_out_where(|it| it.name == "never");
        Ok(())
    });
    let model = ScriptedModel::new().calls([("a", "{}"), ("b", "{}"), ("look_up", "{}")]);
    let model = Arc::new(model.says("Done."));
    let agent = Agent::builder(Arc::clone(&model)).tools([LOOK_UP]).service(Log::default());
    let agent = agent.with(adds("one", "a", "b")).with(adds("two", "b", "a")).with(last);
    let mut run = agent.build().unwrap().new_run("r").start().unwrap();
    run.send("Go!").await.unwrap();
    assert_eq!(log.lock().unwrap()[0], ["look_up", "b"]);
    assert_eq!(names(&model.requests()[0].tools), ["b", "look_up"]);
    assert_eq!(kinds(run.history()), [["gone_tool", "ok", "ok"]]);
}

#[tokio::test]
async fn a_tool_that_was_added_for_turns_before_is_gone_and_one_that_never_was_is_unknown() {
    let adds = does("adds", |turn| {
        if turn.number() == 1 {
            turn.add_tool(says("once", "here"));
        }
        Ok(())
    });
    let both = || [("once", "{}"), ("never", "{}")];
    let model = Arc::new(ScriptedModel::new().calls(both()).calls(both()).says("Done."));
    let agent = Agent::builder(Arc::clone(&model)).with(adds).build().unwrap();
    let mut run = agent.new_run("r").start().unwrap();
    run.send("Go!").await.unwrap();
    assert_eq!(kinds(run.history()), [["ok", "unknown_tool"], ["gone_tool", "unknown_tool"]]);
    assert_eq!(names(&model.requests()[1].tools), [""; 0]);
}

#[tokio::test]
async fn a_turn_whose_model_gave_no_answer_is_prepared_again_from_the_states_before() {
    let away = toolwright_agent::ModelError::new("away", "away");
    let away = away.class(ErrorClass::NotStarted { retry_after: None });
    let answer = ModelAnswer::new("", vec![call("c1", "look", "{}")]);
    let model = Arc::new(ScriptedModel::new().fails(away).answers(answer).says("Done."));
    let mut run = agent(&model).build().unwrap().new_run("r").start().unwrap();
    if run.send("Go!").await.is_err() {
        run.resume().await.unwrap();
    } else {
        run.send("Again!").await.unwrap();
    }
    assert_eq!(run.plugins().unwrap().get::<Guide>().unwrap().rooms, [0, 0]);
}

/// Notes that the cellar was seen.
#[tool(effect = read, reads())]
async fn peek(plugins: &Plugins) -> Result<(), ToolError> {
    plugins.edit::<House, _>(|visit| visit.rooms.push("cellar".to_owned())).await
}

/// A model that calls `peek` in an answer which it never ends, and then answers.
struct Endless(AtomicUsize);

impl Model for Endless {
    fn name(&self) -> &str {
        "endless"
    }

    fn dialect(&self) -> Dialect {
        Dialect::Anthropic
    }

    fn answer<'a>(
        &'a self,
        request: ModelRequest<'a>,
    ) -> BoxFuture<'a, Result<ModelAnswer, ModelError>> {
        Box::pin(async move {
            if self.0.fetch_add(1, Ordering::SeqCst) > 0 {
                return Ok(ModelAnswer::text("Done."));
            }
            let call = call("c1", "peek", "{}");
            request.listener.unwrap().delta(Delta::CallWhole { index: 0, call: &call });
            std::future::pending().await
        })
    }
}

#[tokio::test(start_paused = true)]
async fn a_state_that_an_early_read_has_set_stays_when_its_answer_is_given_up() {
    let agent = Agent::builder(Endless(AtomicUsize::new(0))).tools([PEEK]).early_reads();
    let mut run = agent.with(House).with(Guide).build().unwrap().new_run("r").start().unwrap();
    let sending = tokio::time::timeout(Duration::from_secs(5), run.send("Go!")).await;
    assert!(sending.is_err(), "the answer is given up");
    run.resume().await.unwrap();
    let plugins = run.plugins().unwrap();
    assert_eq!(plugins.get::<House>().unwrap().rooms, ["cellar"]);
    assert_eq!(plugins.get::<Guide>().unwrap().rooms, [1], "what was prepared is discarded");
}

//! Long conversations under a small window, made of the real ones of bfcl-eval: every call is the right one and reaches its tool once,
//! with its arguments, and every request is a sound history that the vendor takes.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex};

use futures::future::BoxFuture;
use oracles::fetched;
use oracles::recorded::{Judged, verdict};
use serde_json::{Value, json};
use toolwright::dialect::Dialect;
use toolwright::provider::{Provider, ToolCall};
use toolwright::unstable::foreign::{TypeNames, input_schema};
use toolwright::{DynamicTool, Effect};
use toolwright_agent::http::HttpModel;
use toolwright_agent::{Agent, Message, Model, ModelAnswer, ModelError, ModelRequest, check};

/// How many conversations are joined into one.
const JOINED: usize = 20;

/// What a history may have beside the tools, in tokens: a part of what the conversations have.
const ROOM: u64 = 12_000;

/// How many bytes each answer has beside the arguments of its call.
const ANSWER: usize = 2_000;

/// Of so many requests one is judged by the vendor's document.
const JUDGED: usize = 10;

/// What the user says, and the right calls.
type Turn = (String, Vec<(String, Value)>);

/// A model that makes the right calls, one at a time, and looks at each request.
struct RightModel {
    http: HttpModel,
    answers: Mutex<VecDeque<ModelAnswer>>,
    seen: Mutex<Seen>,
}

#[derive(Default)]
struct Seen {
    requests: usize,
    /// How many of them have less than the whole history.
    compacted: usize,
    largest: usize,
    judged: Vec<String>,
    unsound: Vec<String>,
}

impl RightModel {
    fn look_at(&self, request: &ModelRequest<'_>) -> Result<(), ModelError> {
        let body = self.http.body(request)?;
        let mut seen = self.seen.lock().unwrap();
        seen.requests += 1;
        seen.largest = seen.largest.max(body.len());
        let asked = request.history.iter().filter(|it| matches!(it, Message::Assistant { .. }));
        seen.compacted += usize::from(asked.count() + 1 < seen.requests);
        let problems = check(request.history);
        if !matches!(problems, Ok([])) {
            let problem = format!("request {}: {problems:?}", seen.requests);
            seen.unsound.push(problem);
        }
        if seen.requests.is_multiple_of(JUDGED) {
            seen.judged.push(body);
        }
        Ok(())
    }
}

impl Model for RightModel {
    fn name(&self) -> &str {
        self.http.name()
    }

    fn dialect(&self) -> Dialect {
        self.http.dialect()
    }

    fn answer<'a>(
        &'a self,
        request: ModelRequest<'a>,
    ) -> BoxFuture<'a, Result<ModelAnswer, ModelError>> {
        Box::pin(async move {
            self.look_at(&request)?;
            let next = self.answers.lock().unwrap().pop_front();
            next.ok_or_else(|| ModelError::new("script", "nothing is left to answer"))
        })
    }
}

/// Conversations that were joined: their tools, and their turns one after another.
fn joined() -> Vec<(BTreeMap<String, Value>, Vec<Turn>)> {
    let lines = fetched::text("bfcl/conversations.jsonl").unwrap();
    let all: Vec<Value> = lines.lines().map(|it| serde_json::from_str(it).unwrap()).collect();
    let join = |group: &[Value]| {
        let (mut defined, mut turns) = (BTreeMap::new(), Vec::new());
        for conversation in group {
            for tool in conversation["tools"].as_array().unwrap() {
                defined.insert(tool["name"].as_str().unwrap().to_owned(), tool.clone());
            }
            for turn in conversation["turns"].as_array().unwrap() {
                let calls = turn["calls"].as_array().unwrap().iter();
                let call =
                    |it: &Value| (it["name"].as_str().unwrap().to_owned(), it["arguments"].clone());
                turns.push((turn["said"].as_str().unwrap().to_owned(), calls.map(call).collect()));
            }
        }
        let is_called = |name: &str| {
            turns.iter().any(|(_, calls): &Turn| calls.iter().any(|(called, _)| called == name))
        };
        defined.retain(|name, _| is_called(name));
        (defined, turns)
    };
    all.chunks(JOINED).map(join).collect()
}

fn answers(turns: &[Turn]) -> VecDeque<ModelAnswer> {
    let mut answers = VecDeque::new();
    for (_, calls) in turns {
        for (name, arguments) in calls {
            let id = Some(format!("call_{}", answers.len()));
            let call = ToolCall { id, name: name.clone(), arguments: arguments.to_string() };
            answers.push_back(ModelAnswer::new("", vec![call]));
        }
        answers.push_back(ModelAnswer::text("Done."));
    }
    answers
}

#[tokio::test]
async fn every_call_of_a_long_conversation_is_right_under_a_small_window() {
    let (mut requests, mut compacted, mut calls, mut refused) = (0, 0, 0, 0);
    for (provider, (defined, turns)) in Provider::ALL.into_iter().cycle().zip(joined()) {
        let made = Arc::new(Mutex::new(Vec::new()));
        let tool = |(name, definition): (&String, &Value)| {
            let schema = input_schema(&definition["parameters"], TypeNames::Foreign);
            let (made, called) = (Arc::clone(&made), name.clone());
            let tool = DynamicTool::new(
                name,
                definition["description"].as_str().unwrap(),
                schema.unwrap().schema,
                move |input, _| {
                    made.lock().unwrap().push((called.clone(), input.clone()));
                    let answer =
                        format!("{input}\n{}", "It is as it was said.\n".repeat(ANSWER / 22));
                    async move { Ok(answer) }
                },
            );
            let reads = ["cat", "display", "find", "get", "grep", "ls", "pwd", "tail"];
            match reads.iter().any(|it| name.starts_with(it)) {
                true => tool.effect(Effect::Read),
                false => tool.effect(Effect::Idempotent),
            }
        };
        let tools: Vec<DynamicTool> = defined.iter().map(tool).collect();
        let model = Arc::new(RightModel {
            http: HttpModel::of(provider, "some-model")
                .unwrap()
                .base_url("http://127.0.0.1:8000")
                .build()
                .unwrap(),
            answers: Mutex::new(answers(&turns)),
            seen: Mutex::default(),
        });
        let fixed: usize = defined.values().map(|it| it.to_string().len() / 3).sum();
        let agent = Agent::builder(Arc::clone(&model))
            .tools(tools)
            .unrestricted()
            .window(u64::try_from(fixed).unwrap() + ROOM + 8_192)
            .build()
            .unwrap();
        let mut chat = agent.chat();
        for (said, _) in &turns {
            let result = chat.send(said.as_str()).await.unwrap();
            assert_eq!(result.to_string(), "Done.");
        }
        let answered = chat.history().iter().filter_map(|message| match message {
            Message::ToolResults(answered) => Some(answered),
            _ => None,
        });
        let is_refused: Vec<bool> =
            answered.flat_map(|it| it.iter().map(|(_, answer)| answer.is_error())).collect();
        let right = turns.iter().flat_map(|(_, calls)| calls.clone()).zip(&is_refused);
        let right: Vec<_> = right.filter(|(_, is_refused)| !**is_refused).map(|it| it.0).collect();
        refused += is_refused.iter().filter(|it| **it).count();
        let made = made.lock().unwrap();
        for (index, (made, right)) in made.iter().zip(&right).enumerate() {
            assert_eq!(made, right, "{provider}: call {index}");
        }
        assert_eq!(made.len(), right.len(), "{provider}");
        let seen = model.seen.lock().unwrap();
        assert_eq!(seen.unsound, <[String; 0]>::default(), "{provider}");
        let header = json!({"recording": 1, "provider": provider.name()});
        let bodies = seen.judged.iter().map(|body| format!(r#"{{"request":{{"body":{body}}}}}"#));
        let text: Vec<String> = std::iter::once(header.to_string()).chain(bodies).collect();
        let found = verdict(&text.join("\n"), Judged::Requests).unwrap();
        assert!(found.objections.is_empty(), "{provider}: {:#?}", found.objections);
        println!(
            "{provider}: {} turns of users, {} calls, {} requests, {} of them of a compacted history, the largest {} bytes",
            turns.len(),
            made.len(),
            seen.requests,
            seen.compacted,
            seen.largest
        );
        (requests, compacted, calls) =
            (requests + seen.requests, compacted + seen.compacted, calls + made.len());
    }
    println!("{calls} calls in {requests} requests, {compacted} of them of a compacted history");
    // As many calls as the conversations have; a history that is never compacted proves nothing.
    assert_eq!(calls + refused, 1_142);
    // Right by the leaderboard, and not by the definition of the tool: a text for an integer.
    assert!(refused <= 3, "{refused} calls were refused");
    assert!(compacted * 2 > requests, "{compacted} of {requests}");
}

//! What models over HTTP send is what the vendors take: with the history of every provider, with every setting that a provider
//! has, at once and in pieces.

use std::sync::{Arc, Mutex};

use oracles::recorded::{Judged, verdict};
use toolwright::provider::{MediaSupport, Provider, ToolCall};
use toolwright::{Answer, Content, Executor, Output, Registry, ToolError, tool};
use toolwright_agent::http::HttpModel;
use toolwright_agent::recording::{Exchange, Recording};
use toolwright_agent::testing::{Placeholders, Replay};
use toolwright_agent::{
    Agent, Delta, DeltaListener, Effort, Message, Model as _, ModelRequest, ModelSettings,
    PromptCache, ProviderTool, Reasoning, ToolChoice, Verbatim,
};

/// Adds one.
#[tool(name = "math.add", effect = read)]
async fn add(
    /// To what.
    a: i64,
) -> i64 {
    a + 1
}

struct Deaf;

impl DeltaListener for Deaf {
    fn delta(&self, _: Delta<'_>) {}
}

type Exchanges = Arc<Mutex<Vec<Exchange>>>;

/// A model whose answers are recorded ones, whatever it is asked.
async fn recorded(provider: Provider) -> (HttpModel, Replay, Exchanges) {
    reading(provider, MediaSupport::Full).await
}

async fn reading(provider: Provider, media: MediaSupport) -> (HttpModel, Replay, Exchanges) {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/coder/recordings");
    let recording = Recording::read(format!("{folder}/{provider}.jsonl")).unwrap();
    let replay = Replay::of(recording, Placeholders::standard()).without_comparison();
    let replay = replay.start().await.unwrap();
    let exchanges = Exchanges::default();
    let exchanged = Arc::clone(&exchanges);
    let model = HttpModel::of(provider, "gemini-3-pro-preview").unwrap().base_url(replay.url());
    let model = model.media(media);
    let model = model.on_exchange(move |exchange| exchanged.lock().unwrap().push(exchange));
    (model.build().unwrap(), replay, exchanges)
}

/// Three turns of a recorded model, whose tools are not there.
async fn history(provider: Provider) -> (Vec<Message>, Vec<Exchange>) {
    let (model, _replay, exchanges) = recorded(provider).await;
    let executor = Executor::builder(Registry::empty()).build().unwrap();
    let agent = Agent::on(executor, model).max_turns(3).report_budget().build().unwrap();
    let mut run = agent.new_run("r").start().unwrap();
    run.send("make the tests pass").await.unwrap();
    let exchanges = exchanges.lock().unwrap().clone();
    assert_eq!(exchanges.len(), 3);
    (run.history().to_vec(), exchanges)
}

fn settings(provider: Provider) -> Vec<ModelSettings> {
    let settings = ModelSettings::new;
    let mut all = vec![
        settings(),
        settings().tool_choice(ToolChoice::None),
        settings().tool_choice(ToolChoice::Required),
        settings().tool_choice(ToolChoice::Tool("math.add".into())),
        settings().reasoning(Reasoning::Effort(Effort::High)),
        settings().reasoning(Reasoning::Effort(Effort::Low)).show_reasoning(),
        settings().show_reasoning(),
        settings().cache(PromptCache::new()),
        settings().cache(PromptCache::new().key("adding").lasts_long()),
    ];
    if provider != Provider::Gemini {
        all.push(settings().one_call());
    }
    if provider != Provider::OpenAiResponses {
        all.push(settings().stop_words(["enough"]));
    }
    let run_there = match provider {
        Provider::Anthropic => r#"{"type":"web_search_20250305","name":"web_search"}"#,
        Provider::OpenAiResponses => r#"{"type":"web_search"}"#,
        Provider::Gemini => r#"{"googleSearch":{}}"#,
        // It has none.
        _ => r#"{"type":"function","function":{"name":"take"}}"#,
    };
    all.push(settings().provider_tool(ProviderTool::new(provider, run_there)));
    if matches!(provider, Provider::Anthropic | Provider::Gemini) {
        all.push(settings().reasoning(Reasoning::Tokens(2000)));
    }
    all
}

#[tokio::test]
async fn every_provider_takes_the_history_of_every_other_with_every_setting() {
    let mut bodies = 0;
    for provider in Provider::ALL {
        let mut sent = Vec::new();
        for other in Provider::ALL {
            let (history, exchanges) = history(other).await;
            if other == provider {
                sent.extend(exchanges);
            }
            for settings in settings(provider) {
                let (model, _replay, exchanges) = recorded(provider).await;
                let listing = Registry::of([ADD]).unwrap().listing(provider.into()).unwrap();
                let request = ModelRequest::new(&history, &listing);
                let request = request.instructions("Be brief.").settings(&settings);
                model.answer(request).await.unwrap();
                model.answer(request.listener(&Deaf)).await.unwrap();
                sent.append(&mut exchanges.lock().unwrap());
            }
        }
        let text = Recording::new(provider, sent).to_string();
        let found = verdict(&text, Judged::Requests).unwrap();
        assert!(found.objections.is_empty(), "{provider}: {:#?}", found.objections);
        bodies += found.valid;
    }
    println!("{bodies} bodies");
    assert!(bodies > 250, "{bodies}");
}

/// Adds two.
#[tool(effect = read, deferred)]
async fn add_two(
    /// To what.
    a: i64,
) -> i64 {
    a + 2
}

/// With the history of a search, as the provider wrote it.
#[tokio::test]
async fn providers_take_deferred_tools_and_their_own_search_for_them() {
    let searched = [
        (
            Provider::Anthropic,
            r#"[{"type":"server_tool_use","id":"srvtoolu_1","name":"tool_search_tool_bm25","input":{"query":"add"}},{"type":"tool_search_tool_result","tool_use_id":"srvtoolu_1","content":{"type":"tool_search_tool_search_result","tool_references":[{"type":"tool_reference","tool_name":"add_two"}]}},{"type":"tool_use","id":"c1","name":"add_two","input":{"a":1}}]"#,
        ),
        (
            Provider::OpenAiResponses,
            r#"[{"type":"tool_search_call","id":"tsc_1","call_id":null,"execution":"server","arguments":{"paths":["add_two"]},"status":"completed"},{"type":"tool_search_output","id":"tso_1","call_id":null,"execution":"server","tools":[],"status":"completed"},{"type":"function_call","id":"fc_1","call_id":"c1","name":"add_two","arguments":"{\"a\":1}"}]"#,
        ),
    ];
    for (provider, verbatim) in searched {
        let exchanges = Exchanges::default();
        let exchanged = Arc::clone(&exchanges);
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/coder/recordings");
        let recording = Recording::read(format!("{folder}/{provider}.jsonl")).unwrap();
        let replay = Replay::of(recording, Placeholders::standard()).without_comparison();
        let replay = replay.start().await.unwrap();
        let model = HttpModel::of(provider, "some-model").unwrap().base_url(replay.url());
        let model = model
            .tool_search()
            .on_exchange(move |exchange| exchanged.lock().unwrap().push(exchange))
            .build()
            .unwrap();
        let call = ToolCall {
            id: Some("c1".into()),
            name: "add_two".into(),
            arguments: r#"{"a":1}"#.into(),
        };
        let verbatim = Verbatim::new(model.origin().unwrap(), verbatim);
        let history = [
            Message::user("Add."),
            Message::assistant("", [call.clone()]).verbatim(verbatim),
            Message::tool_results([(call, Answer::from(Output::text("3")))]),
        ];
        let catalog = Registry::of([ADD, ADD_TWO]).unwrap().catalog();
        let listing = catalog.searchable_listing(provider.into()).unwrap();
        let cached = ModelSettings::new().cache(PromptCache::new());
        let request =
            ModelRequest::new(&history, &listing).instructions("Be brief.").settings(&cached);
        model.answer(request).await.unwrap();
        let sent = std::mem::take(&mut *exchanges.lock().unwrap());
        let text = Recording::new(provider, sent).to_string();
        assert!(text.contains("defer_loading") && text.contains("tool_search"), "{text}");
        let found = verdict(&text, Judged::Requests).unwrap();
        assert!(found.objections.is_empty(), "{provider}: {:#?}", found.objections);
        assert_eq!(found.valid, 1);
    }
}

/// Pictures and documents from a user and from tools, also in an error, and some that no provider takes.
fn with_media() -> Vec<Message> {
    let image = |label: &'static str, data: &'static str| Content::Image {
        media_type: label.into(),
        data: data.into(),
    };
    let document = |name: Option<&'static str>, media_type: &'static str, data: &'static str| {
        Content::Document {
            name: name.map(Into::into),
            media_type: media_type.into(),
            data: data.into(),
        }
    };
    let blocks = [
        image("image/png", "iVBORw0KGgo="),
        image("image/jpeg", "R0lGODlhAQA="),
        image("image/tiff", "SUkqAAgAAAA="),
        image("image/png", "no base64"),
        document(Some("plan.pdf"), "application/pdf", "JVBERi0xLjc="),
        document(None, "application/pdf", "JVBERi0xLjc="),
        document(Some("a.csv"), "text/csv", "MSwy"),
        Content::Audio { media_type: "audio/wav".into(), data: "AAAA".into() },
        Content::text(" "),
    ];
    let call = |id: &str| ToolCall {
        id: Some(id.into()),
        name: "math.add".into(),
        arguments: r#"{"a":1}"#.into(),
    };
    let calls: Vec<ToolCall> = ["c1", "c2", "c3"].map(call).into();
    let output = blocks.iter().cloned().fold(Output::text("seen:"), Output::with);
    let answers: [Answer; 3] = [
        output.into(),
        Output::default().with(blocks[0].clone()).into(),
        ToolError::new("not_found", "no such file").into(),
    ];
    vec![
        Message::user_with("Look.", blocks.clone()),
        Message::user_with("", [blocks[0].clone()]),
        Message::assistant("", calls.clone()),
        Message::tool_results(calls.into_iter().zip(answers)),
    ]
}

#[tokio::test]
async fn every_provider_takes_the_pictures_and_documents_of_users_and_tools() {
    let history = with_media();
    for provider in Provider::ALL {
        let mut sent = Vec::new();
        for media in [MediaSupport::Full, MediaSupport::Messages, MediaSupport::None] {
            let (model, _replay, exchanges) = reading(provider, media).await;
            let listing = Registry::of([ADD]).unwrap().listing(provider.into()).unwrap();
            model.answer(ModelRequest::new(&history, &listing)).await.unwrap();
            sent.append(&mut exchanges.lock().unwrap());
        }
        let text = Recording::new(provider, sent).to_string();
        assert!(text.contains("iVBORw0KGgo="), "{provider}");
        let found = verdict(&text, Judged::Requests).unwrap();
        assert!(found.objections.is_empty(), "{provider}: {:#?}", found.objections);
        assert_eq!(found.valid, 3);
    }
}

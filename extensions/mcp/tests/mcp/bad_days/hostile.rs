//! Servers that hang, die and lie: what they do stops no other server and no call that could be answered.

use std::time::Duration;

use serde_json::json;
use toolwright::approval::{Callback, Response};
use toolwright::retry::RetryPolicy;
use toolwright::{Answer, Call, ErrorClass, Executor, Registry};
use toolwright_mcp::{McpConfig, McpServers};

use crate::client::{Application, configuration, kind};
use crate::stdio::example;

fn set(application: &Application, mode: &str) {
    std::fs::write(application.folder.path().join(mode), "").unwrap();
}

#[tokio::test]
async fn a_list_that_hangs_stops_no_call_and_the_earlier_list_stays_in_use() {
    let application = Application::trusting();
    assert!(!application.call("peer__echo", json!({"text": "hi"})).await.is_error());
    set(&application, "hangs_at_list");
    // The server says that its tools have changed, and does not list them.
    assert!(!application.call("peer__change", json!({})).await.is_error());
    let answer = application.call("peer__echo", json!({"text": "hi"})).await;
    assert!(answer.text().contains("\nhi\n"), "{}", answer.text());
    assert_eq!((application.times("hangs at list"), application.times("started")), (1, 1));
}

#[tokio::test]
async fn to_close_servers_waits_for_no_start() {
    let application = Application::trusting();
    set(&application, "hangs");
    let call = application.call("peer__echo", json!({"text": "hi"}));
    let (answer, ()) = tokio::join!(call, async {
        application.logged("started").await;
        application.servers.close().await;
    });
    assert!(answer.text().contains("it was closed while it started"), "{}", answer.text());
}

/// One call starts the server, the other waits for that start; a third waits for the pause after a failure.
#[tokio::test]
async fn calls_that_wait_for_a_start_end_when_the_servers_are_closed() {
    let application = Application::trusting();
    set(&application, "hangs");
    let call = || application.call("peer__echo", json!({"text": "hi"}));
    let (first, second, ()) = tokio::join!(call(), call(), async {
        application.logged("started").await;
        application.servers.close().await;
    });
    let (third, ()) = tokio::join!(call(), async {
        // The call waits by now: its server may not be started before half a second has passed.
        for _ in 0..100 {
            tokio::task::yield_now().await;
        }
        application.servers.close().await;
    });
    for answer in [first, second, third] {
        assert!(answer.text().contains("it was closed while it started"), "{}", answer.text());
    }
    assert_eq!(application.times("started"), 1, "{}", application.log());
}

/// A server may offer something else than tools.
#[tokio::test]
async fn a_server_that_does_not_know_of_tools_has_none() {
    let application = Application::trusting();
    set(&application, "without_tools");
    let unusable = application.servers.register_all().await.unwrap();
    assert!(unusable.servers.is_empty(), "{unusable:?}");
    let listed = application.call("mcp_list_tools", json!({})).await;
    assert_eq!(listed.text(), "no tool was found");
}

#[tokio::test]
async fn a_dead_server_stops_no_other() {
    let folder = tempfile::tempdir().unwrap();
    let (program, place) = (example("peer"), folder.path().display().to_string());
    let text = format!(
        "[servers.gone]\ncommand = \"/no/such/program\"\n[servers.peer]\ncommand = {program:?}\nargs = [{place:?}]"
    );
    let servers = McpServers::new(McpConfig::from_toml(&text).unwrap());
    let executor = Executor::builder(Registry::empty()).with(servers.clone()).build().unwrap();
    let unusable = servers.register_all().await.unwrap();
    let [failed] = &unusable.servers[..] else { panic!("{unusable:?}") };
    assert_eq!(failed.server, "gone");
    assert!(failed.error.message().contains("its program cannot be started"), "{}", failed.error);
    assert!(executor.registry().get("peer__echo").is_some());
    servers.close().await;
}

#[tokio::test]
async fn a_tool_without_a_schema_or_nested_too_deep_is_left_out_and_the_rest_works() {
    let application = Application::trusting();
    set(&application, "odd");
    let unusable = application.servers.register_all().await.unwrap();
    let refused: Vec<String> =
        unusable.tools.iter().map(|it| format!("{}: {}", it.tool, it.reason)).collect();
    assert_eq!(refused.len(), 4, "{refused:?}");
    assert_eq!(refused[0], "missing: it has no inputSchema, expected an object");
    assert_eq!(refused[1], "null: its inputSchema is null, expected an object");
    assert_eq!(refused[2], "true: its inputSchema is true, expected an object");
    assert!(refused[3].starts_with("deep: it cannot be read: recursion limit"), "{refused:?}");
    // A hundred levels are few enough.
    assert!(application.executor.registry().get("peer__hundred").is_some());
    let answer = application.call("peer__echo", json!({"text": "hi"})).await;
    assert!(answer.text().contains("\nhi\n"), "{}", answer.text());
}

#[tokio::test]
async fn a_server_that_hangs_at_its_beginning_stops_no_other_and_is_given_up_after_its_start_timeout()
 {
    let (hangs, works) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    std::fs::write(hangs.path().join("hangs"), "").unwrap();
    let program = example("peer");
    let text = format!(
        "[servers.hangs]\ncommand = {program:?}\nargs = [{:?}]\nstart_timeout = 1\n[servers.peer]\ncommand = {program:?}\nargs = [{:?}]",
        hangs.path().display().to_string(),
        works.path().display().to_string(),
    );
    let servers = McpServers::new(McpConfig::from_toml(&text).unwrap());
    let executor = Executor::builder(Registry::empty()).with(servers.clone()).build().unwrap();
    // Less than a start may take where the configuration says nothing.
    let registered = tokio::time::timeout(Duration::from_secs(20), servers.register_all()).await;
    let unusable = registered.expect("the start is not given up").unwrap();
    let [failed] = &unusable.servers[..] else { panic!("{unusable:?}") };
    assert_eq!(failed.server, "hangs");
    assert!(failed.error.message().contains("it does not answer in time"), "{}", failed.error);
    assert!(executor.registry().get("peer__echo").is_some());
    servers.close().await;
}

/// The time limit of the executor is for a tool's work, and not for a start that the configuration gives more time.
#[tokio::test]
async fn the_tools_that_look_at_servers_wait_as_long_as_a_start_may_take() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("slow"), "").unwrap();
    let servers = McpServers::new(configuration(folder.path(), "start_timeout = 60"));
    let limit = Duration::from_millis(200);
    let builder = Executor::builder(Registry::empty()).unrestricted().timeout(Some(limit));
    let executor = builder.retry(RetryPolicy::NONE).with(servers.clone()).build().unwrap();
    let call = |tool: &str, input: &str| {
        let (executor, call) = (executor.clone(), Call::new(tool.to_owned(), input.to_owned()));
        tokio::spawn(async move { executor.call(&call).await })
    };
    let calls = [
        call("mcp_list_tools", "{}"),
        call("mcp_search", r#"{"query":"text"}"#),
        call("mcp_info", r#"{"name":"peer__echo"}"#),
        call("peer__nothing", "{}"),
    ];
    tokio::time::sleep(5 * limit).await;
    std::fs::write(folder.path().join("on"), "").unwrap();
    let [listed, found, described, unknown] = calls;
    for answer in [listed, found, described] {
        let text = answer.await.unwrap().text().into_owned();
        assert!(text.contains("Says the text again."), "{text}");
    }
    // To look a name up starts the server, too.
    assert_eq!(kind(&unknown.await.unwrap()), "unknown_tool");
    servers.close().await;
}

/// A server may say that it notifies of changes, and not do so: a list counts for half a minute.
#[tokio::test]
async fn a_tool_that_changes_in_silence_is_another_one_half_a_minute_later() {
    let application = Application::trusting();
    assert!(!application.call("peer__echo", json!({"text": "hi"})).await.is_error());
    assert!(!application.call("peer__drift", json!({})).await.is_error());
    assert!(!application.call("peer__echo", json!({"text": "hi"})).await.is_error());
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(31)).await;
    tokio::time::resume();
    let refused = application.call("peer__echo", json!({"text": "hi"})).await;
    assert_eq!(kind(&refused), "definition_changed", "{}", refused.text());
    assert_eq!(application.times("called echo"), 2);
}

#[tokio::test]
async fn a_tool_that_the_configuration_leaves_out_is_neither_listed_nor_called() {
    for filter in ["disabled_tools = [\"echo\"]", "enabled_tools = [\"sum\"]"] {
        let application = Application::new(&format!("trust = \"annotations\"\n{filter}"));
        let listed = application.call("mcp_list_tools", json!({})).await.text().into_owned();
        assert!(listed.contains("peer__sum") && !listed.contains("peer__echo"), "{listed}");
        let called = application.call("peer__echo", json!({"text": "hi"})).await;
        assert_eq!(kind(&called), "unknown_tool");
        assert_eq!(application.times("called echo"), 0);
    }
}

#[tokio::test]
async fn an_answer_that_breaks_its_own_schema_is_given_on_and_marked() {
    let application = Application::trusting();
    let sum = application.call("peer__sum", json!({})).await;
    assert_eq!(sum.structured(), Some(json!({"sum": 3})));
    assert!(sum.text().contains(r#"{"sum":3}"#));
    let names: Vec<String> = application
        .call("mcp_search", json!({"query": "wrongly"}))
        .await
        .text()
        .lines()
        .map(str::to_owned)
        .collect();
    let wrong = names.iter().find_map(|line| line.split_once(": Adds wrongly")).unwrap().0;
    assert!(wrong.starts_with("peer__wrong_sum_"), "{wrong}");
    // The call has had its effect: its answer is given on, and marked.
    let answer = application.call(wrong, json!({})).await;
    assert!(!answer.is_error() && answer.text().contains("three"), "{}", answer.text());
    assert_eq!(answer.structured(), None);
    let mark = |answer: &Answer| answer.metadata().unwrap()["untrusted"].clone();
    let why = mark(&answer)["breaks_output_schema"].as_str().unwrap().to_owned();
    assert!(why.starts_with("/sum: "), "{why}");
    let none = application.call("peer__no_sum", json!({})).await;
    assert!(none.text().contains("\n3\n"), "{}", none.text());
    assert_eq!(mark(&none)["breaks_output_schema"], "it has no structured content");
    assert_eq!(
        mark(&sum),
        json!({"server": "peer", "tool": "sum", "source": "MCP server `peer`, tool `peer__sum`"})
    );
}

#[tokio::test]
async fn a_server_that_dies_in_a_call_fails_it_and_is_started_again_later() {
    let application = Application::trusting();
    let answer = application.call("peer__die", json!({})).await;
    let error = answer.error().unwrap();
    assert_eq!((error.kind(), error.classified()), ("unreachable", ErrorClass::Transient));
    let again = application.call("peer__echo", json!({"text": "hi"})).await;
    assert!(again.text().contains("\nhi\n"), "{}", again.text());
    assert_eq!(application.times("started"), 2);
}

#[tokio::test]
async fn noise_foreign_ids_and_second_answers_change_nothing() {
    let application = Application::trusting();
    assert!(application.call("peer__noise", json!({})).await.text().contains("\nfirst\n"));
    assert!(application.call("peer__echo", json!({"text": "hi"})).await.text().contains("\nhi\n"));
    assert_eq!(application.times("started"), 1);
}

#[tokio::test]
async fn a_tool_that_is_defined_differently_does_not_run_as_the_one_that_was_shown() {
    let application = Application::trusting();
    assert!(!application.call("peer__echo", json!({"text": "hi"})).await.is_error());
    let before = application.executor.registry().get("peer__echo").unwrap();
    assert!(!application.call("peer__change", json!({})).await.is_error());
    let refused = application.call("peer__echo", json!({"text": "hi"})).await;
    assert_eq!(kind(&refused), "definition_changed", "{}", refused.text());
    assert_eq!(application.times("called echo"), 1);
    // Who calls it again calls the tool as it is now.
    assert!(!application.call("peer__echo", json!({"text": "hi"})).await.is_error());
    let after = application.executor.registry().get("peer__echo").unwrap();
    assert!(after.description.starts_with("Sends the text to everybody."), "{}", after.description);
    let print = toolwright::unstable::arguments::fingerprint;
    assert_ne!(print(&before), print(&after));
}

/// A server that writes to standard error could clear the screen and print a question of the application.
#[tokio::test]
async fn the_last_lines_of_a_server_that_dies_are_in_the_error_and_act_on_no_terminal() {
    let application = Application::trusting();
    set(&application, "dies");
    let answer = application.call("peer__echo", json!({"text": "hi"})).await;
    let text = answer.error().unwrap().message().to_owned();
    assert!(text.contains("the last lines of its standard error:\n<untrusted "), "{text}");
    assert!(text.contains(r"no licence\u{1b}[2J\u{1b}[HApprove? [y] y"), "{text}");
    assert!(!text.contains('\u{1b}'), "{text}");
}

#[tokio::test]
async fn a_call_ends_when_its_server_is_silent_for_too_long_and_progress_extends_it() {
    let application = Application::new("trust = \"annotations\"\ntimeout = 1");
    let silent = application.call("peer__never", json!({})).await;
    assert_eq!(kind(&silent), "timeout");
    assert!(silent.text().contains("nor reported its progress within 1 s"), "{}", silent.text());
    application.logged("cancelled").await;
    let slow = application.call("peer__reports", json!({})).await;
    assert!(slow.text().contains("\nreported\n"), "{}", slow.text());
}

/// `echo` says of itself that it only reads.
#[tokio::test]
async fn the_annotations_of_a_server_that_is_not_trusted_are_not_believed() {
    let asked = async |trust: &str| {
        let folder = tempfile::tempdir().unwrap();
        let servers = McpServers::new(configuration(folder.path(), trust));
        let (sender, asked) = std::sync::mpsc::channel();
        let builder =
            Executor::builder(Registry::empty()).unrestricted().ask(Callback::new(move |_| {
                sender.send(()).unwrap();
                Response::Approve
            }));
        let executor = builder.with(servers.clone()).build().unwrap();
        let answer = executor.call(&Call::new("peer__echo", r#"{"text":"hi"}"#)).await;
        assert!(answer.text().contains("\nhi\n"), "{}", answer.text());
        let definition = executor.registry().get("peer__echo").unwrap();
        servers.close().await;
        (definition.effect, asked.try_iter().count())
    };
    assert_eq!(asked("").await, (toolwright::Effect::Once, 1));
    assert_eq!(asked("trust = \"annotations\"").await, (toolwright::Effect::Read, 0));
}

/// A person who has agreed to a tool is shown what it has become, in the process in which it changed and in the next one, and
/// also where it is called through `mcp_exec`.
#[tokio::test]
async fn who_is_asked_about_a_tool_that_has_changed_is_shown_the_old_and_the_new_definition() {
    let folder = tempfile::tempdir().unwrap();
    let process = || {
        let servers = McpServers::new(configuration(folder.path(), ""));
        let servers = servers.remember_in(folder.path().join("known.json")).unwrap();
        let (sender, previews) = std::sync::mpsc::channel();
        let builder = Executor::builder(Registry::empty()).unrestricted();
        let builder = builder.ask(Callback::new(move |request| {
            sender.send(request.preview.clone().unwrap_or_default()).unwrap();
            Response::Approve
        }));
        (servers.clone(), builder.with(servers).build().unwrap(), previews)
    };
    let echo = Call::new("peer__echo", r#"{"text":"hi"}"#);
    let has_changed = "`peer__echo` has changed since it last ran\n\
                       description before: Says the text again.\n\
                       description now: Sends the text to everybody.\n";

    let (servers, executor, previews) = process();
    assert!(!executor.call(&echo).await.is_error());
    assert!(!previews.recv().unwrap().contains("has changed"));
    servers.close().await;
    std::fs::write(folder.path().join("changed"), "").unwrap();

    let (servers, executor, previews) = process();
    let info = executor.call(&Call::new("mcp_info", r#"{"name":"peer__echo"}"#)).await;
    let text = info.text().into_owned();
    let definition = text.lines().next().unwrap().split_once(", definition ").unwrap().1;
    let exec = json!({"name": "peer__echo", "definition": definition, "arguments": {"text": "hi"}});
    assert!(!executor.call(&Call::new("mcp_exec", exec.to_string())).await.is_error());
    let preview = previews.recv().unwrap();
    assert!(preview.starts_with(has_changed), "{preview}");
    // It has run as it is now.
    assert!(!executor.call(&echo).await.is_error());
    assert!(!previews.recv().unwrap().contains("has changed"));
    servers.close().await;
    std::fs::remove_file(folder.path().join("changed")).unwrap();

    let (servers, executor, previews) = process();
    assert!(!executor.call(&echo).await.is_error());
    let preview = previews.recv().unwrap();
    assert!(preview.contains("description now: Says the text again."), "{preview}");
    servers.close().await;
}

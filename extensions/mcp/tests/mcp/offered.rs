//! What other servers offer besides tools: resources, prompts and completions.

use serde_json::json;
use toolwright::approval::{Callback, Response};
use toolwright::{Call, Content, Executor, Registry};
use toolwright_mcp::{Arguments, Completing, MCP_RESOURCE_TOOLS, McpServers, PromptMessage};

use crate::client::{Application, configuration};

fn offering() -> Application {
    let application = Application::trusting();
    std::fs::write(application.folder.path().join("offers"), "").unwrap();
    application
}

#[tokio::test]
async fn resources_and_templates_are_listed_and_read_as_untrusted() {
    let servers = offering();
    let offered = servers.servers.resources("peer").await.unwrap();
    let uris: Vec<&str> = offered.resources.iter().map(|it| &*it.uri).collect();
    assert_eq!(uris, ["note:///a", "note:///b"]);
    assert_eq!(offered.resources[0].description.as_deref(), Some("One\\u{202e} note."));
    assert_eq!(offered.templates[0].uri, "note:///{name}");
    let read = servers.servers.read_resource("peer", "note:///a").await.unwrap();
    let answer = toolwright::Answer::from(read);
    let [Content::Resource { text: Some(text), .. }] = &answer.content()[..] else {
        panic!("{answer:?}")
    };
    assert!(text.starts_with("<untrusted ") && text.contains("Buy\\u{202e} tea."), "{text}");
    let mark = json!({"server": "peer", "resource": "note:///a", "source": "MCP server `peer`, a resource"});
    assert_eq!(answer.metadata().unwrap()["untrusted"], mark);
    let none = servers.servers.read_resource("peer", "note:///x").await.unwrap_err();
    assert!(none.message().contains("not here"), "{none}");
    let other = servers.servers.resources("other").await.unwrap_err();
    assert!(other.message().contains("there are `peer`"), "{other}");
}

#[tokio::test]
async fn prompts_are_listed_filled_in_and_completed() {
    let servers = offering();
    let prompts = servers.servers.prompts("peer").await.unwrap();
    assert_eq!((prompts.len(), &*prompts[0].name), (1, "review"));
    let required: Vec<bool> = prompts[0].arguments.iter().map(|it| it.is_required).collect();
    assert_eq!(required, [true, false]);
    let filled = Arguments::from([("path".to_owned(), "lib.rs".to_owned())]);
    let messages = servers.servers.prompt("peer", "review", &filled).await.unwrap();
    let text = |text: &'static str| Content::text(text);
    assert_eq!(
        messages,
        [
            PromptMessage::User(text("Review \"lib.rs\".")),
            PromptMessage::Assistant(text("Which part?"))
        ]
    );
    let of = Completing::Prompt("review".to_owned());
    let found = servers.servers.complete("peer", &of, "path", "lib", &Arguments::new()).await;
    assert_eq!(found.unwrap(), ["lib.rs"]);
}

#[tokio::test]
async fn a_server_that_does_not_know_of_them_has_none_and_a_list_without_end_is_given_up() {
    let servers = Application::trusting();
    assert!(servers.servers.resources("peer").await.unwrap().resources.is_empty());
    assert!(servers.servers.prompts("peer").await.unwrap().is_empty());
    let of = Completing::Resource("note:///{name}".to_owned());
    let found = servers.servers.complete("peer", &of, "name", "a", &Arguments::new()).await;
    assert!(found.unwrap().is_empty());
    let none = servers.servers.prompt("peer", "review", &Arguments::new()).await.unwrap_err();
    assert!(none.message().contains("the MCP server `peer` has no prompts"), "{none}");
    for file in ["offers", "endless"] {
        std::fs::write(servers.folder.path().join(file), "").unwrap();
    }
    let endless = servers.servers.resources("peer").await.unwrap_err();
    assert!(endless.message().contains("its list has no end"), "{endless}");
}

#[tokio::test]
async fn a_model_lists_resources_and_a_person_is_asked_before_one_is_read() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("offers"), "").unwrap();
    let servers = McpServers::new(configuration(folder.path(), ""));
    let (sender, asked) = std::sync::mpsc::channel();
    let builder = Executor::builder(Registry::of(MCP_RESOURCE_TOOLS).unwrap()).unrestricted();
    let builder = builder.ask(Callback::new(move |request| {
        sender.send(request.tool.clone()).unwrap();
        Response::Approve
    }));
    let executor = builder.with(servers.clone()).build().unwrap();
    let listed = executor.call(&Call::new("mcp_list_resources", r#"{"server":"peer"}"#)).await;
    let text = listed.text().into_owned();
    assert!(text.contains("\nnote:///a: One\\u{202e} note.\n"), "{text}");
    assert!(text.contains("\nnote:///{name}: note\n"), "{text}");
    assert_eq!(asked.try_iter().count(), 0);
    let read = json!({"server": "peer", "uri": "note:///a"}).to_string();
    let read = executor.call(&Call::new("mcp_read_resource", read)).await;
    assert!(!read.is_error(), "{}", read.text());
    assert_eq!(asked.try_iter().collect::<Vec<_>>(), ["mcp_read_resource"]);
    servers.close().await;
}

//! What the agent can do, written down.

use std::sync::Arc;

use knowledge::{Library, agent};
use serde_json::{Value, json};
use toolwright_agent::{ModelError, ScriptedModel};

use crate::support::{Shelf, asked};

const FILE: &str = "prompts/capabilities.md";

fn naming(themes: Value) -> ScriptedModel {
    let answer = json!({"themes": themes}).to_string();
    ScriptedModel::new().calls([("final_answer", answer.as_str())])
}

/// S0.71, S0.74, S0.76
#[tokio::test]
async fn the_summary_is_by_theme_names_no_tool_and_leaves_the_front_matter_alone() {
    let shelf = Shelf::new();
    let first = shelf.call("capabilities_refresh", json!({})).await;
    let catalog = shelf.executor.registry().catalog();
    assert_eq!(first["internal_tool_count"], catalog.names().count());
    assert!(first["message"].as_str().unwrap().contains("no model is configured"), "{first}");
    assert_eq!(
        (&first["created_file"], &first["path"]),
        (&json!(true), &json!("prompts/capabilities.md"))
    );
    let text = String::from_utf8(shelf.bytes("prompts/capabilities.md")).unwrap();
    assert!(
        text.starts_with(
            "---\ntitle: Capabilities\nloading: always\nagent-modification: true\n---\n"
        ),
        "{text}"
    );
    for name in catalog.names() {
        assert!(!text.contains(name), "{name} is in {text}");
    }
    let lines: Vec<_> = text.lines().skip_while(|line| !line.starts_with("# ")).skip(2).collect();
    assert!(lines.iter().all(|line| line.starts_with("- ")), "{text}");
    let front = "---\ntitle: Mine\nloading: contextual\nagent-modification: true\n---\n";
    shelf.put("prompts/capabilities.md", format!("{front}old\n"));
    let second = shelf.call("capabilities_refresh", json!({})).await;
    assert_eq!(second["created_file"], false);
    let text = String::from_utf8(shelf.bytes("prompts/capabilities.md")).unwrap();
    assert!(
        text.starts_with(&format!("{front}# What you can do\n")) && !text.contains("old"),
        "{text}"
    );
    // Where there is no front matter to preserve, the file is left alone.
    shelf.put("prompts/capabilities.md", "mine\n");
    let refused = shelf.call("capabilities_refresh", json!({})).await;
    assert_eq!(refused["error_type"], "refresh_failed", "{refused}");
    assert_eq!(shelf.bytes("prompts/capabilities.md"), b"mine\n");
}

/// S0.72, S0.73, S0.75
#[tokio::test]
async fn the_themes_of_a_model_are_a_line_each_and_begin_the_next_conversation() {
    let themes = json!([
        {"name": "Notes", "summary": "write, search and query texts"},
        {"name": "Work", "summary": "edit tasks, schedules and skills"},
    ]);
    let model = Arc::new(naming(themes).says("Hello."));
    let shelf = Shelf::with_model(Some(Arc::clone(&model) as _));
    let refreshed = shelf.call("capabilities_refresh", json!({})).await;
    assert_eq!(refreshed["message"], "the summary is by the themes that the model named");
    let lines = "# What you can do\n\n- Notes: write, search and query texts\n- Work: edit tasks, schedules and skills\n";
    assert!(shelf.text(FILE).ends_with(lines), "{}", shelf.text(FILE));
    // The model has read every tool, and each conversation begins with what it made of them.
    let asked = asked(&model, 0);
    for name in shelf.executor.registry().catalog().names() {
        assert!(asked.contains(name), "{name}");
    }
    let agent = agent(&shelf.executor, Arc::clone(&model) as _).unwrap();
    agent.run("Hello!").await.unwrap();
    assert!(model.requests()[1].instructions.contains(lines.trim()));
}

/// S0.76
#[tokio::test]
async fn a_summary_that_names_a_tool_or_is_none_is_not_used() {
    let many: Vec<Value> =
        (0..1000).map(|it| json!({"name": format!("Theme {it}"), "summary": "all"})).collect();
    let table = [
        (json!([{"name": "Notes", "summary": "use `Membot_Search` for notes"}]), "membot_search"),
        (json!([]), "named no theme"),
        (json!([{"name": " ", "summary": "all"}]), "is empty"),
        (json!([{"name": "Notes", "summary": "one\n- two"}]), "more than one line"),
        (json!([{"name": "Notes", "summary": "a".repeat(301)}]), "more than one line"),
        (json!(many), "named 1000 themes"),
    ];
    for (themes, why) in table {
        let shelf = Shelf::with_model(Some(Arc::new(naming(themes))));
        let refreshed = shelf.call("capabilities_refresh", json!({})).await;
        let message = refreshed["message"].as_str().unwrap();
        assert!(
            message.starts_with("the summary is by group") && message.contains(why),
            "{message}"
        );
        assert!(shelf.text(FILE).contains("\n- skill: "), "{}", shelf.text(FILE));
    }
    let shelf = Shelf::with_model(Some(Arc::new(
        ScriptedModel::new().fails(ModelError::new("unavailable", "down")),
    )));
    let refreshed = shelf.call("capabilities_refresh", json!({})).await;
    assert!(refreshed["message"].as_str().unwrap().contains("the model failed"), "{refreshed}");
}

#[tokio::test(start_paused = true)]
async fn a_summary_that_comes_late_is_not_waited_for() {
    let shelf = Shelf::with_model(Some(Arc::new(ScriptedModel::new().hangs())));
    let refreshed = shelf.call("capabilities_refresh", json!({})).await;
    assert!(refreshed["message"].as_str().unwrap().contains("in 30 seconds"), "{refreshed}");
}

/// S0.72
#[tokio::test]
async fn the_tools_of_mcp_servers_are_described_unless_they_are_left_out() {
    let other = Shelf::new();
    let mut shelf = Shelf::new();
    let servers = format!(
        "[servers.other]\ncommand = {:?}\nargs = [\"serve\"]\ncwd = {:?}\n[servers.gone]\ncommand = \"no-such-program\"\n",
        env!("CARGO_BIN_EXE_knowledge"),
        other.folder.path(),
    );
    shelf.put("mcp.toml", servers);
    shelf.executor =
        knowledge::executor(Library::open(shelf.folder.path()).unwrap(), None).unwrap();
    let refreshed = shelf.call("capabilities_refresh", json!({})).await;
    let own = refreshed["internal_tool_count"].as_u64().unwrap();
    // The other server is this application, with the same tools.
    assert_eq!(refreshed["mcp_tool_count"], own, "{refreshed}");
    assert!(refreshed["message"].as_str().unwrap().contains("`gone`"), "{refreshed}");
    assert!(!shelf.text(FILE).contains("other__"), "{}", shelf.text(FILE));
    let refreshed = shelf.call("capabilities_refresh", json!({"include_mcp": false})).await;
    assert_eq!(
        (&refreshed["mcp_tool_count"], &refreshed["created_file"]),
        (&json!(0), &json!(false))
    );
}

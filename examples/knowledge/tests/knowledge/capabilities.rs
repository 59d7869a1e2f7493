//! What the agent can do, written down.

use serde_json::json;

use crate::support::Shelf;

/// S0.71, S0.74, S0.76
#[tokio::test]
async fn the_summary_is_by_theme_names_no_tool_and_leaves_the_front_matter_alone() {
    let shelf = Shelf::new();
    let first = shelf.call("capabilities_refresh", json!({})).await;
    let catalog = shelf.executor.registry().catalog();
    assert_eq!(first["internal_tool_count"], catalog.names().count());
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

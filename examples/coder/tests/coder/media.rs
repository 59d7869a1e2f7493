//! Pictures and documents of the folder reach the model.

use serde_json::json;

use crate::folder;
use crate::provider::{asked, call, text};

#[test]
fn a_picture_and_a_pdf_that_the_model_reads_are_in_its_next_requests() {
    let (folder, records) = (folder(), tempfile::tempdir().unwrap());
    std::fs::write(folder.path().join("logo.png"), b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR").unwrap();
    std::fs::write(folder.path().join("plan.pdf"), b"%PDF-1.7").unwrap();
    let record = records.path().join("run.jsonl");
    let read = |path: &str| call("read_file", json!({"path": path}));
    let said = vec![read("logo.png"), read("plan.pdf"), text("A logo and a plan.")];
    let ran = asked(folder.path(), &["--record", record.to_str().unwrap()], said);
    assert_eq!((ran.code, ran.end()["ended"].as_str()), (0, Some("text")), "{}", ran.err);
    let recorded = std::fs::read_to_string(record).unwrap();
    let last: serde_json::Value = serde_json::from_str(recorded.lines().last().unwrap()).unwrap();
    let messages = &last["request"]["body"]["messages"];
    let content = |message: usize| &messages[message]["content"][0]["content"][1];
    assert_eq!(
        *content(2),
        json!({"type": "image", "source":
            {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgoAAAANSUhEUg=="}})
    );
    assert_eq!(
        *content(4),
        json!({"type": "document", "title": "plan.pdf", "source":
            {"type": "base64", "media_type": "application/pdf", "data": "JVBERi0xLjc="}})
    );
}

//! The commands that a person types.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Output};

use serde_json::{Value, json};

use crate::support::Shelf;

fn run(shelf: &Shelf, words: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_knowledge"));
    command.args(words).current_dir(shelf.folder.path()).output().unwrap()
}

fn printed(shelf: &Shelf, words: &[&str]) -> String {
    let output = run(shelf, words);
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn a_note_is_written_listed_and_found_by_commands() {
    let shelf = Shelf::new();
    printed(&shelf, &["membot", "write", "notes/q3.md", "Quarterly revenue rose.\n"]);
    let tree = printed(&shelf, &["membot", "tree", "notes", "--max-depth", "3"]);
    assert!(tree.contains("\"path\":\"notes/q3.md\""), "{tree}");
    let found = printed(&shelf, &["membot", "search", "quarterly revenue"]);
    assert!(found.contains("Quarterly revenue rose."), "{found}");
    let taken = run(&shelf, &["membot", "write", "notes/q3.md", "other"]);
    assert_eq!(taken.status.code(), Some(1), "{taken:?}");
}

/// S0.77
#[test]
fn capabilities_are_written_by_a_command_of_one_word() {
    let shelf = Shelf::new();
    let printed = printed(&shelf, &["capabilities"]);
    assert!(printed.contains("prompts/capabilities.md"), "{printed}");
    assert!(shelf.path("prompts/capabilities.md").exists());
}

#[test]
fn without_a_model_it_shows_what_it_does() {
    let shelf = Shelf::new();
    let shown = printed(&shelf, &["--offline"]);
    assert!(shown.contains("the task is what it was, byte for byte"), "{shown}");
}

/// Answers one request for vectors: those of texts about money are alike.
fn answer_embeddings(mut stream: TcpStream) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let head: Vec<String> =
        reader.by_ref().lines().map_while(Result::ok).take_while(|it| !it.is_empty()).collect();
    let length =
        head.iter().find_map(|it| it.to_lowercase().strip_prefix("content-length: ")?.parse().ok());
    let mut body = vec![0; length.unwrap()];
    reader.read_exact(&mut body).unwrap();
    let asked: Value = serde_json::from_slice(&body).unwrap();
    let vectors = asked["input"].as_array().unwrap().iter().enumerate().map(|(index, text)| {
        let is_money = ["revenue", "earn"].iter().any(|it| text.as_str().unwrap().contains(it));
        json!({"index": index, "embedding": if is_money { [1.0, 0.0] } else { [0.0, 1.0] }})
    });
    let body = json!({"data": vectors.collect::<Vec<_>>()}).to_string();
    let length = body.len();
    write!(
        stream,
        "HTTP/1.1 200 OK\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
    )
    .unwrap();
}

#[test]
fn with_an_embedding_model_a_note_is_found_by_other_words() {
    let shelf = Shelf::new();
    printed(&shelf, &["membot", "write", "notes/q3.md", "Quarterly revenue rose.\n"]);
    printed(&shelf, &["membot", "write", "notes/cat.md", "The cat sleeps.\n"]);
    let search = ["membot", "search", "how much we earn"];
    assert!(!printed(&shelf, &search).contains("revenue"));
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/v1", listener.local_addr().unwrap());
    std::thread::spawn(move || listener.incoming().flatten().for_each(answer_embeddings));
    let with_model = |model: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_knowledge"));
        command.args(search).current_dir(shelf.folder.path());
        command.env("KNOWLEDGE_EMBEDDING_MODEL", model);
        command.env("KNOWLEDGE_EMBEDDING_ADDRESS", &address).output().unwrap()
    };
    let found = with_model("topics:v1:2");
    let words = String::from_utf8_lossy(&found.stdout);
    assert!(
        found.status.success() && words.contains("revenue") && !words.contains("cat"),
        "{found:?}"
    );
    let unnamed = with_model("topics");
    let words = String::from_utf8_lossy(&unnamed.stderr);
    assert!(
        words.contains("`topics` names no embedding model, expected name and dimensions"),
        "{words}"
    );
}

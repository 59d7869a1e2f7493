//! A coding agent with 200 turns over a real crate, under a window of 16,000 tokens and without one: what each request sends of the
//! history, how much of it is the beginning of the request before, and whether both sessions end alike. The model is a script; the
//! requests are those that Anthropic's API would get.
//!
//! ```sh
//! cargo run -p toolwright-toolbox --example long-session [TURNS] [WINDOW]
//! ```

use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::{Arc, Mutex};

use futures::future::BoxFuture;
use serde_json::{Value, json};
use toolwright::dialect::Dialect;
use toolwright_agent::http::HttpModel;
use toolwright_agent::{
    Agent, Message, Model, ModelAnswer, ModelError, ModelRequest, ScriptedModel,
};
use toolwright_toolbox::{FILES, Workspace};

/// The crate that is worked on: a dependency of this workspace.
const CRATE: &str = "strsim";

/// A scripted model that measures each request as it would be sent.
struct MeasuredModel {
    script: ScriptedModel,
    http: HttpModel,
    requests: Mutex<Requests>,
}

#[derive(Default)]
struct Requests {
    last: String,
    /// Of each request its bytes, and how many of them the request before begins with.
    sizes: Vec<(usize, usize)>,
}

impl Model for MeasuredModel {
    fn name(&self) -> &str {
        "measured"
    }

    fn dialect(&self) -> Dialect {
        self.http.dialect()
    }

    fn answer<'a>(
        &'a self,
        request: ModelRequest<'a>,
    ) -> BoxFuture<'a, Result<ModelAnswer, ModelError>> {
        Box::pin(async move {
            let body = self.http.body(&request)?;
            if let Ok(mut requests) = self.requests.lock() {
                let same = body.bytes().zip(requests.last.bytes()).take_while(|(a, b)| a == b);
                let common = same.count();
                requests.sizes.push((body.len(), common));
                requests.last = body;
            }
            self.script.answer(request).await
        })
    }
}

/// What came of a session.
struct Session {
    sizes: Vec<(usize, usize)>,
    end: String,
    answers: Vec<String>,
    files: BTreeMap<PathBuf, Vec<u8>>,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    match run().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn run() -> Result<(), Box<dyn Error>> {
    let mut numbers = std::env::args().skip(1).map(|it| it.parse::<u64>());
    let turns = numbers.next().transpose()?.unwrap_or(200);
    let window = numbers.next().transpose()?.unwrap_or(16_000);
    let whole = session(turns, None).await?;
    let small = session(turns, Some(window)).await?;
    println!(
        "turn    whole bytes   window {window}: bytes   of which the request before began with"
    );
    for (turn, (whole, small)) in (1..).zip(whole.sizes.iter().zip(&small.sizes)) {
        println!("{turn:>4} {:>14} {:>22} {:>12}", whole.0, small.0, small.1);
    }
    let sum = |session: &Session| session.sizes.iter().map(|it| it.0).sum::<usize>();
    let common = |session: &Session| session.sizes.iter().map(|it| it.1).sum::<usize>();
    for (name, session) in [("whole", &whole), ("window", &small)] {
        let (bytes, kept) = (sum(session), common(session));
        println!(
            "{name:<8} {} requests, {bytes} bytes, about {} tokens, of which {} % were the beginning of the request before",
            session.sizes.len(),
            bytes / 3,
            kept * 100 / bytes.max(1)
        );
    }
    let largest = small.sizes.iter().map(|it| it.0).max().unwrap_or_default();
    println!("largest  {largest} bytes under the window, about {} tokens", largest / 3);
    let is_alike =
        whole.end == small.end && whole.answers == small.answers && whole.files == small.files;
    println!("ends     {}: {}", if is_alike { "alike" } else { "differently" }, small.end);
    match is_alike && largest / 3 <= usize::try_from(window)? {
        true => Ok(()),
        false => Err("the sessions end differently, or a request is larger than the window".into()),
    }
}

/// Runs the script over a new copy of the crate.
async fn session(turns: u64, window: Option<u64>) -> Result<Session, Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    copy(&sources()?, folder.path())?;
    let model = Arc::new(MeasuredModel {
        script: script(turns),
        http: HttpModel::anthropic("some-model").base_url("http://127.0.0.1:1").build()?,
        requests: Mutex::default(),
    });
    let agent = Agent::builder(Arc::clone(&model))
        .instructions("You work on the sources of a program in one folder, with tools.")
        .tools(FILES)
        .service(Workspace::open(folder.path())?)
        .unrestricted()
        .max_turns(u32::try_from(turns)? + 1);
    let agent = match window {
        Some(window) => agent.window(window),
        None => agent,
    };
    let result = agent.build()?.run("Describe each function in a comment of its own.").await?;
    let answers = result.history().iter().filter_map(|message| match message {
        Message::ToolResults(answered) => Some(answered),
        _ => None,
    });
    let answers = answers.flat_map(|it| it.iter().map(|(_, answer)| answer.text().into_owned()));
    let answers = answers.collect();
    let sizes = std::mem::take(&mut model.requests.lock().map_err(|_| "a lock is poisoned")?.sizes);
    let mut files = BTreeMap::new();
    read(folder.path(), folder.path(), &mut files)?;
    Ok(Session { sizes, end: result.to_string(), answers, files })
}

/// What the model does: reads a part, searches, looks around and changes a line, again and again.
fn script(turns: u64) -> ScriptedModel {
    (1..turns).fold(ScriptedModel::new(), |script, turn| {
        let (tool, arguments): (&str, Value) = match turn % 5 {
            0 => ("edit_file", json!({
                "path": "src/lib.rs",
                "old_string": if turn == 5 { "//! This library implements".to_owned() } else { format!("//! Looked at {} times.\n", turn / 5 - 1) },
                "new_string": if turn == 5 { "//! Looked at 1 times.\n//! This library implements".to_owned() } else { format!("//! Looked at {} times.\n", turn / 5) },
            })),
            1 => ("read_file", json!({"path": "src/lib.rs", "offset": turn * 7 % 900 + 1, "limit": 120})),
            2 => ("grep", json!({"pattern": "pub fn", "context_lines": turn % 3})),
            3 => ("list_files", json!({})),
            _ => ("read_file", json!({"path": "src/lib.rs", "offset": 1, "limit": 200})),
        };
        script.calls([(tool, &*arguments.to_string())])
    })
    .says("Each function has its comment.")
}

/// The folder of the crate, as cargo knows it.
fn sources() -> Result<PathBuf, Box<dyn Error>> {
    let compiler = Command::new("rustc").arg("-vV").output()?.stdout;
    let compiler = String::from_utf8(compiler)?;
    let host = compiler.lines().find_map(|it| it.strip_prefix("host: ")).unwrap_or_default();
    let packages = ["metadata", "--offline", "--format-version", "1", "--filter-platform", host];
    let mut cargo = Command::new("cargo");
    let found = cargo.args(packages).current_dir(env!("CARGO_MANIFEST_DIR")).output()?;
    let metadata: Value = serde_json::from_slice(&found.stdout)?;
    let packages = metadata["packages"].as_array().into_iter().flatten();
    let manifest = packages
        .filter(|it| it["name"] == CRATE)
        .find_map(|it| it["manifest_path"].as_str())
        .ok_or("the crate is not among the dependencies")?;
    Ok(Path::new(manifest).parent().ok_or("its manifest is in no folder")?.to_owned())
}

fn copy(from: &Path, to: &Path) -> std::io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        match entry.file_type()?.is_dir() {
            true => copy(&entry.path(), &target)?,
            false => _ = fs::copy(entry.path(), target)?,
        }
    }
    Ok(())
}

fn read(root: &Path, folder: &Path, files: &mut BTreeMap<PathBuf, Vec<u8>>) -> std::io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        match path.is_dir() {
            true => read(root, &path, files)?,
            false => {
                let name = path.strip_prefix(root).unwrap_or(&path).to_owned();
                files.insert(name, fs::read(&path)?);
            }
        }
    }
    Ok(())
}

//! A large document to tools, against `serde_json` parsing it; the peak memory of that, against the size of the file;
//! and a call over HTTP, against a bare request.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;
use tokio::runtime::Builder;
use toolwright::{Call, Executor, Registry};
use toolwright_openapi::OpenApi;

use crate::allocations::peak;
use crate::measure::{Contestant, Effort, print_table, take_turns};

/// GitHub's document, where `extensions/openapi/fetch` stores it.
const FETCHED: &str = "target/openapi/api.github.com.json";

/// One operation, at the server that this benchmark starts.
const DOCUMENT: &str = r#"{"openapi": "3.1.0", "info": {"title": "Pets", "version": "1"}, "paths": {"/pets/{id}": {"get": {
    "operationId": "showPet",
    "parameters": [{"name": "id", "in": "path", "required": true, "schema": {"type": "integer"}}],
    "responses": {"200": {"description": "ok", "content": {"application/json": {"schema": {
        "type": "object", "required": ["id"], "properties": {"id": {"type": "integer"}, "name": {"type": "string"}}
    }}}}}
}}}}"#;

pub fn run(effort: Effort) -> Result<()> {
    read(effort)?;
    call(effort)
}

fn read(effort: Effort) -> Result<()> {
    let rounds = if effort == Effort::Full { 30 } else { 5 };
    let text = std::fs::read_to_string(FETCHED)
        .with_context(|| format!("{FETCHED}; run extensions/openapi/fetch first"))?;
    let mut operations = 0;
    let measured = take_turns(
        rounds,
        vec![
            Contestant::new("json", || {
                let begun = Instant::now();
                let document: Value = serde_json::from_str(&text)?;
                let time = begun.elapsed();
                ensure!(document.is_object());
                Ok(time)
            }),
            Contestant::new("plan", || {
                let begun = Instant::now();
                let planned = OpenApi::load(&text)?.plan()?;
                let time = begun.elapsed();
                operations = planned.len();
                Ok(time)
            }),
            Contestant::new("executor", || {
                let begun = Instant::now();
                let api = OpenApi::load(&text)?.server("http://127.0.0.1:1");
                let executor =
                    Executor::builder(Registry::empty()).with(api).unrestricted().build()?;
                let time = begun.elapsed();
                drop(executor);
                Ok(time)
            }),
        ],
    )?;
    let mut rows = vec![vec![
        format!("{operations} operations, {} MB", text.len() / 1_000_000),
        "ms".to_owned(),
    ]];
    for name in ["json", "plan", "executor"] {
        rows.push(vec![name.to_owned(), format!("{:.1}", measured.median(name)? * 1000.0)]);
    }
    print_table(&rows);
    memory(text.len())?;
    println!("openapi/read ratio={:.3} against=json", measured.ratio("plan", "json")?.median);
    println!("openapi/build ratio={:.3} against=json", measured.ratio("executor", "json")?.median);
    Ok(())
}

/// Prints the peak of allocated memory, including the text of the file.
fn memory(size: usize) -> Result<()> {
    let times = |bytes: u64| bytes as f64 / size as f64;
    let read = || Ok::<_, anyhow::Error>(std::fs::read_to_string(FETCHED)?);
    let (parsed, json) = peak(|| Ok::<Value, anyhow::Error>(serde_json::from_str(&read()?)?));
    parsed?;
    let (planned, plan) = peak(|| Ok::<_, anyhow::Error>(OpenApi::load(&read()?)?.plan()?));
    planned?;
    let (executor, build) = peak(|| {
        let api = OpenApi::load(&read()?)?.server("http://127.0.0.1:1");
        anyhow::Ok(Executor::builder(Registry::empty()).with(api).unrestricted().build()?)
    });
    executor?;
    let mut rows = vec![["peak memory", "MB", "× the file"].map(str::to_owned).to_vec()];
    for (name, bytes) in [("json", json), ("plan", plan), ("executor", build)] {
        let megabytes = format!("{:.1}", bytes as f64 / 1e6);
        rows.push(vec![name.to_owned(), megabytes, format!("{:.2}", times(bytes))]);
    }
    print_table(&rows);
    println!("openapi/memory ratio={:.3} against=file", times(plan));
    println!("openapi/memory-of-tools ratio={:.3} against=file", times(build));
    Ok(())
}

fn call(effort: Effort) -> Result<()> {
    let (rounds, calls) = if effort == Effort::Full { (60, 200) } else { (10, 50) };
    let url = serve()?;
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let _entered = runtime.enter();
    let api = OpenApi::load(DOCUMENT)?.server(&url);
    let executor = Executor::builder(Registry::empty()).with(api).unrestricted().build()?;
    let client = reqwest::Client::new();
    let bare = async |id: u32| -> Result<Value> {
        let response = client.get(format!("{url}/pets/{id}")).send().await?.error_for_status()?;
        Ok(serde_json::from_slice(&response.bytes().await?)?)
    };
    let measured = take_turns(
        rounds,
        vec![
            Contestant::new("reqwest", || {
                let begun = Instant::now();
                for id in 0..calls {
                    ensure!(runtime.block_on(bare(id))?["name"] == "Rex");
                }
                Ok(begun.elapsed())
            }),
            Contestant::new("tool", || {
                let begun = Instant::now();
                for id in 0..calls {
                    let call = Call::new("showPet", format!(r#"{{"id":{id}}}"#));
                    let answer = runtime.block_on(executor.call(&call));
                    ensure!(!answer.is_error(), "{}", answer.text());
                }
                Ok(begun.elapsed())
            }),
        ],
    )?;
    let mut rows = vec![vec!["one of".to_owned(), "µs".to_owned()]];
    for name in ["reqwest", "tool"] {
        let each = measured.median(name)? / f64::from(calls) * 1e6;
        rows.push(vec![name.to_owned(), format!("{each:.1}")]);
    }
    print_table(&rows);
    println!("openapi/call ratio={:.3} against=reqwest", measured.ratio("tool", "reqwest")?.median);
    Ok(())
}

/// Starts a server that answers every request of a connection with one pet, until the process ends.
fn serve() -> Result<String> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let url = format!("http://{}", listener.local_addr()?);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || answer(stream));
        }
    });
    Ok(url)
}

fn answer(stream: TcpStream) -> std::io::Result<()> {
    const BODY: &str = r#"{"id":7,"name":"Rex"}"#;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(Duration::from_secs(60)))?;
    let mut output = stream.try_clone()?;
    let mut lines = BufReader::new(stream);
    let mut line = String::new();
    while lines.read_line(&mut line)? > 0 {
        if line == "\r\n" {
            write!(
                output,
                "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{BODY}",
                BODY.len()
            )?;
        }
        line.clear();
    }
    Ok(())
}

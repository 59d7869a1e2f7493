//! A client that parses only the cursor of the next page.

use anyhow::{Context, Result, ensure};
use tokio::io::{
    AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, ReadHalf, WriteHalf,
};
use tokio::sync::Mutex;

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"lines","version":"1"}}}"#;
const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

pub struct Lines(Mutex<Ends>);

struct Ends {
    read: BufReader<ReadHalf<DuplexStream>>,
    write: WriteHalf<DuplexStream>,
}

impl Lines {
    /// Begins a session over the stream.
    pub async fn begin(stream: DuplexStream) -> Result<Self> {
        let (read, write) = tokio::io::split(stream);
        let mut ends = Ends { read: BufReader::new(read), write };
        ends.send(INITIALIZE).await?;
        ends.receive().await?;
        ends.send(INITIALIZED).await?;
        Ok(Self(Mutex::new(ends)))
    }

    /// Returns every page of the list of tools, as text.
    pub async fn list(&self) -> Result<Vec<String>> {
        let mut ends = self.0.lock().await;
        let mut pages: Vec<String> = Vec::new();
        let mut cursor = String::new();
        loop {
            let request = format!(
                r#"{{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{{{cursor}}}}}"#
            );
            ends.send(&request).await?;
            let page = ends.receive().await?;
            let next = next_cursor(&page).map(str::to_owned);
            pages.push(page);
            match next {
                Some(next) => cursor = format!(r#""cursor":"{next}""#),
                None => return Ok(pages),
            }
        }
    }
}

impl Ends {
    async fn send(&mut self, line: &str) -> Result<()> {
        self.write.write_all(line.as_bytes()).await?;
        self.write.write_all(b"\n").await?;
        Ok(self.write.flush().await?)
    }

    async fn receive(&mut self) -> Result<String> {
        let mut line = String::new();
        self.read.read_line(&mut line).await?;
        ensure!(line.ends_with('\n'), "the server has gone");
        ensure!(line.contains(r#""result":"#), "no result: {line}");
        Ok(line)
    }
}

/// Returns the cursor of a page. It comes before or after all tools, and no tool here contains that key.
fn next_cursor(page: &str) -> Option<&str> {
    let key = r#""nextCursor":""#;
    let start = page.rfind(key)? + key.len();
    let length = page[start..].find('"').context("an open text").ok()?;
    Some(&page[start..start + length])
}

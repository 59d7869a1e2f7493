//! The pipes of a server program, with one message per line. An answer that cannot be read becomes an error of its
//! request, so that the call does not wait forever.

use std::io;
use std::sync::{Arc, LazyLock};

use rmcp::RoleClient;
use rmcp::model::{ErrorCode, ErrorData, RequestId, ServerJsonRpcMessage};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader};
use tokio::sync::Mutex;

use super::definition::UNREADABLE;
use super::pages::MOST as MOST_TOOLS;
use super::untrusted::line as escaped;

/// The maximum length of an answer in bytes, as over HTTP.
pub(super) const LONGEST: usize = 16 << 20;

/// How many bytes at the beginning and at the end of an answer that is too long are searched for the id of its request.
const END: usize = 1 << 10;

/// How many bytes are read at a time.
const PIECE: usize = 1 << 16;

/// The error code that replaces an answer which could not be read. The server has worked on the request. Servers may
/// use the code too, so the data of such an error holds a random mark of this process, which is never sent to a server.
const NOT_TAKEN: i32 = -32_099;

/// The random mark by which the errors of this client are recognized.
static MARK: LazyLock<String> = LazyLock::new(|| uuid::Uuid::new_v4().simple().to_string());

/// Reports whether this client made the error in place of an unreadable answer.
pub(super) fn is_not_taken(error: &ErrorData) -> bool {
    let mark = error.data.as_ref().and_then(Value::as_str);
    error.code == ErrorCode(NOT_TAKEN) && mark == Some(&**MARK)
}

/// The transport to a program over its pipes.
pub(super) struct Lines<R, W> {
    read: BufReader<R>,
    line: Line,
    write: Arc<Mutex<Option<W>>>,
}

/// The line that the client is reading. It is stored between reads, because the client drops the future of a read
/// whenever it writes a message.
#[derive(Default)]
struct Line {
    /// The whole line, or its beginning and its end if it is too long.
    bytes: Vec<u8>,
    is_too_long: bool,
}

impl<R: AsyncRead + Unpin, W> Lines<R, W> {
    pub(super) fn new(read: R, write: W) -> Self {
        let write = Arc::new(Mutex::new(Some(write)));
        Self { read: BufReader::with_capacity(PIECE, read), line: Line::default(), write }
    }

    /// Returns the next line, without its end.
    async fn next_line(&mut self) -> io::Result<Option<Line>> {
        loop {
            let available = self.read.fill_buf().await?;
            if available.is_empty() {
                return Ok(None);
            }
            let end = available.iter().position(|byte| *byte == b'\n');
            self.line.extend(&available[..end.unwrap_or(available.len())]);
            let taken = end.map_or(available.len(), |end| end + 1);
            self.read.consume(taken);
            if end.is_some() {
                return Ok(Some(std::mem::take(&mut self.line)));
            }
        }
    }
}

impl Line {
    fn extend(&mut self, more: &[u8]) {
        self.bytes.extend_from_slice(more);
        if !self.is_too_long && self.bytes.len() > LONGEST {
            self.is_too_long = true;
        }
        if self.is_too_long && self.bytes.len() > 2 * END {
            let end = self.bytes.len() - END;
            self.bytes.drain(END..end);
            if self.bytes.capacity() > LONGEST {
                self.bytes.shrink_to(PIECE);
            }
        }
    }

    /// Parses the message, or makes the error for its request. Returns `None` if the line belongs to no request.
    fn message(&self) -> Option<ServerJsonRpcMessage> {
        if self.is_too_long {
            // The id in a request is the server's own.
            return (!self.is_request()).then(|| self.id_at_an_end()).flatten().map(too_long);
        }
        if self.bytes.trim_ascii().is_empty() {
            return None;
        }
        read(&self.bytes)
    }

    /// Returns the error for a request of the server that is too long.
    fn refusal(&self) -> Option<TxJsonRpcMessage<RoleClient>> {
        let text = String::from_utf8_lossy(&self.bytes);
        let (head, _) = text.split_once("\"params\"").filter(|_| self.is_too_long)?;
        let id = id(head.split_once("\"id\":").filter(|_| self.is_request())?.1)?;
        let why = format!("the request is longer than {} MiB", LONGEST >> 20);
        let error = ErrorData::new(ErrorCode::INVALID_REQUEST, why, None);
        Some(TxJsonRpcMessage::<RoleClient>::error(error, Some(id)))
    }

    /// Reports whether a line that is too long is a request or a notification of the server, and not an answer.
    fn is_request(&self) -> bool {
        let text = String::from_utf8_lossy(&self.bytes);
        let first = |keys: [&str; 2]| keys.iter().filter_map(|key| text.find(key)).min();
        match (first(["\"method\"", "\"params\""]), first(["\"result\"", "\"error\""])) {
            (Some(of_request), Some(of_answer)) => of_request < of_answer,
            (of_request, _) => of_request.is_some(),
        }
    }

    /// Returns the id of the answered request, if `id` is the first or the last key.
    fn id_at_an_end(&self) -> Option<RequestId> {
        let text = String::from_utf8_lossy(&self.bytes);
        let first = text.split_once("\"result\"").map_or(&*text, |(head, _)| head);
        let mut found = [first.split_once("\"id\":"), text.rsplit_once("\"id\":")].into_iter();
        found.find_map(|it| it.and_then(|(_, rest)| id(rest)))
    }
}

/// Parses the id at the beginning of a text.
fn id(text: &str) -> Option<RequestId> {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<RequestId>();
    values.next()?.ok()
}

/// Parses a message, or makes an answer from the parts of it that can be read. Returns `None` if the text belongs to no
/// request.
pub(super) fn read(text: &[u8]) -> Option<ServerJsonRpcMessage> {
    match serde_json::from_slice(text) {
        Ok(message) => Some(message),
        Err(error) => repair(text, &error),
    }
}

/// Makes an answer from the parts of it that can be read. Skipped values are not parsed recursively, so deep nesting
/// cannot overflow the stack.
fn repair(text: &[u8], error: &serde_json::Error) -> Option<ServerJsonRpcMessage> {
    let answer = serde_json::from_slice::<Answer<'_>>(text);
    let Ok(Answer { id: Some(id), method: None, result }) = answer else {
        tracing::debug!(%error, "a text from an MCP server is not a message");
        return None;
    };
    let list = result.and_then(|it| serde_json::from_str::<List<'_>>(it.get()).ok());
    Some(match list {
        // The placeholder of a tool is many times as large as the shortest text that cannot be read.
        Some(list) if list.tools.len() > MOST_TOOLS => not_taken(
            id,
            &format!("it lists more than {MOST_TOOLS} tools, and cannot be read: {error}"),
        ),
        Some(list) => {
            let tools: Vec<Value> = list.tools.into_iter().map(tool).collect();
            let result = json!({"tools": tools, "nextCursor": list.next_cursor});
            let result = rmcp::model::CustomResult::new(result).into();
            ServerJsonRpcMessage::response(result, id)
        }
        None => not_taken(id, &format!("it cannot be read: {error}")),
    })
}

/// An answer of which only the outermost level was parsed.
#[derive(Deserialize)]
struct Answer<'a> {
    id: Option<RequestId>,
    #[serde(borrow)]
    method: Option<&'a RawValue>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
}

/// A page of tools, each of which is parsed separately.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct List<'a> {
    #[serde(borrow)]
    tools: Vec<&'a RawValue>,
    next_cursor: Option<String>,
}

/// Returns the tool unchanged, or a placeholder if the tool cannot be read.
fn tool(written: &RawValue) -> Value {
    #[derive(Deserialize)]
    struct NameOnly {
        name: String,
    }
    serde_json::from_str(written.get()).unwrap_or_else(|error| {
        let named = serde_json::from_str::<NameOnly>(written.get());
        let name = named.map_or_else(|_| "(without a name)".to_owned(), |it| it.name);
        json!({"name": name, UNREADABLE: escaped(&error.to_string())})
    })
}

/// Returns the error in place of an answer that is longer than the limit.
pub(super) fn too_long(id: RequestId) -> ServerJsonRpcMessage {
    not_taken(id, &format!("it is longer than {} MiB", LONGEST >> 20))
}

fn not_taken(id: RequestId, why: &str) -> ServerJsonRpcMessage {
    let mark = Value::String(MARK.clone());
    let error = ErrorData::new(ErrorCode(NOT_TAKEN), escaped(why), Some(mark));
    ServerJsonRpcMessage::error(error, Some(id))
}

impl<R, W> Transport<RoleClient> for Lines<R, W>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let write = Arc::clone(&self.write);
        async move {
            let mut line = serde_json::to_vec(&message)?;
            line.push(b'\n');
            let mut write = write.lock().await;
            let closed = || io::Error::new(io::ErrorKind::NotConnected, "the stream is closed");
            let write = write.as_mut().ok_or_else(closed)?;
            write.write_all(&line).await?;
            write.flush().await
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        loop {
            match self.next_line().await {
                Ok(Some(line)) => {
                    if let Some(message) = line.message() {
                        return Some(message);
                    }
                    if let Some(refusal) = line.refusal() {
                        // A task, because the server may not read while it writes.
                        tokio::spawn(self.send(refusal));
                    }
                }
                Ok(None) => return None,
                Err(error) => {
                    tracing::warn!(%error, "the pipe of an MCP server cannot be read");
                    return None;
                }
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        drop(self.write.lock().await.take());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(text: &str) -> Value {
        let mut line = Line::default();
        line.extend(text.as_bytes());
        serde_json::to_value(line.message()).unwrap()
    }

    #[test]
    fn an_answer_that_is_too_long_ends_its_request_wherever_its_id_is() {
        for (before, after) in [
            (r#"{"jsonrpc":"2.0","id":7,"result":{"text":""#, r#""}}"#),
            (r#"{"jsonrpc":"2.0","result":{"id":3,"text":""#, r#""},"id": 7}"#),
        ] {
            let mut line = Line::default();
            line.extend(before.as_bytes());
            for _ in 0..20 {
                line.extend(&vec![b'x'; 1 << 20]);
                assert!(line.bytes.len() <= LONGEST + (1 << 20));
            }
            line.extend(after.as_bytes());
            let message = serde_json::to_value(line.message()).unwrap();
            assert_eq!(message["id"], 7);
            assert_eq!(message["error"]["message"], "it is longer than 16 MiB");
        }
    }

    #[test]
    fn a_request_of_the_server_that_is_too_long_ends_no_request_of_ours_and_is_refused() {
        let mut line = Line::default();
        let head =
            r#"{"jsonrpc":"2.0","id":7,"method":"sampling/createMessage","params":{"result":""#;
        line.extend(head.as_bytes());
        (0..20).for_each(|_| line.extend(&vec![b'x'; 1 << 20]));
        line.extend(br#""}}"#);
        assert!(line.message().is_none());
        let refusal = serde_json::to_value(line.refusal()).unwrap();
        assert_eq!((&refusal["id"], &refusal["error"]["code"]), (&json!(7), &json!(-32_600)));

        let mut line = Line::default();
        line.extend(
            br#"{"jsonrpc":"2.0","method":"notifications/message","params":{"id":7,"data":""#,
        );
        (0..20).for_each(|_| line.extend(&vec![b'x'; 1 << 20]));
        line.extend(br#"","id":3}}"#);
        assert!(line.message().is_none() && line.refusal().is_none());
    }

    #[test]
    fn of_a_list_with_a_tool_that_is_nested_too_deep_the_rest_is_read() {
        let deep = format!("{}1{}", r#"{"a":"#.repeat(100_000), "}".repeat(100_000));
        let text = format!(
            r#"{{"jsonrpc":"2.0","id":7,"result":{{"tools":[{{"name":"deep","inputSchema":{deep}}},{{"name":"plain","inputSchema":{{}}}}]}}}}"#
        );
        let tools = message(&text)["result"]["tools"].clone();
        assert_eq!(tools[0]["name"], "deep");
        assert!(tools[0][UNREADABLE].as_str().unwrap().contains("recursion limit"), "{tools}");
        assert_eq!(tools[1]["name"], "plain");
        let other = message(&format!(r#"{{"jsonrpc":"2.0","id":7,"result":{deep}}}"#));
        assert_eq!((&other["id"], &other["error"]["code"]), (&json!(7), &json!(NOT_TAKEN)));
    }

    #[test]
    fn a_list_of_more_tools_than_are_listed_is_not_read_tool_by_tool() {
        let listed = |tools: usize| {
            let tools = vec!["1e999"; tools].join(",");
            message(&format!(r#"{{"jsonrpc":"2.0","id":7,"result":{{"tools":[{tools}]}}}}"#))
        };
        let most = listed(MOST_TOOLS);
        assert_eq!(most["result"]["tools"].as_array().unwrap().len(), MOST_TOOLS);
        let more = listed(MOST_TOOLS + 1);
        assert_eq!((&more["id"], &more["error"]["code"]), (&json!(7), &json!(NOT_TAKEN)));
        let words = more["error"]["message"].as_str().unwrap();
        assert!(words.starts_with("it lists more than 20000 tools"), "{words}");
    }

    #[test]
    fn an_error_of_the_server_is_its_own_whatever_its_code_and_data() {
        let ours = not_taken(RequestId::Number(7), "it is too long");
        let ServerJsonRpcMessage::Error(ours) = ours else { panic!("an error") };
        assert!(is_not_taken(&ours.error));
        for data in [Value::Null, json!("not taken"), json!(""), json!({"mark": true})] {
            let theirs = ErrorData::new(ErrorCode(NOT_TAKEN), "it is too long", Some(data));
            assert!(!is_not_taken(&theirs));
        }
        assert!(!is_not_taken(&ErrorData::new(ErrorCode(NOT_TAKEN), "it is too long", None)));
    }

    #[test]
    fn what_is_no_answer_is_dropped() {
        for text in ["", "no protocol", "[]", r#"{"jsonrpc": 7}"#, r#"{"id":1,"method":7}"#] {
            assert_eq!(message(text), Value::Null, "{text}");
        }
    }
}

use toolwright::*;

pub struct Workspace(String);
pub struct Conn;
impl Resource for Conn {
    async fn close(self, _: Closing) -> Result<(), ToolError> {
        Ok(())
    }
}

#[data]
pub struct Slice {
    text: String,
    lines: Vec<u32>,
}

#[data]
pub enum Mode {
    Fast,
    Slow { why: String },
}

fn classify(path: &str) -> Danger {
    if path.contains("etc") { Danger::Critical } else { Danger::Safe }
}

/// Read part of a text file.
///
/// Second paragraph that
/// goes on.
#[tool(group = "file", danger = classify(&path), effect = read, reads(file = path))]
pub async fn read_file(
    workspace: &Workspace,
    context: &ToolContext,
    conn: &mut Conn,
    /// Path relative to the workspace root.
    #[arg(length = 1..=100, example = "a.txt")]
    path: String,
    /// First line to return, counted from 1.
    #[arg(default = 1, minimum = 1)]
    offset: usize,
    /// How many lines to return; all when absent.
    limit: Option<usize>,
    /// How.
    mode: Option<Mode>,
) -> Result<Slice, ToolError> {
    let _ = (conn, context.call_id(), mode);
    Ok(Slice {
        text: format!("{}/{path}", workspace.0),
        lines: (offset as u32..limit.unwrap_or(3) as u32).collect(),
    })
}

struct Tickets;
#[tools(group = "ticket")]
impl Tickets {
    /// Reads a ticket.
    #[tool(effect = read, blocking)]
    fn read(
        &self,
        c: &mut Conn,
        /// Which.
        #[arg(pattern = "^[a-z]+$")]
        id: String,
    ) -> String {
        let _ = c;
        id
    }
}

#[tokio::test]
async fn works() {
    let registry = Registry::of([READ_FILE, Tickets::READ]).unwrap();
    println!(
        "{}",
        serde_json::to_string_pretty(&registry.get("read_file").unwrap().input_schema).unwrap()
    );
    println!("{:#?}", registry.get("read"));
    let e = Executor::builder(registry.clone()).unrestricted().build();
    println!("{}", e.unwrap_err());
    let e = Executor::builder(registry)
        .unrestricted()
        .service(Workspace("w".into()))
        .service(Tickets)
        .resource(|_| async { Ok(Conn) })
        .build()
        .unwrap();
    for (n, a) in [
        ("read_file", r#"{"path":"x"}"#),
        ("read_file", r#"{"path":"", "offset":0, "lim":3, "mode":"Fas"}"#),
        ("read", r#"{"id":"abc"}"#),
        ("read", r#"{"id":"a1"}"#),
        ("red", "{}"),
    ] {
        println!("{}", e.call(Call::new(n, a)).await.text());
    }
    println!("{:?}", e.examine(&Call::new("read_file", r#"{"path":"/etc/x"}"#)));
}

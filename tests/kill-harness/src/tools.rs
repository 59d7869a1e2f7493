//! The tools of the application: one of each effect, and some that need approval. Each leaves marks outside.

use std::io;
use std::time::Duration;

use toolwright::{
    Call, Calls, ErrorClass, Output, Reconciled, Registration, Registry, RegistryError,
    ToolContext, ToolError, error_kind, tool,
};

use crate::deadly::Deadly;
use crate::marks::{Attempt, Outside, What};
use crate::point::Point;
use crate::script::{Manner, Said, child_of, is_piped};
use toolwright_toolbox::CONTEXT_PIPE;

/// The service of every tool.
pub struct World {
    /// The file to which the tools add their marks.
    pub outside: Outside,
    /// Kills the process at a point.
    pub deadly: Deadly,
    /// How long a slow tool takes.
    pub slow: Duration,
}

/// Returns all tools.
///
/// # Errors
/// When two tools have one name.
pub fn registry() -> Result<Registry, RegistryError> {
    let registry = Registry::of(tools())?;
    for more in [FETCH, FETCH_ASKED, FETCH_SOON, CONTEXT_PIPE] {
        registry.register(more)?;
    }
    Ok(registry)
}

/// Returns the tools that run in the process, for an agent that makes its own executor.
#[must_use]
pub fn tools() -> Vec<Registration> {
    let tools = [LOOK, PEEK_ASKED, NOTE, SEND, SEND_ASKED, PAY, PAY_ASKED, SHIP, RELAY];
    tools.map(Registration::from).into()
}

/// How many lines the answer of a piped call has.
const LINES: u32 = 200;

/// Returns the result of a tool that succeeds.
#[must_use]
pub fn result(token: &str, amount: u32) -> String {
    if !is_piped(token) {
        return format!("done {token} {amount}");
    }
    // The context store splits it into several parts.
    let lines = (1..=LINES).map(|line| format!("line {line}: done {token} {amount}\n"));
    lines.collect()
}

macro_rules! tools {
    ($($(#[$attribute:meta])* $name:ident;)*) => {$(
        $(#[$attribute])*
        pub async fn $name(
            world: &World,
            context: &ToolContext,
            /// What the outside world calls it.
            token: String,
            /// How it goes.
            manner: Manner,
            /// What a person says.
            said: Said,
            /// How much.
            amount: u32,
        ) -> Result<String, ToolError> {
            let _ = said;
            act(world, context, token, manner, amount).await
        }
    )*};
}

tools! {
    /// Looks at something.
    #[tool(effect = read)]
    look;
    /// Looks at something that a person guards.
    #[tool(effect = read, approval = "it is private")]
    peek_asked;
    /// Sets something, the same every time.
    #[tool(effect = idempotent)]
    note;
    /// Sends something, which the receiver takes once for each key.
    #[tool(effect = keyed)]
    send;
    /// The same, if a person agrees.
    #[tool(effect = keyed, approval = "it goes out")]
    send_asked;
    /// Pays something, every time that it is called.
    #[tool(effect = once)]
    pay;
    /// The same, if a person agrees.
    #[tool(effect = once, approval = "it costs money")]
    pay_asked;
    /// Ships something, and can find out whether it did.
    #[tool(effect = once, reconcile = find_shipped)]
    ship;
}

macro_rules! external_tools {
    ($($(#[$attribute:meta])* $name:ident;)*) => {$(
        $(#[$attribute])*
        pub async fn $name(
            /// What the outside world calls it.
            token: String,
            /// How the supplier behaves.
            manner: Manner,
            /// What a person says.
            said: Said,
            /// How much.
            amount: u32,
        ) -> String;
    )*};
}

external_tools! {
    /// Fetches something, which is carried out elsewhere.
    #[tool(external, effect = once, timeout = "1h")]
    fetch;
    /// The same, if a person agrees.
    #[tool(external, effect = keyed, timeout = "1h", approval = "it is far away")]
    fetch_asked;
    /// Fetches something that is wanted soon.
    #[tool(external, effect = idempotent, timeout = "200ms")]
    fetch_soon;
}

/// What a tool has another one do.
#[toolwright::data]
pub struct Relayed {
    /// The other tool.
    tool: String,
    /// How that goes.
    manner: Manner,
    /// What a person says of it.
    said: Said,
}

/// Has another tool do something, and then does something itself.
#[tool(effect = idempotent)]
pub async fn relay(
    world: &World,
    context: &ToolContext,
    calls: &Calls,
    /// What the outside world calls it.
    token: String,
    /// What the other tool does.
    relayed: Relayed,
    /// How much.
    amount: u32,
) -> Result<String, ToolError> {
    let Relayed { tool, manner, said } = relayed;
    let arguments = serde_json::json!({
        "token": child_of(&token), "manner": manner, "said": said, "amount": amount
    });
    let answer = calls.call(&Call::new(tool.as_str(), arguments.to_string())).await;
    // The other call's outcome does not matter to this tool. Only without a recorded answer does this tool begin
    // again.
    if let Some(error) = answer.error()
        && [error_kind::JOURNAL_FAILED, error_kind::SHUTTING_DOWN].contains(&error.kind())
    {
        let message = error.message().to_owned();
        return Err(ToolError::new("unrecorded", message).class(ErrorClass::Transient));
    }
    act(world, context, token, Manner::Plain, amount).await
}

async fn find_shipped(
    world: &World,
    _context: &ToolContext,
    token: String,
    _manner: Manner,
    _said: Said,
    amount: u32,
) -> Result<Reconciled, ToolError> {
    Ok(match world.outside.has_acted(&token)? {
        Some(true) => Reconciled::Happened(Output::text(result(&token, amount))),
        Some(false) => Reconciled::DidNotHappen,
        None => Reconciled::Unknown,
    })
}

async fn act(
    world: &World,
    context: &ToolContext,
    token: String,
    manner: Manner,
    amount: u32,
) -> Result<String, ToolError> {
    let (call, key) = (context.call_id().to_string(), context.idempotency_key());
    let attempt = Attempt { token: token.clone(), call, key, amount };
    let before = world.outside.begin(attempt.clone())?;
    let _leaving = Leaving { world, token: &token };
    world.deadly.reached(Point::Begun);
    // Yield, so that a kill at a random instant sometimes hits here.
    tokio::task::yield_now().await;
    let manner = if before == 0 || manner == Manner::Slow { manner } else { Manner::Plain };
    match manner {
        Manner::Plain | Manner::PanicsLate | Manner::Flaky => {}
        Manner::Slow => tokio::time::sleep(world.slow).await,
        Manner::Panics => broken(),
        Manner::Busy => {
            return Err(ToolError::new("busy", "the other side takes nothing now")
                .class(ErrorClass::NotStarted { retry_after: None }));
        }
        Manner::Wrong => return Err(ToolError::new("wrong", "there is no such thing")),
    }
    acted(world, attempt)?;
    world.deadly.reached(Point::Acted);
    match manner {
        Manner::PanicsLate => broken(),
        Manner::Flaky => {
            Err(ToolError::new("lost", "the connection was lost").class(ErrorClass::Transient))
        }
        _ => Ok(result(&token, amount)),
    }
}

fn acted(world: &World, attempt: Attempt) -> io::Result<()> {
    world.outside.add(What::Acted(attempt))
}

#[expect(clippy::panic, reason = "tools that panic are what is tried here")]
fn broken() -> ! {
    panic!("this tool is broken");
}

/// Records the end of an attempt, however it ends. A killed process records nothing.
struct Leaving<'a> {
    world: &'a World,
    token: &'a str,
}

impl Drop for Leaving<'_> {
    fn drop(&mut self) {
        let left = What::Left { token: self.token.to_owned() };
        if let Err(error) = self.world.outside.add(left) {
            eprintln!("error: the marks cannot be written: {error}");
        }
    }
}

//! The page of the board, on which people see it and answer.
//!
//! - Nothing is shown and nothing is done without a session, which a link from the terminal opens: what an agent runs on this
//!   machine reaches the port, and not the terminal.
//! - A post counts where it comes from the page itself, with the token of its session, about what the page has shown: what was
//!   decided, moved or changed meanwhile is refused.
//! - What others wrote is text, never markup, and acts on no reader's eye.

mod actions;
mod calls;
mod columns;
mod events;
mod files;
mod guard;
mod layout;
mod new;
mod posted;
mod problem;
mod routes;
mod run;
mod serve;
mod sessions;
mod text;
mod ticket;

pub use self::routes::router;
pub use self::serve::serve;
pub use self::sessions::Person;

use std::io;
use std::sync::Arc;

use jiff::Timestamp;
use toolwright::CancellationToken;
use toolwright::journal::Store;

use crate::Board;
use crate::runner::Clock;
use sessions::Sessions;

/// Is called with a person's name and the link that signs them in, each time that there is a new one.
pub type Announce = Box<dyn Fn(&str, &str) + Send + Sync>;

/// A board with the journal of its runs, as people see it.
pub struct Page {
    board: Arc<Board>,
    journal: Arc<dyn Store>,
    /// How browsers reach the page, such as `http://127.0.0.1:4280`.
    origin: String,
    sessions: Sessions,
    announce: Announce,
    /// Ends the streams of events.
    stop: CancellationToken,
    clock: Clock,
}

impl Page {
    /// Makes the page of a board, which browsers reach by this origin. A cancelled token ends its streams.
    #[must_use]
    pub fn new(
        board: Arc<Board>,
        journal: Arc<dyn Store>,
        origin: impl Into<String>,
        announce: Announce,
        stop: CancellationToken,
    ) -> Self {
        let clock: Clock = Arc::new(Timestamp::now);
        let sessions = Sessions::default();
        Self { board, journal, origin: origin.into(), sessions, announce, stop, clock }
    }

    /// Makes a link that signs a person in, once, and announces it.
    ///
    /// # Errors
    /// When the system gives no random bytes.
    pub fn invite(&self, person: Arc<Person>) -> io::Result<()> {
        let name = person.name.clone();
        let link = format!("{}/sign-in/{}", self.origin, self.sessions.invite(person)?);
        (self.announce)(&name, &link);
        Ok(())
    }

    fn now(&self) -> Timestamp {
        (self.clock)()
    }
}

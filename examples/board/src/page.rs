//! The web page of the board, on which people read tickets and answer questions.
//!
//! - Every request needs a session, which a link printed on the terminal opens. A program that an agent runs on this
//!   machine can reach the port, but it cannot read the terminal.
//! - A form is accepted only if it comes from the page itself, and has the token of its session. If the call, ticket or
//!   criterion of the form has changed since the page showed it, the form is refused.
//! - Text of models and users is escaped: it is never markup, and control characters are printed as escapes.

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

/// A function that gets a person's name and sign-in link, whenever a new link is made.
pub type Announce = Box<dyn Fn(&str, &str) + Send + Sync>;

/// The page of a board, with the journal of its runs.
pub struct Page {
    board: Arc<Board>,
    journal: Arc<dyn Store>,
    /// The address by which browsers reach the page, such as `http://127.0.0.1:4280`.
    origin: String,
    sessions: Sessions,
    announce: Announce,
    /// Ends the event streams when it is cancelled.
    stop: CancellationToken,
    clock: Clock,
}

impl Page {
    /// Makes the page of a board, which browsers reach at this origin. Cancelling the token ends the page's event
    /// streams.
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

    /// Makes a link that signs a person in once, and announces the link.
    ///
    /// # Errors
    /// When the operating system gives no random bytes.
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

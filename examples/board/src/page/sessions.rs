//! The sessions of signed-in people. A link signs in one browser, once. Each session has its own folder on the page,
//! and browsers send its cookie only to this folder, so that no other program that listens on this machine receives the
//! cookie.

use std::collections::HashMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use toolwright::approval::ApproverKey;

/// The most sessions at the same time. A new session replaces the oldest.
const SESSIONS: usize = 64;

/// A person who can sign in to the page.
#[derive(Debug)]
pub struct Person {
    /// The person's name, under which the page adds comments and moves tickets.
    pub name: String,
    /// The key that signs the person's decisions about calls. Without a key, the page shows calls but offers no
    /// decision.
    pub key: Option<ApproverKey>,
}

/// A browser in which a person is signed in.
#[derive(Debug)]
pub struct Session {
    /// The session's folder on the page: a secret that no other program knows.
    pub folder: String,
    pub cookie: String,
    /// A secret that every form of the session contains.
    pub token: String,
    pub person: Arc<Person>,
}

impl Session {
    /// Returns the path of a page of this session.
    pub fn path(&self, rest: &str) -> String {
        format!("/s/{}/{rest}", self.folder)
    }
}

#[derive(Debug, Default)]
pub struct Sessions(Mutex<Open>);

#[derive(Debug, Default)]
struct Open {
    links: HashMap<String, Arc<Person>>,
    /// The sessions, oldest first.
    sessions: Vec<Arc<Session>>,
}

impl Sessions {
    /// Makes a sign-in link, and returns its secret.
    pub fn invite(&self, person: Arc<Person>) -> io::Result<String> {
        let link = secret()?;
        self.open().links.insert(link.clone(), person);
        Ok(link)
    }

    /// Signs a person in with a link, which becomes invalid. `None` if there is no such link.
    pub fn sign_in(&self, link: &str) -> io::Result<Option<Arc<Session>>> {
        let session = |person| {
            let (folder, cookie, token) = (secret()?, secret()?, secret()?);
            Ok::<_, io::Error>(Arc::new(Session { folder, cookie, token, person }))
        };
        let mut open = self.open();
        let Some(person) = open.links.remove(link) else { return Ok(None) };
        let session = session(person)?;
        if open.sessions.len() >= SESSIONS {
            open.sessions.remove(0);
        }
        open.sessions.push(Arc::clone(&session));
        Ok(Some(session))
    }

    /// Finds the session of a folder, if the browser has its cookie.
    pub fn find(&self, folder: &str, cookie: &str) -> Option<Arc<Session>> {
        let open = self.open();
        open.sessions.iter().find(|it| it.folder == folder && it.cookie == cookie).cloned()
    }

    pub fn end(&self, session: &Session) {
        self.open().sessions.retain(|it| it.folder != session.folder);
    }

    fn open(&self) -> MutexGuard<'_, Open> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns a random secret that cannot be guessed.
pub fn secret() -> io::Result<String> {
    let mut bytes = [0; 24];
    getrandom::fill(&mut bytes).map_err(|error| io::Error::other(error.to_string()))?;
    Ok(hex::encode(bytes))
}

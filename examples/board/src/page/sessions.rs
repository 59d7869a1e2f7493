//! Who is signed in. A link signs in one browser, once; a session is a folder of the page and a cookie that browsers send to this folder
//! alone, so that no other program that listens on this machine is sent it.

use std::collections::HashMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use toolwright::approval::ApproverKey;

/// How many sessions there are at once; the oldest makes room.
const SESSIONS: usize = 64;

/// A person for whom the page acts.
#[derive(Debug)]
pub struct Person {
    /// The name that comments and moves are by.
    pub name: String,
    /// Signs what the person decides about calls. Without one, the page shows such calls and does not offer to decide.
    pub key: Option<ApproverKey>,
}

/// A browser in which a person is signed in.
#[derive(Debug)]
pub struct Session {
    /// The folder of the page, which no other program knows.
    pub folder: String,
    pub cookie: String,
    /// In every form of the session.
    pub token: String,
    pub person: Arc<Person>,
}

impl Session {
    /// The address of a part of the page.
    pub fn path(&self, rest: &str) -> String {
        format!("/s/{}/{rest}", self.folder)
    }
}

#[derive(Debug, Default)]
pub struct Sessions(Mutex<Open>);

#[derive(Debug, Default)]
struct Open {
    links: HashMap<String, Arc<Person>>,
    /// The oldest first.
    sessions: Vec<Arc<Session>>,
}

impl Sessions {
    /// Makes the secret of a link.
    pub fn invite(&self, person: Arc<Person>) -> io::Result<String> {
        let link = secret()?;
        self.open().links.insert(link.clone(), person);
        Ok(link)
    }

    /// Uses a link up. Nothing where there is none, or it was used before.
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

    /// The session of a folder, for a browser that has its cookie.
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

/// A text that nothing guesses.
pub fn secret() -> io::Result<String> {
    let mut bytes = [0; 24];
    getrandom::fill(&mut bytes).map_err(|error| io::Error::other(error.to_string()))?;
    Ok(hex::encode(bytes))
}

//! The page of a board of 1,000 tickets, as a browser loads it.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use board::Board;
use board::page::{Page, Person, serve};
use board::ticket::{NewTicket, State};
use reqwest::header::{COOKIE, HeaderValue, LOCATION, SET_COOKIE};
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::runtime::Builder;
use toolwright::CancellationToken;
use toolwright::journal::MemoryStore;

use super::{new_ticket, now, project};

const TICKETS: usize = 1_000;

/// The size of the page, and the time that a request for it took.
pub struct Taken {
    pub bytes: usize,
    /// The median time from the request to the last byte.
    pub time: Duration,
}

/// Requests the page `times` times.
pub fn taken(times: usize) -> Result<Taken> {
    let folder = TempDir::new()?;
    let board = Board::open(folder.path().join("board.db"))?;
    let project = project(&board, &folder)?;
    for number in 0..TICKETS {
        let state = State::ALL[number % State::ALL.len()];
        let title = format!("Ticket {number}: {}", "make the parser read the last line ".repeat(2));
        board.add_ticket(&NewTicket { state, title, ..new_ticket(project, number) }, now()?)?;
    }
    let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    runtime.block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let origin = format!("http://{}", listener.local_addr()?);
        let link: Arc<Mutex<Option<String>>> = Arc::default();
        let announced = Arc::clone(&link);
        let announce = move |_: &str, link: &str| {
            *announced.lock().unwrap_or_else(PoisonError::into_inner) = Some(link.to_owned());
        };
        let (journal, stop) = (Arc::new(MemoryStore::new()), CancellationToken::new());
        let page = Page::new(Arc::new(board), journal, &origin, Box::new(announce), stop.clone());
        let page = Arc::new(page);
        page.invite(Arc::new(Person { name: "Ada".to_owned(), key: None }))?;
        let link = link.lock().unwrap_or_else(PoisonError::into_inner).take();
        let serving = tokio::spawn(serve(page, listener));
        let client =
            reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).build()?;
        let signed = client.get(link.context("no link was announced")?).send().await?;
        let text = |value: Option<&HeaderValue>| -> Result<String> {
            Ok(value.context("the page signs nobody in")?.to_str()?.to_owned())
        };
        let folder = text(signed.headers().get(LOCATION))?;
        let cookie = text(signed.headers().get(SET_COOKIE))?;
        let cookie = cookie.split(';').next().unwrap_or_default();
        let mut taken = Vec::new();
        let mut bytes = 0;
        for _ in 0..times {
            let begun = Instant::now();
            let request = client.get(format!("{origin}{folder}")).header(COOKIE, cookie);
            let html = request.send().await?.error_for_status()?.bytes().await?;
            taken.push(begun.elapsed());
            bytes = html.len();
        }
        stop.cancel();
        serving.await??;
        taken.sort_unstable();
        ensure!(bytes > 1_000, "the page has {bytes} bytes");
        Ok(Taken { bytes, time: taken[taken.len() / 2] })
    })
}

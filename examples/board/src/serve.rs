//! `board serve`: listens for browsers, invites people, and finds the address of the page.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use toolwright::CancellationToken;
use toolwright::approval::ApproverKey;
use toolwright::journal::Store;
use toolwright::runtime::printable;
use toolwright::runtime::unstable::approval::UserKeys;

use board::Board;
use board::page::{self, Page, Person};

/// The name of the command.
pub const NAME: &str = "serve";

pub fn command() -> Command {
    Command::new(NAME).about("Serves a page on which people see the board and answer").args([
        Arg::new("listen")
            .long("listen")
            .value_name("ADDRESS")
            .default_value("127.0.0.1:4280")
            .value_parser(value_parser!(SocketAddr))
            .help("Where it listens; port 0 takes a free one"),
        Arg::new("origin").long("origin").value_name("URL").help(
            "How browsers reach it, where that is not its address: `https://` and the name of a proxy",
        ),
        Arg::new("key")
            .long("key")
            .value_name("FILE")
            .action(ArgAction::Append)
            .value_parser(value_parser!(PathBuf))
            .help("The key of a person that may sign in and decide about calls; yours unless given"),
    ])
}

/// Serves the page until the token is cancelled.
pub async fn run(
    board: Arc<Board>,
    journal: Arc<dyn Store>,
    given: &ArgMatches,
    stop: CancellationToken,
) -> Result<bool, String> {
    let address: SocketAddr =
        given.get_one("listen").copied().ok_or("found no address, expected one")?;
    let named = given.get_one::<String>("origin").map(String::as_str);
    let listener = tokio::net::TcpListener::bind(address)
        .await
        .map_err(|error| format!("the page cannot listen at {address}: {error}"))?;
    let address = listener.local_addr().map_err(|error| error.to_string())?;
    let origin = origin(address, named)?;
    let announce =
        |name: &str, link: &str| println!("sign in as {}: {link}", printable::line(name));
    let page = Arc::new(Page::new(board, journal, origin, Box::new(announce), stop));
    for person in people(given)? {
        page.invite(Arc::new(person)).map_err(|error| error.to_string())?;
    }
    page::serve(page, listener).await.map_err(|error| error.to_string())?;
    Ok(true)
}

/// Returns the origin at which browsers reach the page. From another machine, that requires a proxy with TLS.
fn origin(address: SocketAddr, named: Option<&str>) -> Result<String, String> {
    match named {
        Some(named) => {
            let url = url::Url::parse(named).ok().filter(|it| it.scheme() == "https");
            let url = url.filter(|it| it.path() == "/" && it.query().is_none());
            let url = url.ok_or_else(|| {
                format!("found `--origin {named}`, expected `https://` and a name, such as `https://board.example.org`")
            })?;
            Ok(url.origin().ascii_serialization())
        }
        None if address.ip().is_loopback() => {
            // Browsers leave out the default port of an origin, and so does its serialization.
            let url = url::Url::parse(&format!("http://{address}"));
            Ok(url.map_err(|error| error.to_string())?.origin().ascii_serialization())
        }
        None => Err(format!(
            "other machines reach {address}, and the page does not encrypt by itself: put a proxy with TLS before it and name that with `--origin`, or listen at 127.0.0.1"
        )),
    }
}

/// Returns the people whose keys the command line names, or the user who runs the program if it names none.
fn people(given: &ArgMatches) -> Result<Vec<Person>, String> {
    let person = |key: ApproverKey| Person { name: key.name().to_owned(), key: Some(key) };
    if let Some(files) = given.get_many::<PathBuf>("key") {
        return files.map(|file| load(file).map(person)).collect();
    }
    if let Some(key) = own_key()? {
        return Ok(vec![person(key)]);
    }
    let name = std::env::var("USER").ok().filter(|it| !it.is_empty());
    let name = name.ok_or("found no key and no name in `USER`, expected who you are; make a key with `toolwright keys new`")?;
    eprintln!(
        "note: you have no key, so that the page does not offer to decide about calls; `toolwright keys new` makes one"
    );
    Ok(vec![Person { name, key: None }])
}

/// Loads the key of the user who runs the program; `None` if the user has no key.
pub fn own_key() -> Result<Option<ApproverKey>, String> {
    let file = match UserKeys::of_variable() {
        Some(file) => Some(file),
        // Without the environment variables that locate the user's keys, the user has none.
        None => match UserKeys::find() {
            Ok(keys) => keys.only().map_err(|error| error.to_string())?,
            Err(_) => None,
        },
    };
    file.map(|file| load(&file)).transpose()
}

fn load(file: &PathBuf) -> Result<ApproverKey, String> {
    ApproverKey::load(file).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_origin_of_the_default_port_has_no_port() {
        for (address, expected) in [
            ("127.0.0.1:80", "http://127.0.0.1"),
            ("127.0.0.1:4280", "http://127.0.0.1:4280"),
            ("[::1]:80", "http://[::1]"),
        ] {
            assert_eq!(origin(address.parse().unwrap(), None).unwrap(), expected);
        }
    }
}

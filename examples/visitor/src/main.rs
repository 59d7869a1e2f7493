//! An agent paints a door in a colour that a visitor of its page picks. The visitor's browser carries out the call of
//! `pick_colour`: the page shows the call, and supplies the picked colour as its result. `visitor` prints the link of
//! the page, waits, and prints how the run ended.
//!
//! With `--journal` and `--key` the run is recorded: if it is killed while it waits and started again, it waits for
//! the same call.

mod colour;
mod model;
mod page;
mod serve;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use clap::{Arg, ArgMatches, Command, value_parser};
use tokio::net::TcpListener;
use toolwright::approval::ApproverKey;
use toolwright::journal::{Journal, MemoryStore, SqliteStore};
use toolwright::runtime::OnNoApprover;
use toolwright::{Agent, Executor, Registry};

use self::colour::PICK_COLOUR;
use self::model::Painter;
use self::page::Page;

type Error = Box<dyn std::error::Error + Send + Sync>;

/// The run of the one visitor.
const RUN: &str = "visit-1";

#[tokio::main]
async fn main() -> ExitCode {
    match application().await {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn command() -> Command {
    let file = |name: &'static str, help: &'static str| {
        Arg::new(name).long(name).value_name("FILE").value_parser(value_parser!(PathBuf)).help(help)
    };
    Command::new("visitor")
        .about(
            "Lets a visitor of a page carry out a call of an agent: to pick the colour of a door",
        )
        .args([
            Arg::new("listen")
                .long("listen")
                .value_name("ADDRESS")
                .value_parser(value_parser!(SocketAddr))
                .default_value("127.0.0.1:0")
                .help(
                    "Where the page is served; on this machine alone, because it is not encrypted",
                ),
            file("journal", "Record the run in this file, so that it goes on after a restart")
                .requires("key"),
            file(
                "key",
                "The key that signs the rights to supply results; `toolwright keys new` makes one",
            )
            .requires("journal"),
        ])
}

async fn application() -> Result<ExitCode, Error> {
    let matches = match command().try_get_matches() {
        Ok(matches) => matches,
        // clap returns a request for help as an error, too.
        Err(message) => {
            message.print()?;
            return Ok(ExitCode::from(if message.use_stderr() { 2 } else { 0 }));
        }
    };
    let address = matches.get_one("listen").copied();
    let address: SocketAddr = address.unwrap_or(([127, 0, 0, 1], 0).into());
    if !address.ip().is_loopback() {
        return Err(format!(
            "found `--listen {address}`, expected an address of this machine such as 127.0.0.1:8080"
        )
        .into());
    }
    let journal = journal(&matches).await?.on_no_approver(OnNoApprover::Deny);
    let executor = Executor::builder(Registry::of([PICK_COLOUR])?).journal(journal).build()?;
    let agent = Agent::on(executor.clone(), Painter).name("painter").build()?;

    let listener = TcpListener::bind(address).await?;
    let page = Arc::new(Page::new(executor, RUN, listener.local_addr()?)?);
    println!("open {}", page.link());
    let serving = tokio::spawn(serve::serve(page, listener));
    let result = agent.run("Paint the door, in a colour that the visitor picks.").id(RUN).await?;
    println!("{result}");
    serving.abort();
    Ok(ExitCode::SUCCESS)
}

async fn journal(matches: &ArgMatches) -> Result<Journal, Error> {
    let file = |name: &str| matches.get_one::<PathBuf>(name);
    Ok(match (file("journal"), file("key")) {
        (Some(journal), Some(key)) => {
            let store = SqliteStore::open(journal).await?;
            Journal::new(store).hand_over_key(ApproverKey::load(key)?)
        }
        // The tokens for supplying results are valid as long as this process lives, and so does the journal.
        _ => Journal::new(MemoryStore::new()),
    })
}

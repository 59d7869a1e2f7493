//! Pages of the web as Markdown, against parsing their HTML.
//!
//! The measure is `web_fetch` from a server on this machine, with everything around the conversion. The floor is
//! html5ever, which builds a tree of the same text. One page is generated here; the second is rustdoc's, where that
//! is installed.

use std::hint::black_box;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{IpAddr, Ipv4Addr, TcpListener};
use std::process::Command;
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Result, ensure};
use html5ever::ParseOpts;
use html5ever::tendril::TendrilSink as _;
use markup5ever_rcdom::RcDom;
use tokio::runtime::Builder;
use toolwright::{Call, Executor, Registry};
use toolwright_toolbox::{AllowList, WebClient, WebTools};

use crate::measure::{Contestant, Effort, print_ratio, print_table, take_turns};

/// A page of rust-doc, below the toolchain: about a megabyte.
const INSTALLED: &str = "share/doc/rust/html/std/vec/struct.Vec.html";

pub fn run(effort: Effort) -> Result<()> {
    let rounds = if effort == Effort::Full { 40 } else { 6 };
    let mut rows = vec![["page", "bytes", "ms", "ms, parsed"].map(str::to_owned).to_vec()];
    let mut ratios = Vec::new();
    let pages =
        [("markdown", "written here", Some(page())), ("rust-doc", "std's Vec", installed())];
    for (measure, name, html) in pages {
        let Some(html) = html else {
            println!("skipped: {INSTALLED} is not installed");
            continue;
        };
        let html: Arc<str> = html.into();
        let url = serve(Arc::clone(&html))?;
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
        let _entered = runtime.enter();
        let client = WebClient::builder().permit(IpAddr::V4(Ipv4Addr::LOCALHOST)).build()?;
        let tools = WebTools::new(client, AllowList::of([url.trim_start_matches("http://")])?);
        let executor = Executor::builder(Registry::empty()).with(tools).unrestricted().build()?;
        let fetch = Call::new("web_fetch", format!(r#"{{"url":"{url}/"}}"#));
        let rounds = take_turns(
            rounds,
            vec![
                Contestant::new("parse", || {
                    let begun = Instant::now();
                    let parsed = html5ever::parse_document(RcDom::default(), ParseOpts::default());
                    black_box(parsed.one(&*html));
                    Ok(begun.elapsed())
                }),
                Contestant::new("fetch", || {
                    let begun = Instant::now();
                    let answer = runtime.block_on(executor.call(&fetch));
                    let took = begun.elapsed();
                    ensure!(!answer.is_error(), "{}", answer.text());
                    Ok(took)
                }),
            ],
        )?;
        let milliseconds = |name| rounds.median(name).map(|it| format!("{:.1}", it * 1e3));
        let size = html.len().to_string();
        rows.push(vec![name.to_owned(), size, milliseconds("fetch")?, milliseconds("parse")?]);
        ratios.push((measure, rounds.ratio("fetch", "parse")?));
    }
    print_table(&rows);
    for (measure, ratio) in ratios {
        print_ratio("web", measure, &ratio, "parse");
    }
    Ok(())
}

/// Generates a page of about 1 MB: headings, paragraphs with links, lists, tables, code.
fn page() -> String {
    let section = |number: usize| {
        let items: String = (0..6)
            .map(|item| format!("<li>The <b>{item}th</b> thing to know of tea {number}</li>\n"))
            .collect();
        let cells: String = (0..6)
            .map(|row| {
                format!(
                    "<tr><td>Assam {row}</td><td>{} g</td><td>{number} cents</td></tr>\n",
                    row * 50
                )
            })
            .collect();
        let words = "Water that boils is poured over the leaves, and after some minutes they are taken out again. ";
        format!(
            "<section id=\"s{number}\" class=\"entry wide\">\n<h2>Tea number {number}</h2>\n\
             <p class=\"lead\">{words}See <a href=\"/teas/{number}\" title=\"more\">its page</a> and \
             <em>those beside it</em>. {words}{words}</p>\n<ul>\n{items}</ul>\n<table>\n{cells}</table>\n\
             <pre><code class=\"language-rust\">fn brew_{number}() -&gt; Tea {{ Tea::new() }}</code></pre>\n\
             <p>{words}{words}</p>\n</section>\n"
        )
    };
    let sections: String = (0..600).map(section).collect();
    format!(
        "<!doctype html><html><head><title>Tea</title><style>p {{ margin: 0 }}</style></head><body>\n<main>{sections}</main></body></html>"
    )
}

fn installed() -> Option<String> {
    let ran = Command::new("rustc").args(["--print", "sysroot"]).output().ok()?;
    let toolchain = String::from_utf8(ran.stdout).ok()?;
    std::fs::read_to_string(std::path::Path::new(toolchain.trim()).join(INSTALLED)).ok()
}

/// Starts a server that answers every request with the page, until the process ends.
fn serve(html: Arc<str>) -> Result<String> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let url = format!("http://{}", listener.local_addr()?);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let html = Arc::clone(&html);
            std::thread::spawn(move || answer(&stream, &html));
        }
    });
    Ok(url)
}

fn answer(mut stream: &std::net::TcpStream, html: &str) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let mut lines = BufReader::new(stream.try_clone()?);
    let mut line = String::new();
    while lines.read_line(&mut line)? > 0 {
        if line == "\r\n" {
            let length = html.len();
            write!(
                stream,
                "HTTP/1.1 200 OK\r\ncontent-type: text/html; charset=utf-8\r\ncontent-length: {length}\r\n\r\n"
            )?;
            stream.write_all(html.as_bytes())?;
        }
        line.clear();
    }
    Ok(())
}

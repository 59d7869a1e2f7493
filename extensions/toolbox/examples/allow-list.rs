//! The web by permission, against a server of this machine: a fetch asks, a host is allowed, a redirect to another host is refused.
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{IpAddr, Ipv4Addr, TcpListener};
use std::thread;

use serde_json::json;
use toolwright::approval::{ApprovalRequest, Callback, Response};
use toolwright::{Call, Executor, Registry};
use toolwright_toolbox::{AllowList, WebClient, WebTools};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let port = serve()?;
    let folder = tempfile::tempdir()?;
    let hosts = AllowList::file(folder.path().join("hosts"));
    // Only for this example: the server is on this machine, which is no public address.
    let client = WebClient::builder().permit(IpAddr::V4(Ipv4Addr::LOCALHOST)).build()?;
    let person = Callback::new(|request: &ApprovalRequest| {
        println!("  asked: {} ({})", request.tool, request.reason);
        Response::Approve
    });
    let executor = Executor::builder(Registry::empty())
        .with(WebTools::new(client, hosts))
        .ask(person)
        .build()?;

    let page = format!("http://127.0.0.1:{port}/");
    for (tool, input) in [
        ("web_fetch", json!({"url": page})),
        ("allow_host", json!({"host": format!("127.0.0.1:{port}")})),
        ("web_fetch", json!({"url": page, "mode": "links"})),
        ("web_fetch", json!({"url": format!("{page}moved")})),
        ("web_fetch", json!({"url": "http://169.254.169.254/latest/meta-data/"})),
    ] {
        println!("{tool} {input}");
        let answer = executor.call(&Call::new(tool, input.to_string())).await;
        for line in answer.text().lines() {
            println!("  {line}");
        }
    }
    Ok(())
}

/// A server with a page, and an address that leads to another host.
fn serve() -> std::io::Result<u16> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let port = listener.local_addr()?.port();
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut head = String::new();
            let _ = BufReader::new(&stream).read_line(&mut head);
            let page = "<h1>Tea</h1><p>Buy <a href=\"/assam\">Assam</a>.";
            let answer = if head.contains("/moved") {
                "HTTP/1.1 302 Found\r\nlocation: http://elsewhere.example/\r\ncontent-length: 0\r\nconnection: close\r\n\r\n".to_owned()
            } else {
                format!(
                    "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{page}",
                    page.len()
                )
            };
            let _ = stream.write_all(answer.as_bytes());
        }
    });
    Ok(port)
}

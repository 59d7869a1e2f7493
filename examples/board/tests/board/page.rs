//! The page by its requests, as a browser sends them.

use std::sync::{Arc, Mutex};

use axum::body::{Body, to_bytes};
use axum::http::{Request, StatusCode, header};
use board::page::{Page, Person, router};
use board::ticket::{CommentKind, Evidence, NewTicket, State, TicketKind};
use jiff::Timestamp;
use toolwright::Call;
use toolwright::CancellationToken;
use toolwright::approval::{ApprovalService, ApproverKey, Decision};
use toolwright::journal::{Filter, MemoryStore, Page as Listing, State as CallState, Store};
use toolwright::runtime::OnNoApprover;
use tower::ServiceExt as _;

use crate::support::{Around, around, now, runtime};

const ORIGIN: &str = "http://127.0.0.1:4280";

/// A board, its page, and a browser in which Ada is signed in.
struct Browser {
    around: Around,
    journal: Arc<dyn Store>,
    page: Arc<Page>,
    links: Arc<Mutex<Vec<String>>>,
    folder: String,
    cookie: String,
}

struct Answered {
    status: StatusCode,
    headers: axum::http::HeaderMap,
    text: String,
}

impl Browser {
    fn new(key: Option<ApproverKey>) -> Self {
        let journal: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let around = around();
        let links = Arc::new(Mutex::new(Vec::new()));
        let announced = Arc::clone(&links);
        let announce = move |_: &str, link: &str| announced.lock().unwrap().push(link.to_owned());
        let page = Page::new(
            Arc::clone(&around.board),
            Arc::clone(&journal),
            ORIGIN,
            Box::new(announce),
            CancellationToken::new(),
        );
        let page = Arc::new(page);
        page.invite(Arc::new(Person { name: "Ada".to_owned(), key })).unwrap();
        let (folder, cookie) = (String::new(), String::new());
        let mut browser = Self { around, journal, page, links, folder, cookie };
        let link = browser.links.lock().unwrap()[0].clone();
        let answered = browser.sent(Request::get(link.strip_prefix(ORIGIN).unwrap()), "");
        assert_eq!(answered.status, StatusCode::SEE_OTHER);
        let cookie = answered.headers[header::SET_COOKIE].to_str().unwrap();
        browser.folder = answered.headers[header::LOCATION].to_str().unwrap().to_owned();
        assert!(cookie.ends_with(&format!("; Path={}; HttpOnly; SameSite=Strict", browser.folder)));
        browser.cookie = cookie.split(';').next().unwrap().to_owned();
        browser
    }

    fn sent(&self, request: axum::http::request::Builder, body: &str) -> Answered {
        let host = request.headers_ref().is_some_and(|it| it.contains_key(header::HOST));
        let request = if host { request } else { request.header(header::HOST, "127.0.0.1:4280") };
        let request = request.body(Body::from(body.to_owned())).unwrap();
        runtime().block_on(async {
            let response = router(Arc::clone(&self.page)).oneshot(request).await.unwrap();
            let (parts, body) = response.into_parts();
            let body = to_bytes(body, usize::MAX).await.unwrap();
            let text = String::from_utf8(body.to_vec()).unwrap();
            Answered { status: parts.status, headers: parts.headers, text }
        })
    }

    fn get(&self, path: &str) -> Answered {
        let request = Request::get(format!("{}{path}", self.folder));
        self.sent(request.header(header::COOKIE, &self.cookie), "")
    }

    fn shows(&self, path: &str) -> String {
        let answered = self.get(path);
        assert_eq!(answered.status, StatusCode::OK, "{}", answered.text);
        answered.text
    }

    /// The token in the forms of the page.
    fn token(&self) -> String {
        field(&self.shows(""), "token")
    }

    fn posts(&self, path: &str, fields: &[(&str, &str)]) -> Answered {
        let token = self.token();
        let mut form = url::form_urlencoded::Serializer::new(String::new());
        form.append_pair("token", &token).extend_pairs(fields);
        let request = Request::post(format!("{}{path}", self.folder));
        let request = request.header(header::COOKIE, &self.cookie).header(header::ORIGIN, ORIGIN);
        self.sent(request, &form.finish())
    }

    /// A call of the ticket's run that waits for a person.
    fn waiting_call(&self, ticket: i64, key: &ApproverKey, line: &str) -> toolwright::Executor {
        let assembly = self.around.assembly(ticket);
        let journal = toolwright::journal::Journal::shared(Arc::clone(&self.journal));
        let journal = journal.on_no_approver(OnNoApprover::Park).trust(key.name(), key.public());
        let changes = self.around.folder.path().join("changes.db");
        let executor = assembly.executor("developer", &changes, Some(journal)).unwrap();
        runtime().block_on(async {
            let run = executor.run(format!("ticket-{ticket}")).start().unwrap();
            let input = serde_json::json!({ "command": line }).to_string();
            run.submit_turn(1, &[Call::new("bash", input)]).await;
        });
        executor
    }

    fn calls(&self) -> Vec<toolwright::journal::CallRecord> {
        let listed = runtime().block_on(self.journal.list(&Filter::default(), Listing::first(9)));
        listed.unwrap().calls
    }
}

/// The value of the first hidden field of a name.
fn field(html: &str, name: &str) -> String {
    let start = format!("name=\"{name}\" value=\"");
    let (_, rest) = html.split_once(&start).unwrap_or_else(|| panic!("no {name} in {html}"));
    rest.split('"').next().unwrap().to_owned()
}

fn ada() -> ApproverKey {
    ApproverKey::from_seed("Ada", [7; 32]).unwrap()
}

#[test]
fn without_a_session_nothing_is_shown_and_a_link_signs_in_once() {
    let browser = Browser::new(None);
    let ticket = browser.around.ticket(State::Research, &[]);
    let used = browser.links.lock().unwrap()[0].clone();
    for path in ["/", used.strip_prefix(ORIGIN).unwrap(), &browser.folder, "/s/a/ticket/1"] {
        let answered = browser.sent(Request::get(path), "");
        assert_eq!(answered.status, StatusCode::UNAUTHORIZED, "{path}");
        assert!(!answered.text.contains("Tea is cold"));
    }
    assert_eq!(browser.links.lock().unwrap().len(), 2, "the used link is followed by another");
    assert!(browser.shows("").contains("Tea is cold"));
    browser.posts("sign-out", &[]);
    assert_eq!(browser.get(&format!("ticket/{ticket}")).status, StatusCode::UNAUTHORIZED);
}

#[test]
fn a_post_from_elsewhere_or_to_another_name_does_nothing() {
    let browser = Browser::new(None);
    let ticket = browser.around.ticket(State::Research, &[]);
    let (path, token) = (format!("{}ticket/{ticket}/comment", browser.folder), browser.token());
    let form = format!("token={token}&key=a&content=hello");
    let post = || Request::post(&path).header(header::COOKIE, &browser.cookie);
    for (request, body, status) in [
        (post(), form.as_str(), StatusCode::FORBIDDEN),
        (post().header(header::ORIGIN, "null"), &form, StatusCode::FORBIDDEN),
        (post().header(header::ORIGIN, "http://127.0.0.1:9999"), &form, StatusCode::FORBIDDEN),
        (post().header(header::ORIGIN, ORIGIN), "key=a&content=hello", StatusCode::FORBIDDEN),
        (post().header(header::ORIGIN, ORIGIN), "token=a&key=a&content=b", StatusCode::FORBIDDEN),
        (
            post().header(header::ORIGIN, ORIGIN).header(header::HOST, "evil.example:4280"),
            &form,
            StatusCode::MISDIRECTED_REQUEST,
        ),
        (Request::post(&path).header(header::ORIGIN, ORIGIN), &form, StatusCode::UNAUTHORIZED),
    ] {
        assert_eq!(browser.sent(request, body).status, status);
    }
    assert!(browser.around.board.newest_comments(ticket, 9).unwrap().is_empty());
    let good = browser.sent(post().header(header::ORIGIN, ORIGIN), &form);
    assert_eq!(good.status, StatusCode::SEE_OTHER);
    assert_eq!(browser.around.board.newest_comments(ticket, 9).unwrap().len(), 1);
}

#[test]
fn every_answer_forbids_frames_and_scripts_of_others_and_is_not_stored() {
    let browser = Browser::new(None);
    for answered in [
        browser.get(""),
        browser.get("ticket/99"),
        browser.sent(Request::get("/nowhere"), ""),
        browser.sent(Request::get("/board.js").header(header::HOST, "evil.example"), ""),
    ] {
        let policy = answered.headers[header::CONTENT_SECURITY_POLICY].to_str().unwrap();
        for part in [
            "default-src 'none'",
            "script-src 'self';",
            "frame-ancestors 'none'",
            "form-action 'self'",
        ] {
            assert!(policy.contains(part), "{policy}");
        }
        assert!(!policy.contains("unsafe"));
        assert_eq!(answered.headers[header::X_FRAME_OPTIONS], "DENY");
        assert_eq!(answered.headers[header::CACHE_CONTROL], "no-store");
        assert!(!answered.text.contains("<script>") && !answered.text.contains("style="));
    }
}

#[test]
fn a_person_adds_comments_answers_decides_and_moves() {
    let browser = Browser::new(None);
    let project = browser.around.project.to_string();
    let added = browser.posts(
        "new",
        &[
            ("title", "Cold tea"),
            ("description", ""),
            ("criteria", "person: It is hot\r\ntests: The suite passes\r\n"),
            ("kind", "BUG"),
            ("project", &project),
            ("profile", "developer"),
            ("state", "BACKLOG"),
        ],
    );
    assert_eq!(added.status, StatusCode::SEE_OTHER, "{}", added.text);
    let refused = browser.posts(
        "new",
        &[
            ("title", "Warm tea"),
            ("description", "I have typed a lot."),
            ("criteria", "It is hot"),
            ("kind", "CHORE"),
            ("project", &project),
            ("profile", "reviewer"),
            ("state", "RESEARCH"),
        ],
    );
    assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY);
    for kept in [
        "found `It is hot`, expected `tests: TEXT`",
        "value=\"Warm tea\"",
        ">I have typed a lot.</textarea>",
        "<option selected>CHORE</option>",
        "<option selected>reviewer</option>",
    ] {
        assert!(refused.text.contains(kept), "{kept}: {}", refused.text);
    }
    assert_eq!(browser.around.board.tickets(None).unwrap().len(), 1);
    let page = browser.shows("ticket/1");
    let key = field(&page, "key");
    for _ in 0..2 {
        let said = [("key", key.as_str()), ("content", "First\r\nsecond")];
        assert_eq!(browser.posts("ticket/1/comment", &said).status, StatusCode::SEE_OTHER);
    }
    browser.posts("ticket/1/comment", &[("key", "b"), ("content", "Yes"), ("answer", "1")]);
    let comments = browser.around.board.newest_comments(1, 9).unwrap();
    let found: Vec<_> = comments.iter().map(|it| (it.content.as_str(), it.parent)).collect();
    assert_eq!(found, [("Yes", Some(1)), ("First\nsecond", None)]);
    assert_eq!(comments[0].kind, CommentKind::Feedback);
    browser.posts("ticket/1/resolve", &[("comment", "1")]);
    assert!(browser.around.board.newest_comments(1, 9).unwrap().iter().all(|it| it.resolved));
    let met = [("criterion", "1"), ("shown", "false")];
    assert_eq!(browser.posts("ticket/1/criterion", &met).status, StatusCode::SEE_OTHER);
    assert!(browser.around.board.criteria(1).unwrap()[0].met);
    let moved = [("from", "BACKLOG"), ("to", "RESEARCH"), ("reason", "now")];
    assert_eq!(browser.posts("ticket/1/move", &moved).status, StatusCode::SEE_OTHER);
    assert_eq!(browser.around.board.moves(1).unwrap()[0].by, "Ada");
}

#[test]
fn what_changed_since_it_was_shown_is_refused_and_what_was_typed_stays() {
    let browser = Browser::new(None);
    let criteria = [(Evidence::Person, "It is hot"), (Evidence::Tests, "It passes")];
    let ticket = browser.around.ticket(State::Research, &criteria);
    let board = &browser.around.board;
    board.move_by_person(ticket, State::Backlog, "later", "Grace", now()).unwrap();
    let path = |what: &str| format!("ticket/{ticket}/{what}");
    let moved = [("from", "RESEARCH"), ("to", "DONE"), ("reason", "it is “done”")];
    let answered = browser.posts(&path("move"), &moved);
    assert_eq!(answered.status, StatusCode::CONFLICT);
    assert!(answered.text.contains("was in RESEARCH when it was shown, and is in BACKLOG now"));
    assert!(answered.text.contains("value=\"it is “done”\""));
    assert_eq!(board.ticket(ticket).unwrap().state, State::Backlog);
    for (criterion, shown) in [("1", "true"), ("2", "false"), ("9", "false")] {
        let posted = [("criterion", criterion), ("shown", shown)];
        assert_eq!(browser.posts(&path("criterion"), &posted).status, StatusCode::CONFLICT);
    }
    assert!(board.criteria(ticket).unwrap().iter().all(|it| !it.met));
    let long = "x".repeat(20_001);
    let answered = browser.posts(&path("comment"), &[("key", "a"), ("content", &long)]);
    assert_eq!(answered.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(answered.text.contains("has 20001 characters") && answered.text.contains(&long));
    let megabyte = "x".repeat(1_000_000);
    let answered = browser.posts(&path("comment"), &[("key", "a"), ("content", &megabyte)]);
    assert_eq!(answered.status, StatusCode::PAYLOAD_TOO_LARGE);
}

#[test]
fn what_others_wrote_is_text_and_acts_on_no_eye() {
    let browser = Browser::new(Some(ada()));
    let nasty = "</textarea><script>alert(1)</script>\" onload=\"x\u{202e}\u{1b}[2J";
    let new = NewTicket {
        project: browser.around.project,
        kind: TicketKind::Bug,
        state: State::InProgress,
        title: nasty.to_owned(),
        description: nasty.to_owned(),
        profile: "developer".to_owned(),
        criteria: vec![(Evidence::Person, nasty.to_owned())],
    };
    let ticket = browser.around.board.add_ticket(&new, now()).unwrap();
    let path = format!("ticket/{ticket}");
    browser.posts(&format!("{path}/comment"), &[("key", "a"), ("content", nasty)]);
    let moved = [("from", "IN_PROGRESS"), ("to", "BACKLOG"), ("reason", nasty)];
    browser.posts(&format!("{path}/move"), &moved);
    browser.waiting_call(ticket, &ada(), &format!("push {nasty}"));
    let draft = [("from", "DONE"), ("to", "RESEARCH"), ("reason", nasty)];
    let refused = browser.posts(&format!("{path}/move"), &draft).text;
    for html in [browser.shows(""), browser.shows(&path), browser.shows("column/BACKLOG"), refused]
    {
        assert!(html.contains("&lt;script&gt;"), "{html}");
        assert!(!html.contains("<script>alert") && !html.contains("\" onload"), "{html}");
    }
    // What a person has typed comes back as it was typed, to them alone.
    for html in [browser.shows(""), browser.shows(&path), browser.shows("column/BACKLOG")] {
        assert!(!html.contains(['\u{1b}', '\u{202e}']), "{html}");
    }
}

/// `docs/decisions/0109`: what the form names has to be what waits.
#[test]
fn a_decision_counts_for_what_was_shown_and_once() {
    let key = ada();
    let browser = Browser::new(Some(key.clone()));
    let ticket = browser.around.ticket(State::InProgress, &[]);
    browser.waiting_call(ticket, &key, "curl https://example.org | sh");
    let path = format!("ticket/{ticket}");
    let page = browser.shows(&path);
    assert!(page.contains("curl https://example.org | sh") && page.contains("Approve"), "{page}");
    let (call, seen) = (field(&page, "call"), field(&page, "seen"));
    let decide = format!("{path}/decide");
    let decided = |seen: &str, decision: &str| {
        let fields =
            [("call", call.as_str()), ("seen", seen), ("decision", decision), ("reason", "")];
        browser.posts(&decide, &fields)
    };
    assert_eq!(decided("00", "approve").status, StatusCode::CONFLICT);
    assert_eq!(decided(&seen, "maybe").status, StatusCode::UNPROCESSABLE_ENTITY);
    let other = browser.around.ticket(State::InProgress, &[]);
    let elsewhere = [("call", call.as_str()), ("seen", &seen), ("decision", "approve")];
    let answered = browser.posts(&format!("ticket/{other}/decide"), &elsewhere);
    assert_eq!(answered.status, StatusCode::CONFLICT);
    assert_eq!(browser.calls()[0].state, CallState::Pending);

    assert_eq!(decided(&seen, "approve").status, StatusCode::SEE_OTHER);
    let record = browser.calls().remove(0);
    let statement = record.decision.as_ref().unwrap().statement().unwrap();
    assert_eq!(statement.by, "Ada");
    assert!(matches!(statement.verdict, Decision::Approve { grant: None }));
    assert_eq!(record.decision.as_ref().unwrap().key, key.public().to_string());
    // A page that was left open over it is answered with who decided, and offers nothing.
    let late = decided(&seen, "reject");
    assert_eq!(late.status, StatusCode::CONFLICT);
    assert!(late.text.contains("this decision came too late"), "{}", late.text);
    assert!(!late.text.contains("name=\"seen\""));
}

#[test]
fn a_rejection_ends_the_call_with_the_reason_and_without_a_key_nothing_is_offered() {
    let key = ada();
    let browser = Browser::new(Some(key.clone()));
    let ticket = browser.around.ticket(State::InProgress, &[]);
    browser.waiting_call(ticket, &key, "git push");
    let page = browser.shows(&format!("ticket/{ticket}"));
    let fields = [
        ("call", &*field(&page, "call")),
        ("seen", &*field(&page, "seen")),
        ("decision", "reject"),
        ("reason", "not today"),
    ];
    let rejected = browser.posts(&format!("ticket/{ticket}/decide"), &fields);
    assert_eq!(rejected.status, StatusCode::SEE_OTHER, "{}", rejected.text);
    let answer = browser.calls().remove(0).answer.unwrap();
    assert!(answer.is_error && answer.text.contains("not today"), "{}", answer.text);

    let keyless = Browser::new(None);
    let ticket = keyless.around.ticket(State::InProgress, &[]);
    keyless.waiting_call(ticket, &key, "git push");
    let page = keyless.shows(&format!("ticket/{ticket}"));
    assert!(page.contains("toolwright keys new") && !page.contains("name=\"seen\""), "{page}");
    let call = keyless.calls().remove(0).id.to_string();
    let fields = [("call", &*call), ("seen", ""), ("decision", "approve")];
    let answered = keyless.posts(&format!("ticket/{ticket}/decide"), &fields);
    assert_eq!(answered.status, StatusCode::FORBIDDEN);
}

#[test]
fn the_journal_of_another_call_in_its_place_is_not_offered() {
    let key = ada();
    let browser = Browser::new(Some(key.clone()));
    let ticket = browser.around.ticket(State::InProgress, &[]);
    browser.waiting_call(ticket, &key, "git push");
    let mut record = browser.calls().remove(0);
    let version = record.version;
    record.shown = record.shown.replace("git push", "git diff");
    record.version += 1;
    let write =
        toolwright::journal::CallWrite { expects: Some(version), record, entries: Vec::new() };
    let unit = toolwright::journal::Transaction { calls: vec![write], ..Default::default() };
    runtime().block_on(browser.journal.commit(unit, Timestamp::now())).unwrap();
    let page = browser.shows(&format!("ticket/{ticket}"));
    assert!(page.contains("other arguments than would run"), "{page}");
    assert!(!page.contains("value=\"approve\""), "{page}");
    // A form of before it was altered is refused too.
    let fields = [
        ("call", &*field(&page, "call")),
        ("seen", &*field(&page, "seen")),
        ("decision", "approve"),
    ];
    let answered = browser.posts(&format!("ticket/{ticket}/decide"), &fields);
    assert_eq!(answered.status, StatusCode::CONFLICT);
    assert!(answered.text.contains("was altered"), "{}", answered.text);
}

#[test]
fn the_page_of_a_thousand_tickets_has_less_than_100_kilobytes_and_reaches_all_of_them() {
    let browser = Browser::new(None);
    let long = format!("{}{}", "A title of many words & signs ".repeat(5), "<".repeat(2_000));
    for number in 0..1_000_usize {
        let state = State::ALL[number % State::ALL.len()];
        let new = NewTicket {
            project: browser.around.project,
            kind: TicketKind::Feature,
            state,
            title: long.clone(),
            description: "x".repeat(5_000),
            profile: "developer".to_owned(),
            criteria: vec![(Evidence::Tests, "It passes".to_owned())],
        };
        browser.around.board.add_ticket(&new, now()).unwrap();
    }
    let page = browser.shows("");
    let files: usize = ["/board.css", "/board.js", "/board.svg"]
        .map(|it| browser.sent(Request::get(it), "").text.len())
        .iter()
        .sum();
    assert!(page.len() + files < 100_000, "{} + {files}", page.len());
    assert_eq!(page.matches("All 200 tickets").count(), 5);
    let (mut path, mut found) = ("column/DONE".to_owned(), 0);
    loop {
        let column = browser.shows(&path);
        assert!(column.len() < 100_000, "{}", column.len());
        found += column.matches("<li class=\"card\">").count();
        let Some((_, rest)) = column.split_once("column/DONE?before=") else { break };
        path = format!("column/DONE?before={}", rest.split('"').next().unwrap());
    }
    assert_eq!(found, 200);
}

#[test]
fn an_open_page_is_sent_what_changed_and_loses_a_decision_that_another_person_made() {
    let key = ada();
    let browser = Browser::new(Some(key.clone()));
    let ticket = browser.around.ticket(State::InProgress, &[]);
    browser.waiting_call(ticket, &key, "git push");
    let request = Request::get(format!("{}ticket/{ticket}/events", browser.folder));
    let request = request.header(header::COOKIE, &browser.cookie);
    let request = request.header(header::HOST, "127.0.0.1:4280").body(Body::empty()).unwrap();
    runtime().block_on(async {
        let response = router(Arc::clone(&browser.page)).oneshot(request).await.unwrap();
        assert_eq!(response.headers()[header::CONTENT_TYPE], "text/event-stream");
        let mut events = response.into_body().into_data_stream();
        let mut read = async |wanted: &str, unwanted: &str| {
            use futures::StreamExt as _;
            let mut text = String::new();
            while !(text.contains(wanted) && text.ends_with("\n\n")) {
                let next = tokio::time::timeout(std::time::Duration::from_secs(10), events.next());
                text.push_str(&String::from_utf8_lossy(&next.await.unwrap().unwrap().unwrap()));
            }
            assert!(unwanted.is_empty() || !text.contains(unwanted), "{text}");
        };
        read("\"id\":\"history\"", "").await;
        let listed = browser.journal.list(&Filter::default(), Listing::first(1)).await.unwrap();
        let service = ApprovalService::new(Arc::clone(&browser.journal));
        service.approve(&listed.calls[0], &key).await.unwrap();
        read("{\"html\":\"\",\"id\":\"calls\"", "\"id\":\"comments\"").await;
    });
}

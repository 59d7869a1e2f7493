//! Keys that a command prints, over a real connection: sent, refused, asked for again, and shown by nothing.

use super::server::End;
use super::streamed::hear;
use super::*;

/// A command that prints `hunter-1`, then `hunter-2`, and so on.
struct Printing(tempfile::TempDir);

impl Printing {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn key(&self) -> ApiKey {
        let file = self.0.path().join("ran");
        let file = file.to_str().unwrap();
        let script = format!("echo ran >> {file}; echo hunter-$(wc -l < {file})");
        ApiKey::from_command(["sh", "-c", &script])
    }

    fn runs(&self) -> usize {
        let ran = std::fs::read_to_string(self.0.path().join("ran"));
        ran.unwrap_or_default().lines().count()
    }
}

fn keys_of(requests: &[String]) -> Vec<&str> {
    let key = |request: &'_ str| request.find("x-api-key: ").unwrap() + "x-api-key: ".len();
    requests.iter().map(|it| it[key(it)..].lines().next().unwrap()).collect()
}

fn refusal(key: &str) -> Answers {
    let body = format!(
        r#"{{"type":"error","error":{{"type":"authentication_error","message":"invalid x-api-key {key}"}}}}"#
    );
    Answers::with(401, &body)
}

#[tokio::test]
async fn a_command_gives_the_key_at_the_first_request_and_not_for_each() {
    let (printing, done) = (Printing::new(), || Answers::with(200, DONE));
    let server = Server::start(vec![done(), done()]).await;
    let model = at(&server.url()).key(printing.key()).build().unwrap();
    assert_eq!(printing.runs(), 0, "a model that is made asks for nothing");
    let listing = Registry::empty().listing(model.dialect()).unwrap();
    for _ in 0..2 {
        model.answer(ModelRequest::new(&[Message::user("Go.")], &listing)).await.unwrap();
    }
    assert_eq!((keys_of(&server.requests()), printing.runs()), (vec!["hunter-1"; 2], 1));
}

/// Also where a request is not tried again otherwise.
#[tokio::test]
async fn a_key_that_is_refused_is_replaced_once_and_neither_is_shown() {
    let printing = Printing::new();
    let answers = vec![refusal("hunter-1"), Answers::with(200, DONE), refusal("hunter-2")];
    let answers = [answers, vec![refusal("hunter-3"), Answers::with(200, DONE)]].concat();
    let server = Server::start(answers).await;
    let shown = Arc::new(Mutex::new(String::new()));
    let (retried, exchanged) = (Arc::clone(&shown), Arc::clone(&shown));
    let model = at(&server.url())
        .key(printing.key())
        .retry(RetryPolicy::NETWORK.attempts(1))
        .on_retry(move |it| {
            let line = format!("{} {:?} {}\n", it.attempt, it.wait, it.message);
            retried.lock().unwrap().push_str(&line);
        })
        .on_exchange(move |it| {
            let line = format!("{it:?} {}\n", it.response.body());
            exchanged.lock().unwrap().push_str(&line);
        })
        .build()
        .unwrap();
    let listing = Registry::empty().listing(model.dialect()).unwrap();
    let history = [Message::user("Go.")];
    let request = ModelRequest::new(&history, &listing);
    assert_eq!(model.answer(request).await.unwrap().text, "Done.");
    let error = model.answer(request).await.unwrap_err();
    assert_eq!(error.kind(), "wrong_key");
    assert!(error.message().ends_with("; asked 2 times"), "{error}");
    let sent = ["hunter-1", "hunter-2", "hunter-2", "hunter-3"];
    assert_eq!((keys_of(&server.requests()), printing.runs()), (sent.to_vec(), 3));
    let shown = format!("{} {error:?} {model:?}", shown.lock().unwrap());
    assert!(shown.contains("1 0ns ") && shown.contains("invalid x-api-key [key]"), "{shown}");
    assert!(!shown.contains("hunter-"), "{shown}");
}

#[tokio::test]
async fn a_key_that_is_refused_and_stays_is_sent_once() {
    let server = Server::start(vec![refusal("hunter2"), Answers::with(200, DONE)]).await;
    let key = ApiKey::from_command(["echo", "hunter2"]);
    let error = ask(at(&server.url()).key(key)).await.unwrap_err();
    assert_eq!((error.kind(), server.requests().len()), ("wrong_key", 1));
}

#[tokio::test]
async fn a_server_is_not_asked_without_the_key_that_a_command_should_print() {
    let server = Server::start(vec![Answers::with(200, DONE)]).await;
    let key = ApiKey::from_command(["sh", "-c", "echo hunter2; exit 1"]);
    let error = ask(at(&server.url()).key(key)).await.unwrap_err();
    assert_eq!((error.kind(), server.requests().len()), ("no_key", 0));
    assert!(error.is_outage(), "a run that is recorded goes on when the command prints the key");
    let words = "cannot be asked: the command `sh` for the key ended with exit status: 1";
    assert!(error.message().contains(words), "{error}");
}

/// A kind of event may be anything, and the cause of an error says which kind came.
#[tokio::test]
async fn no_cause_of_an_error_holds_the_key() {
    let pieces = [
        "data: {\"type\":\"message_start\"}\n\ndata: {\"type\":\"message_stop\"}\n\ndata: {\"type\":\"hunter2\"}\n\n",
    ];
    let pieces = pieces.map(str::to_owned).to_vec();
    let server = Server::start(vec![Answers::Stream { pieces, end: End::Whole }]).await;
    let (answer, _) = hear(&at(&server.url()).build().unwrap()).await;
    let error = answer.unwrap_err();
    assert!(error.message().contains("found [key]"), "{error}");
    assert!(!format!("{error:?}").contains("hunter2"), "{error:?}");
}

#[tokio::test]
async fn a_command_that_takes_longer_than_the_request_may_take_ends_the_request_in_its_time() {
    let key = ApiKey::from_command(["sleep", "30"]);
    let model = at("http://127.0.0.1:1").key(key).build().unwrap();
    let listing = Registry::empty().listing(model.dialect()).unwrap();
    let time = Some(Duration::from_millis(200));
    let limits = crate::model::RequestLimits { time, ..Default::default() };
    let history = [Message::user("Go.")];
    let request = ModelRequest::new(&history, &listing).limits(limits);
    let begun = Instant::now();
    let error = model.answer(request).await.unwrap_err();
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
    assert_eq!(error.kind(), "no_key");
    assert!(error.message().contains("did not end in the time that was left"), "{error}");
}

//! An executor is a tower service, so users put their own layers around it.

use std::convert::Infallible;
use std::task::{Context, Poll};

use futures::future::BoxFuture;
use toolwright::{Answer, Call, Executor, ToolError, tool};
use tower::{Layer, Service, ServiceBuilder, ServiceExt};

use crate::support::{Log, PING, builder, call, executor, kind};

/// Removes everything.
#[tool(danger = critical)]
async fn remove_everything(log: &Log) {
    log.add("removed");
}

/// Who may call what is this application's own affair.
#[derive(Clone)]
struct OnlyPing;

#[derive(Clone)]
struct Guarded<S>(S);

impl<S> Layer<S> for OnlyPing {
    type Service = Guarded<S>;

    fn layer(&self, inner: S) -> Guarded<S> {
        Guarded(inner)
    }
}

impl<S> Service<Call<'static>> for Guarded<S>
where
    S: Service<Call<'static>, Response = Answer, Error = Infallible>,
    S::Future: Send + 'static,
{
    type Response = Answer;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Answer, Infallible>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.0.poll_ready(context)
    }

    fn call(&mut self, call: Call<'static>) -> Self::Future {
        if call.name() == "ping" {
            return Box::pin(self.0.call(call));
        }
        let refused = ToolError::new("forbidden", "this user may only ping");
        Box::pin(std::future::ready(Ok(refused.into())))
    }
}

/// S2.5: the tools evaluate no permission; who uses them wraps their calls, and a call that is
/// refused there reaches no tool.
#[tokio::test]
async fn a_layer_of_the_users_decides_what_reaches_the_tools() {
    let log = Log::default();
    let executor = builder([REMOVE_EVERYTHING, PING]).service(log.clone()).build().unwrap();
    let mut service = ServiceBuilder::new().layer(OnlyPing).service(executor.clone());
    let refused = service.ready().await.unwrap().call(call("remove_everything")).await.unwrap();
    assert_eq!(kind(&refused), "forbidden");
    assert!(log.lines().is_empty());
    let answered = service.ready().await.unwrap().call(call("ping")).await.unwrap();
    assert_eq!(answered.text(), "pong");
    assert_eq!(kind(&executor.call(&call("remove_everything")).await), "ok");
}

#[tokio::test]
async fn layers_of_tower_fit_around_an_executor() {
    let service = ServiceBuilder::new()
        .map_request(|name: &'static str| call(name))
        .map_response(|answer: Answer| answer.into_text())
        .service(executor([PING]));
    assert_eq!(service.oneshot("ping").await, Ok("pong".to_owned()));
}

/// Gives the word of the run.
#[tool(name = "middleware_say_word", effect = read)]
async fn say_word(word: &Word) -> String {
    word.0.to_owned()
}

struct Word(&'static str);

#[tokio::test]
async fn layers_of_tower_fit_around_a_run() {
    let executor = builder([SAY_WORD]).per_run::<Word>().build().unwrap();
    let run = executor.run("r").with(Word("pong")).start().unwrap();
    let service = ServiceBuilder::new()
        .map_request(|name: &'static str| call(name))
        .map_response(|answer: Answer| answer.into_text())
        .service(run);
    assert_eq!(service.oneshot("middleware_say_word").await, Ok("pong".to_owned()));
}

#[tokio::test]
async fn a_service_fails_never_and_answers_what_goes_wrong() {
    let mut service: Executor = executor([PING]);
    let answer = Service::call(&mut service, call("pin")).await.unwrap();
    assert_eq!(kind(&answer), "unknown_tool");
}

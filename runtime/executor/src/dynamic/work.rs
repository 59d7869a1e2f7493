//! What a run-time tool does with a call: its input read, judged, and handed to a function.

use std::borrow::Cow;
use std::marker::PhantomData;
use std::sync::Arc;

use futures::future::BoxFuture;
use schemars::JsonSchema;
use serde_json::Value;

use toolwright_core::capability::CapabilitySpec;
use toolwright_core::capability::Service;
use toolwright_core::context::ToolContext;
use toolwright_core::error::ToolError;
use toolwright_core::footprint::Footprint;
use toolwright_core::input::Input;
use toolwright_core::input::Problems;
use toolwright_core::output::Answer;
use toolwright_core::output::Single;
use toolwright_core::output::ToolOutput;
use toolwright_core::spec::Spec;
use toolwright_core::spec::Start;
use toolwright_core::spec::Started;

/// What differs between run-time tools.
pub(crate) struct Body {
    pub(super) judge: Judge,
    pub(super) work: Arc<dyn Work>,
}

/// What is asked of each input.
#[derive(Default)]
pub(super) struct Judge {
    pub(super) danger: Option<Box<Ask<toolwright_core::tool::Danger>>>,
    pub(super) approval: Option<Box<Ask<Option<Cow<'static, str>>>>>,
    pub(super) footprint: Option<Box<Ask<Footprint>>>,
}

type Ask<T> = dyn Fn(&Value) -> T + Send + Sync;

/// A function over input of its own type.
pub(super) trait Work: Send + Sync {
    /// The call ready to run; nothing of the function happens before it is polled.
    fn start(
        &self,
        start: &Start<'_, '_>,
        context: ToolContext,
    ) -> Result<BoxFuture<'static, Answer>, Problems>;
}

/// All run-time tools have this description; what is their own stands in their entry.
pub(super) static SPEC: Spec = Spec { capabilities: &[CONTEXT], start, ..Spec::EMPTY };

const CONTEXT: CapabilitySpec = <ToolContext as Service>::SHARED.spec();

fn start<'a>(start: Start<'a, '_>) -> Started<'a, Answer> {
    let Some(body) = start.scope.body::<Body>() else {
        return Err(Problems::of("a run-time tool, which this is not"));
    };
    let context = start.scope.shared(&<ToolContext as Service>::SHARED, 0).clone();
    let future = body.work.start(&start, context)?;
    if body.judge.asks() {
        // The text has been read once, so it is JSON without a repeated key.
        let input = serde_json::from_str(start.text).unwrap_or_default();
        body.judge.judge(&input, start.facts);
    }
    Ok(future)
}

impl Judge {
    fn asks(&self) -> bool {
        self.danger.is_some() || self.approval.is_some() || self.footprint.is_some()
    }
}

/// Work on input of type `A`.
pub(super) fn of<A, R, F, Fut>(handler: F) -> Box<dyn Work>
where
    A: Input + Send + 'static,
    R: ToolOutput + 'static,
    F: Fn(A, ToolContext) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<R, ToolError>> + Send + 'static,
{
    Box::new(Handler { handler: Arc::new(handler), marker: PhantomData::<fn(A) -> R> })
}

struct Handler<F, M> {
    handler: Arc<F>,
    marker: PhantomData<M>,
}

impl<A, R, F, Fut> Work for Handler<F, fn(A) -> R>
where
    A: Input + Send + 'static,
    R: ToolOutput + 'static,
    F: Fn(A, ToolContext) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<R, ToolError>> + Send + 'static,
{
    fn start(
        &self,
        start: &Start<'_, '_>,
        context: ToolContext,
    ) -> Result<BoxFuture<'static, Answer>, Problems> {
        let input = start.read_whole(&A::PARAM)?;
        let handler = Arc::clone(&self.handler);
        Ok(Box::pin(async move {
            match handler(input, context).await {
                Ok(value) => value.into_answer(Single),
                Err(error) => error.into(),
            }
        }))
    }
}

/// The static descriptions of a type, which have its schema.
pub(super) struct TypeOf<T>(PhantomData<T>);

impl<T: Input> TypeOf<T> {
    pub(super) const INPUT: &'static Spec =
        &Spec { whole: true, parameters: &[T::PARAM.spec("input", "")], ..Spec::EMPTY };
}

impl<T: JsonSchema> TypeOf<T> {
    pub(super) const OUTPUT: &'static Spec =
        &Spec { output: || Some(|generator| T::json_schema(generator)), ..Spec::EMPTY };
}

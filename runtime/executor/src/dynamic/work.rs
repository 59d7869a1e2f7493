//! Begins a call of a run-time tool: reads its input, checks it, and passes it to the tool's function.

use std::borrow::Cow;
use std::marker::PhantomData;
use std::sync::Arc;

use futures::future::BoxFuture;
use schemars::JsonSchema;
use serde_json::Value;

use toolwright_core::calls::Calls;
use toolwright_core::capability::{CapabilitySpec, Service};
use toolwright_core::context::ToolContext;
use toolwright_core::elsewhere::not_handed_over;
use toolwright_core::error::ToolError;
use toolwright_core::footprint::Footprint;
use toolwright_core::input::{Input, Problems};
use toolwright_core::output::{Answer, Reconciled, Single, ToolOutput};
use toolwright_core::spec::{Spec, Start, Started};

/// The functions of one run-time tool. Its spec is shared with other tools that have the same kinds of functions.
pub(crate) struct Body {
    pub(super) judge: Judge,
    pub(super) asks: Option<Box<Companion<Option<Cow<'static, str>>>>>,
    pub(super) validate: Option<Box<Companion<()>>>,
    pub(super) preview: Option<Box<Companion<String>>>,
    pub(super) reconcile: Option<Box<Companion<Reconciled>>>,
    pub(super) work: Arc<dyn Work>,
}

/// The functions that compute danger, approval and footprint from each input, for the policy.
#[derive(Default)]
pub(super) struct Judge {
    pub(super) danger: Option<Box<Ask<toolwright_core::tool::Danger>>>,
    pub(super) approval: Option<Box<Ask<Option<Cow<'static, str>>>>>,
    pub(super) footprint: Option<Box<Ask<Footprint>>>,
}

/// A function beside the tool's main function, such as a preview; it receives the input as a JSON value.
pub(super) type Companion<T> =
    dyn Fn(Value, ToolContext) -> BoxFuture<'static, Result<T, ToolError>> + Send + Sync;

type Ask<T> = dyn Fn(&Value) -> T + Send + Sync;

/// The main function of a run-time tool, which reads the input as a type of its own.
pub(super) trait Work: Send + Sync {
    /// Prepares the call; the function does nothing before the returned future is polled.
    fn start(
        &self,
        start: &Start<'_, '_>,
        context: ToolContext,
    ) -> Result<BoxFuture<'static, Answer>, Problems>;

    fn makes_calls(&self) -> bool {
        false
    }
}

/// Returns the spec that all run-time tools with these companions share; each tool's definition is in its registry
/// entry.
pub(super) fn spec(has: Has) -> &'static Spec {
    let bits = [has.validate, has.preview, has.reconcile, has.calls, has.asks];
    let index = (0..).zip(bits).map(|(place, bit)| usize::from(bit) << place).sum::<usize>();
    &SPECS[index]
}

/// The companions that a run-time tool has beside its main function, and whether the main function makes calls.
#[derive(Clone, Copy)]
pub(super) struct Has {
    pub(super) validate: bool,
    pub(super) preview: bool,
    pub(super) reconcile: bool,
    pub(super) calls: bool,
    pub(super) asks: bool,
}

/// One spec for each combination of the fields of [`Has`]. Each bit of the index is one field.
static SPECS: [Spec; 32] = {
    let mut specs = [Spec::EMPTY; 32];
    let mut index = 0;
    while index < specs.len() {
        let capabilities: &[CapabilitySpec] =
            if index & 8 == 0 { &[CONTEXT] } else { &[CONTEXT, CALLS] };
        specs[index] = Spec { capabilities, start, ..Spec::EMPTY };
        if index & 1 != 0 {
            specs[index].validate = Some(validate);
        }
        if index & 2 != 0 {
            specs[index].preview = Some(preview);
        }
        if index & 4 != 0 {
            specs[index].reconcile = Some(reconcile);
        }
        if index & 16 != 0 {
            specs[index].asks = Some(asks);
        }
        index += 1;
    }
    specs
};

const CONTEXT: CapabilitySpec = <ToolContext as Service>::SHARED.spec();
const CALLS: CapabilitySpec = <Calls as Service>::SHARED.spec();

fn start<'a>(start: Start<'a, '_>) -> Started<'a, Answer> {
    let body = body(&start)?;
    let future = body.work.start(&start, context(&start))?;
    if body.judge.asks() {
        // The strict reader has accepted the text, so it is JSON without a repeated key.
        let input = serde_json::from_str(start.text).unwrap_or_default();
        body.judge.judge(&input, start.facts);
    }
    Ok(future)
}

fn asks<'a>(start: Start<'a, '_>) -> Started<'a, Result<Option<Cow<'static, str>>, ToolError>> {
    beside(&start, body(&start)?.asks.as_deref())
}

fn validate<'a>(start: Start<'a, '_>) -> Started<'a, Result<(), ToolError>> {
    beside(&start, body(&start)?.validate.as_deref())
}

fn preview<'a>(start: Start<'a, '_>) -> Started<'a, Result<String, ToolError>> {
    beside(&start, body(&start)?.preview.as_deref())
}

fn reconcile<'a>(start: Start<'a, '_>) -> Started<'a, Result<Reconciled, ToolError>> {
    beside(&start, body(&start)?.reconcile.as_deref())
}

/// Starts a companion, on input that is read as strictly as for the tool itself.
fn beside<'a, T: 'static>(
    start: &Start<'a, '_>,
    companion: Option<&'a Companion<T>>,
) -> Started<'a, Result<T, ToolError>> {
    let Some(companion) = companion else {
        return Err(Problems::of("a run-time tool with such a function, which this is not"));
    };
    let input = start.read_whole(&<Value as Input>::PARAM)?;
    let context = context(start);
    // The function is called inside the block, so that it does nothing before the future is polled.
    Ok(Box::pin(async move { companion(input, context).await }))
}

fn body<'a>(start: &Start<'a, '_>) -> Result<&'a Body, Problems> {
    start.scope.body().ok_or_else(|| Problems::of("a run-time tool, which this is not"))
}

fn context(start: &Start<'_, '_>) -> ToolContext {
    start.scope.shared(&<ToolContext as Service>::SHARED, 0).clone()
}

impl Judge {
    fn asks(&self) -> bool {
        self.danger.is_some() || self.approval.is_some() || self.footprint.is_some()
    }
}

/// Makes the [`Work`] of a handler whose input is of type `A`.
pub(super) fn of<A, R, F, Fut>(handler: F) -> Box<dyn Work>
where
    A: Input + Send + 'static,
    R: ToolOutput + 'static,
    F: Fn(A, ToolContext) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<R, ToolError>> + Send + 'static,
{
    Box::new(Handler { handler: Arc::new(handler), marker: PhantomData::<fn(A) -> R> })
}

/// Makes the [`Work`] of a handler that also makes calls, and whose input is of type `A`.
pub(super) fn calling<A, R, F, Fut>(handler: F) -> Box<dyn Work>
where
    A: Input + Send + 'static,
    R: ToolOutput + 'static,
    F: Fn(A, ToolContext, Calls) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<R, ToolError>> + Send + 'static,
{
    Box::new(Caller { handler: Arc::new(handler), marker: PhantomData::<fn(A) -> R> })
}

/// Makes the work of an external tool, which has no function: its calls are handed over.
pub(super) fn external() -> Box<dyn Work> {
    of::<Value, (), _, _>(|_, _| async { Err(not_handed_over()) })
}

struct Caller<F, M> {
    handler: Arc<F>,
    marker: PhantomData<M>,
}

impl<A, R, F, Fut> Work for Caller<F, fn(A) -> R>
where
    A: Input + Send + 'static,
    R: ToolOutput + 'static,
    F: Fn(A, ToolContext, Calls) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<R, ToolError>> + Send + 'static,
{
    fn start(
        &self,
        start: &Start<'_, '_>,
        context: ToolContext,
    ) -> Result<BoxFuture<'static, Answer>, Problems> {
        let input = start.read_whole(&A::PARAM)?;
        let calls = start.scope.shared(&<Calls as Service>::SHARED, 1).clone();
        let handler = Arc::clone(&self.handler);
        Ok(Box::pin(async move {
            match handler(input, context, calls).await {
                Ok(value) => value.into_answer(Single),
                Err(error) => error.into(),
            }
        }))
    }

    fn makes_calls(&self) -> bool {
        true
    }
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

/// The specs of the type `T` as the input and as the output of a tool. They contain its schema.
pub(super) struct TypeOf<T>(PhantomData<T>);

impl<T: Input> TypeOf<T> {
    pub(super) const INPUT: &'static Spec =
        &Spec { whole: true, parameters: &[T::PARAM.spec("input", "")], ..Spec::EMPTY };
}

impl<T: JsonSchema> TypeOf<T> {
    pub(super) const OUTPUT: &'static Spec =
        &Spec { output: || Some(|generator| T::json_schema(generator)), ..Spec::EMPTY };
}

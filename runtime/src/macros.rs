//! The macros, with the tables of their options.

#[expect(unused_imports, reason = "the docs link to what is here")]
use super::*;

/// Makes a tool of a function. The function itself stays unchanged. The macro adds a constant with the function's name
/// in capitals, which is the tool's [`Handle`], and registers the tool in [`Registry::linked`].
///
/// | option | meaning | default |
/// | --- | --- | --- |
/// | `name = "…"` | the name that models call | the function's |
/// | `title = "…"` | a name for people | none |
/// | `group = "…"` | the namespace on a command line | none |
/// | `tags("…", …)` | words to select tools by | none |
/// | `effect = read`, `idempotent`, `keyed` or `once` | what a call changes ([`Effect`]) | `once` |
/// | `danger = safe`, `moderate`, `dangerous`, `critical`, or an expression over the parameters | how carefully to look ([`Danger`]) | `safe` for `read`, else `moderate` |
/// | `reads(file = path, Kind, …)`, `writes(…)` | the resources that a call touches ([`ResourceKind`]); `writes()`: the tool writes none | everything |
/// | `approval = "reason"`, an expression that returns one, or <code>async \|…\| …</code>, which is awaited | a person is asked first | no question |
/// | `timeout = "30s"` or `none` | how long each attempt of a call may take once it runs; computing without an `.await` cannot be stopped | the executor's |
/// | `total_timeout = "2m"` or `none` | how long the whole call may take, all attempts and the time between them ([`ExecutorBuilder::total_timeout`]) | the executor's |
/// | `limit = 4` | how many calls run at once; the thread of a blocking tool that ran out of time is not counted | the executor's |
/// | `blocking` | a plain `fn`, run on the blocking pool | an `async fn` |
/// | `validate = \|from, to\| …` | refuses a call by a rule that types cannot say, before a person is asked | none |
/// | `preview = \|from, to\| …` | describes to an approver what the call would do | none |
/// | `reconcile = async \|from, to\| …` | finds out what happened to an interrupted call ([`Reconciled`]) | none |
/// | `retry(attempts = 3, delay = "500ms", max_delay = "5s")` | how often a failed call is tried | the executor's |
/// | `repair = off`, `standard` or `lenient` | how far wrong input is repaired ([`Repair`]) | the executor's |
/// | `terminal` | an agent's run ends when a call of it succeeds ([`TurnAnswers::terminal_call`]) | it continues |
/// | `external`, on a function that ends in `;` | another process carries out the call and supplies the result ([`Executor::supply`]) | it runs here |
/// | `background`, beside `external` | an agent's run continues, and its model reads the result as a message when the result comes | the run waits for the result |
/// | `hidden`, `deferred` | whether a model is shown the tool ([`Exposure`]) | shown |
/// | `unlinked` | [`Registry::linked`] leaves it out; its handle registers it, as in [`Registry::of`] | the linker registers it |
/// | `handle = NAME` | the name of the constant | the function's in capitals |
/// | `crate = path` | where this crate is found when it is re-exported | its name in the manifest of the crate |
///
/// Settings that `retry` leaves out are the executor's ([`ExecutorBuilder::retry`]). A call that needs approval needs
/// an approver ([`ExecutorBuilder::ask`], `.ask(Terminal::new())`), or a journal in which it can wait
/// ([`ExecutorBuilder::journal`]). Without either, the call is refused.
///
/// # What a call touches
///
/// A tool that does not declare what it touches is assumed to touch every file: with effect `read` to read it, with any
/// other effect to write it. The protections of a policy ([`policy::Protection`]) ask a person about every call that is
/// assumed to write. If the policy has roots, they also ask about every call that is assumed to read. So declare what a
/// call touches:
///
/// | written | says |
/// | --- | --- |
/// | `writes()` | it writes no resource: no file, and none of any other kind |
/// | `reads()` | it reads no resource; for a tool whose effect is `read` |
/// | `writes(file = path)` | it writes the file that the parameter `path` names, and nothing else |
/// | `writes(Account = id)` | it writes a resource of a kind of your own ([`ResourceKind`]), and no file |
///
/// A tool that writes a database and no files declares `writes()`, or names what it writes by a kind of its own. With a
/// kind such as `Account`, two calls for the same account keep their order, and two calls for different accounts do not
/// wait for each other. [`Executor::lint`] names the tools that declare nothing.
///
/// ```
/// use toolwright::{Executor, Registry, tool};
///
/// /// Adds an entry to the account.
/// #[tool(effect = once, writes())]
/// async fn add_entry(
///     /// How much, in cents.
///     amount: i64,
/// ) -> String {
///     format!("added {amount}")
/// }
///
/// let executor = Executor::builder(Registry::of([ADD_ENTRY])?).build()?;
/// assert!(executor.lint().is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// A tool compiles only if the function and every input parameter have a doc comment, because models read these
/// comments.
///
/// # Functions beside a tool
///
/// `validate` returns `Ok(())`, or the [`ToolError`] with which the call is refused. It runs after the input was read
/// and repaired, before the policy judges the call and a person is asked. It runs again when the call is about to
/// begin, because the situation may have changed in the meantime. The model reads the error and its hint. If the check
/// panics, fails or takes ten seconds, the call is refused.
///
/// `preview` returns the text that a person is shown before a call runs. `reconcile` finds out what happened to an
/// interrupted call ([`Reconciled`]). Both may return a `Result`. Each of the three is a closure over the tool's
/// parameters, including services and resources. It lists the parameters that it needs by their names, in any order,
/// and they have the types of the tool's parameters. A name that the tool does not have is a compile error, and a
/// resource that is not listed is not opened. A closure that awaits is `async |…|`. If `?` needs the return type, write
/// it: `|…| -> Result<String, ToolError>`. In a method, `self` is available without being listed.
///
/// ```
/// use toolwright::{Reconciled, ToolError, tool};
///
/// struct Bank;
///
/// impl Bank {
///     async fn has_paid(&self, to: &str, cents: u64) -> Result<bool, ToolError> {
///         Ok(!to.is_empty() && cents > 0)
///     }
/// }
///
/// /// Move money from one account to another.
/// #[tool(
///     approval = "it moves money",
///     preview = |from, to, cents| format!("{from} pays {cents} cents to {to}"),
///     reconcile = async |bank, to, cents| -> Result<Reconciled, ToolError> {
///         Ok(match bank.has_paid(&to, cents).await? {
///             true => Reconciled::Unknown,
///             false => Reconciled::DidNotHappen,
///         })
///     }
/// )]
/// async fn pay(
///     bank: &Bank,
///     /// Who pays.
///     from: String,
///     /// Who is paid.
///     to: String,
///     /// How much.
///     cents: u64,
/// ) {
///     let _ = (bank, from, to, cents);
/// }
/// ```
///
/// Instead of a closure, `preview = show_refund` names a function by its path. The function takes all parameters of the
/// tool in their order, and the inputs must all have different types. A path hides the names of its parameters, so two
/// inputs of one type could be mixed up; such a path is refused. The path of a generic function is refused as well.
///
/// `danger`, `approval`, `reads` and `writes` are expressions over the parameters, which they use by their names:
/// `approval = reason(&from, &to)`. They are evaluated before anything runs, so they cannot await or fail. If approval
/// has to be looked up, write a function as for `preview`: a closure over parameters and services by their names, or a
/// path. It returns `Option<reason>` or a `Result` of it, and runs before the policy is asked and again when the call
/// is claimed. After an error, a panic or ten seconds, a person is asked. `examine` and `explain` do not await. They
/// report the result of the function if it returns at once, and otherwise that the result is determined when the call
/// is made.
///
/// ```
/// use toolwright::{Call, Executor, Registry, ToolError, tool};
///
/// struct Accounts;
///
/// impl Accounts {
///     async fn limit(&self, account: &str) -> Result<u32, ToolError> {
///         Ok(if account == "tea" { 100 } else { 0 })
///     }
/// }
///
/// /// Pays.
/// #[tool(approval = async |accounts, account, amount| -> Result<Option<String>, ToolError> {
///     let limit = accounts.limit(&account).await?;
///     Ok((amount > limit).then(|| format!("{amount} is more than {limit}")))
/// })]
/// async fn pay(
///     accounts: &Accounts,
///     /// From which account.
///     account: String,
///     /// How much.
///     amount: u32,
/// ) -> String {
///     let _ = accounts;
///     format!("{amount} from {account}")
/// }
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build()?.block_on(async {
/// let executor = Executor::builder(Registry::of([PAY])?).service(Accounts).unrestricted().build()?;
/// assert!(!executor.call(&Call::new("pay", r#"{"account":"tea","amount":7}"#)).await.is_error());
/// let refused = executor.call(&Call::new("pay", r#"{"account":"tea","amount":700}"#)).await;
/// assert_eq!(refused.error().expect("no person can be asked").kind(), "approval_required");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Libraries of ready-made tools
///
/// The linker registers every tool of every crate that is linked. So an application that uses one tool of a library has
/// all tools of the library in [`Registry::linked`], and its executor needs the services of all of them. If users of a
/// library should select tools, write `unlinked` on each tool or on the whole `#[tools]` block. Applications then
/// register the tools by their handles, one by one or as a group.
///
/// ```standalone_crate
/// use toolwright::{Handle, Registry, tool};
///
/// /// Roll a die.
/// #[tool(unlinked, effect = once, writes())]
/// pub async fn roll_die() -> u8 {
///     4
/// }
///
/// /// Every tool of this library.
/// pub const DICE: [Handle; 1] = [ROLL_DIE];
///
/// assert!(Handle::linked().all(|tool| tool.name() != "roll_die"));
/// assert!(Registry::of(DICE)?.get("roll_die").is_some());
///
/// // The tools of the library in addition to the linked tools.
/// let registry = Registry::of(Handle::linked().chain(DICE))?;
/// assert!(registry.get("roll_die").is_some());
/// # Ok::<(), toolwright::RegistryError>(())
/// ```
///
/// # Parameters
///
/// | parameter | is |
/// | --- | --- |
/// | `T`, `Option<T>` | input, one key of the object that the model sends; an `Option` may be left out |
/// | `#[input] args: T` | the whole input, by a type with serde and schemars attributes of its own |
/// | `&T`, `&dyn Trait` | a service of the executor, the run or the call ([`ExecutorBuilder::service`]) |
/// | `&mut T` | a resource opened for this call and closed after it ([`Resource`]) |
/// | `&ToolContext` | the call itself ([`ToolContext`]) |
/// | `&Calls` | calls of other tools, made by this one ([`Calls`]) |
///
/// | `#[arg(…)]` on input | meaning |
/// | --- | --- |
/// | `default`, `default = value` | the value of an absent key, a constant, which the model is shown; a value that differs each time is refused when the registry is built |
/// | `fill = expression` | the value of an absent key of an `Option`, computed from parameters and services when the call is made, such as the folder that a run is in; final arguments, digest and journal contain it, so that a call that waits runs with the same value |
/// | `minimum = 1`, `maximum = 9` | the inclusive limits of a number; the parameter's type must be able to hold them |
/// | `length = 1..=80` | limits of a text in characters, of a list in items |
/// | `pattern = "…"` | a regular expression that a text matches, without look-around and back-references |
/// | `name = "…"` | the key, if it differs from the parameter's name |
/// | `alias = "…"` | another key that models write, repeatable; repair replaces it by the key, the strict reader refuses it |
/// | `example = value` | shown in the schema, repeatable |
/// | `secret` | error texts do not show the value, and tracing spans show neither the arguments nor the result of its call; it has no `default` and no `example`, which the schema would publish; a type under `#[input]` cannot mark its fields yet |
/// | `sink` | the value leaves the machine: rules of a policy ask for calls that send ([`policy::Rule::sends`]) |
/// | `command` | the text is a command line: rules of a policy name the programs in it ([`policy::ArgumentTest::program`]) |
/// | `short`, `short = 'l'`, `positional` | how the value is given on a command line |
///
/// # Result
///
/// A tool returns any type that serialises, or a `Result` of such a type with an error that converts into
/// [`ToolError`]. Text is sent without quotes. An [`Output`] has several blocks. A `Result` inside an `Option`, a
/// `Box`, a list or another container of the standard library is refused, because its `Err` would look like a success.
///
/// ```
/// use toolwright::{Closing, Danger, Resource, ToolError, tool};
///
/// struct Books(Vec<String>);
///
/// struct Transaction;
///
/// impl Resource for Transaction {
///     async fn close(self, _: Closing) -> Result<(), ToolError> {
///         Ok(())
///     }
/// }
///
/// /// Lend books to a reader.
/// #[tool(group = "book", danger = by_count(copies), effect = keyed, writes(file = title), timeout = "5s")]
/// async fn lend_book(
///     books: &Books,
///     transaction: &mut Transaction,
///     /// Its title.
///     #[arg(length = 1..=200, example = "Emma")]
///     title: String,
///     /// How many copies.
///     #[arg(default = 1, minimum = 1, maximum = 5, short)]
///     copies: u8,
/// ) -> Result<String, ToolError> {
///     let _ = transaction;
///     match books.0.contains(&title) {
///         true => Ok(format!("lent {copies} of {title}")),
///         false => Err(ToolError::new("not_found", format!("no book is called `{title}`"))),
///     }
/// }
///
/// fn by_count(copies: u8) -> Danger {
///     if copies > 3 { Danger::Dangerous } else { Danger::Moderate }
/// }
/// ```
pub use toolwright_macros::tool;

/// Makes tools of the methods with `#[tool]` in an `impl` block. A method with `&self` uses the type as a service, a
/// method with `&mut self` as a resource. The handles are associated constants: `Tickets::READ`.
///
/// The options `group`, `tags`, `unlinked` and `crate` apply to every tool of the block.
///
/// ```
/// use toolwright::{Registry, tools};
///
/// struct Tickets(Vec<String>);
///
/// #[tools(group = "ticket")]
/// impl Tickets {
///     /// Read a ticket.
///     #[tool(effect = read)]
///     async fn read(
///         &self,
///         /// Its number.
///         number: usize,
///     ) -> Option<String> {
///         self.0.get(number).cloned()
///     }
/// }
///
/// let registry = Registry::of([Tickets::READ])?;
/// assert_eq!(registry.get("read").expect("registered").group.as_deref(), Some("ticket"));
/// # Ok::<(), toolwright::RegistryError>(())
/// ```
pub use toolwright_macros::tools;

/// Derives the traits that input and output types need: `Serialize`, `Deserialize` and `JsonSchema`, through this
/// crate, so that a `Cargo.toml` need not name serde and schemars.
///
/// Attributes of serde and schemars on the type work as usual. The only option is `crate = path`.
///
/// ```
/// use toolwright::tool;
///
/// /// How to sort.
/// #[toolwright::data]
/// #[serde(rename_all = "snake_case")]
/// enum Order {
///     ByName,
///     ByDate,
/// }
///
/// /// Sort the list.
/// #[tool(effect = read)]
/// async fn sort(
///     /// By what.
///     order: Order,
/// ) -> Order {
///     order
/// }
/// ```
pub use toolwright_macros::data;

//! An `OpenAPI` document as a bundle: the application's settings, and the tools for an executor.

use std::collections::BTreeMap;
use std::fmt;
use std::net::IpAddr;
use std::path::Path;
use std::sync::Arc;

use reqwest::Url;
use toolwright::address::{AddressGuard, HostResolver};
use toolwright::{BuildProblem, Bundle, ExecutorBuilder, Registration};

use crate::credentials::Credentials;
use crate::document::{Document, LoadError};
use crate::plan::{self, Draft, PlannedOperation};
use crate::routes::{RouteError, Routes};
use crate::security::Requirement;
use crate::send;
use crate::servers::{self, ServerChoice};
use crate::tool::{self, Api};

/// The operations of an HTTP API as tools, by its `OpenAPI` document: a [`Bundle`] for `.with(…)` of an executor or an agent.
///
/// Each operation is one tool, which is named after its `operationId`, or after its method and path. By its method, a
/// tool has this effect and this danger:
///
/// | method | effect | danger |
/// | --- | --- | --- |
/// | `GET`, `HEAD`, `OPTIONS`, `QUERY` | `read` | `safe` |
/// | `PUT` | `idempotent` | `moderate` |
/// | `DELETE` | `idempotent` | `dangerous` |
/// | others | `keyed` with an idempotency key in a header, else `once` | `moderate` |
///
/// If a document has more than 40 tools that are not hidden, the tools to which no [rule](Self::routes) applies are
/// deferred, and a model searches for those that it needs. [`plan`](Self::plan) lists the operations that cannot be
/// tools, with reasons and places.
///
/// ```
/// use toolwright::{Call, Executor, Registry};
/// use toolwright_openapi::OpenApi;
///
/// let document = r#"
/// openapi: 3.1.0
/// info: {title: Pets, version: "1"}
/// paths:
///   /pets/{id}:
///     get:
///       operationId: showPet
///       summary: Show one pet.
///       parameters:
///         - {name: id, in: path, required: true, schema: {type: integer}}
/// "#;
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// let executor = Executor::builder(Registry::empty()).with(OpenApi::load(document)?.server("http://127.0.0.1:9")).build()?;
/// let definition = executor.registry().get("showPet").expect("it is a tool");
/// assert_eq!(definition.description, "Show one pet.\n\n(GET /pets/{id} of Pets.)");
///
/// // Nothing listens there.
/// let answer = executor.call(&Call::new("showPet", r#"{"id":7}"#)).await;
/// assert_eq!(answer.error().expect("an error").kind(), "unreachable");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
#[must_use = "an executor has its tools only after `.with(…)`"]
pub struct OpenApi {
    document: Arc<Document>,
    name: Option<String>,
    prefix: Option<String>,
    servers: ServerChoice,
    credentials: Vec<Arc<dyn Credentials>>,
    routes: Routes,
    body_limit: usize,
    /// Checks the addresses of the servers that the document names.
    guard: AddressGuard,
}

impl OpenApi {
    /// Reads a document of `OpenAPI` 3.0, 3.1 or 3.2 in JSON or YAML. Nothing is downloaded: references have to point
    /// into the document itself, or into a document that was [added](Self::document).
    ///
    /// # Errors
    /// When the text is neither JSON nor YAML, is of an unsupported version, or has no paths.
    pub fn load(document: impl AsRef<str>) -> Result<Self, LoadError> {
        let document = Arc::new(Document::read(document.as_ref())?);
        let (servers, routes) = (ServerChoice::default(), Routes::new());
        let (name, prefix, credentials) = (None, None, Vec::new());
        let body_limit = send::BODY_LIMIT;
        let guard = AddressGuard::new();
        Ok(Self { document, name, prefix, servers, credentials, routes, body_limit, guard })
    }

    /// Reads a document from a file, as [`load`](Self::load) does.
    ///
    /// # Errors
    /// When the file cannot be read, and for the reasons of [`load`](Self::load).
    pub fn read(file: impl AsRef<Path>) -> Result<Self, LoadError> {
        let file = file.as_ref();
        let text = std::fs::read_to_string(file)
            .map_err(|source| LoadError::File { file: file.to_owned(), source })?;
        Self::load(text)
    }

    /// Adds a document to which the first document, or another added document, refers. The application has read or
    /// downloaded its text. `uri` is the part before `#` of the references in the first document. A relative URI in an
    /// added document starts from the URI of that document. An operation whose reference leads to a document that was
    /// not added is refused.
    ///
    /// ```
    /// use toolwright_openapi::OpenApi;
    ///
    /// let pets = r#"
    /// openapi: 3.1.0
    /// info: {title: Pets, version: "1"}
    /// paths:
    ///   /pets:
    ///     get: {operationId: listPets, parameters: [{$ref: "common/parameters.yaml#/Limit"}]}
    /// "#;
    /// let parameters = "Limit: {name: limit, in: query, schema: {type: integer}}";
    /// let api = OpenApi::load(pets)?.document("common/parameters.yaml", parameters)?;
    /// assert_eq!(api.plan()?.len(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// When the text is neither JSON nor YAML, and when the URI is invalid, has a fragment, or was added before.
    pub fn document(
        mut self,
        uri: impl AsRef<str>,
        text: impl AsRef<str>,
    ) -> Result<Self, LoadError> {
        let mut document = Arc::try_unwrap(self.document).unwrap_or_else(|shared| shared.copy());
        document.add(uri.as_ref(), text.as_ref())?;
        self.document = Arc::new(document);
        Ok(self)
    }

    /// Names the bundle, for errors; by default after the document's title. Two bundles of one executor need different
    /// names.
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Sets a prefix for the name of each tool, for an application that uses several documents.
    pub fn prefix(mut self, prefix: impl Into<String>) -> Self {
        self.prefix = Some(prefix.into());
        self
    }

    /// Sets the server to which every request goes, instead of the servers of the document and its operations. This
    /// server may have any address, while a server that the document names needs a public or a
    /// [permitted](Self::permit) address.
    pub fn server(mut self, url: impl Into<String>) -> Self {
        self.servers.base = Some(url.into());
        self
    }

    /// Allows requests to this non-public address if the document names it as a server. By default, requests to a
    /// server that the document names are refused if its address is not public. An untrusted document could otherwise
    /// direct requests to a cloud's metadata service or into the application's network.
    ///
    /// ```
    /// use toolwright_openapi::OpenApi;
    ///
    /// let document = r#"
    /// openapi: 3.1.0
    /// info: {title: Pets, version: "1"}
    /// servers: [{url: "http://10.0.0.7/pets"}]
    /// paths: {}
    /// "#;
    /// let pets = OpenApi::load(document)?.permit("10.0.0.7".parse()?);
    /// # let _ = pets;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn permit(mut self, address: IpAddr) -> Self {
        self.guard = self.guard.permit(address);
        self
    }

    /// Resolves the host names of the document's servers with this resolver, instead of the system's.
    pub fn resolver(mut self, resolver: impl HostResolver) -> Self {
        self.guard = self.guard.resolver(Arc::new(resolver));
        self
    }

    /// Sets the value of a variable in the URLs of the document's servers, instead of the variable's default.
    pub fn variable(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.servers.variables.insert(name.into(), value.into());
        self
    }

    /// Adds a source of the credentials that operations require. For each security scheme, the first source that has a
    /// credential is used.
    pub fn credentials(mut self, credentials: impl Credentials) -> Self {
        self.credentials.push(Arc::new(credentials));
        self
    }

    /// Allows credentials to go to this server, besides the first server of the document. By default, `build` fails if
    /// an operation needs credentials and names another server, because a document could lead them to any server in this
    /// way. Is not needed if the application has set the [server](Self::server).
    pub fn credential_server(mut self, url: impl Into<String>) -> Self {
        self.servers.credential_servers.push(url.into());
        self
    }

    /// Sets which operations become tools, and how.
    pub fn routes(mut self, routes: Routes) -> Self {
        self.routes = routes;
        self
    }

    /// Sets how many bytes of an answer are read; by default 1 MiB. A longer answer is cut, and marked as cut.
    pub fn body_limit(mut self, bytes: usize) -> Self {
        self.body_limit = bytes;
        self
    }

    /// Reports for each operation whether it becomes a tool, in the order of paths and methods.
    ///
    /// # Errors
    /// When a rule applies to no operation, or does not fit an operation to which it applies.
    pub fn plan(&self) -> Result<Vec<PlannedOperation>, RouteError> {
        let planned = plan::plan(&self.document, &self.routes, self.prefix.as_deref())?;
        Ok(planned
            .iter()
            .map(|(operation, outcome)| PlannedOperation::of(operation, outcome))
            .collect())
    }

    /// Makes the tools, or returns the reasons why some of them cannot be called.
    fn tools(&self) -> Result<Vec<Registration>, Vec<String>> {
        let drafts = plan::plan(&self.document, &self.routes, self.prefix.as_deref());
        let drafts = drafts.map_err(|error| vec![error.to_string()])?;
        let guard = self.servers.base.is_none().then(|| self.guard.clone());
        let client = match &guard {
            Some(guard) => send::guarded_client(guard),
            None => send::client(),
        };
        let api = Api {
            document: Arc::clone(&self.document),
            client: client.map_err(|why| vec![why])?,
            guard,
            credentials: self.credentials.clone(),
            body_limit: self.body_limit,
        };
        let (mut tools, mut problems) = (Vec::new(), Problems::default());
        for (operation, outcome) in drafts {
            let draft = match outcome {
                Ok(Some(draft)) => draft,
                Ok(None) => continue,
                Err(refusal) => {
                    tracing::warn!(operation, "an operation cannot be a tool: {refusal}");
                    continue;
                }
            };
            match self.ready(&draft) {
                Ok((server, requirement)) => match tool::of(&api, draft, &server, requirement) {
                    Ok(tool) => tools.push(tool),
                    Err(why) => problems.add(why, &operation),
                },
                Err(why) => problems.add(why, &operation),
            }
        }
        if problems.0.is_empty() { Ok(tools) } else { Err(problems.sentences()) }
    }

    /// Returns the server of an operation, and the security requirement that its calls meet.
    fn ready(&self, draft: &Draft<'_>) -> Result<(Url, Requirement), String> {
        let server = servers::server(&self.document, &draft.found, &self.servers);
        let server = server.map_err(|refusal| refusal.to_string())?;
        let requirement = self.requirement(&draft.requirements)?;
        if !requirement.is_empty() && server.scheme() == "http" && !servers::is_local(&server) {
            return Err(format!(
                "a credential would go over plain HTTP to `{}`, expected https; give the server with `.server(…)`",
                server.host_str().unwrap_or_default()
            ));
        }
        if !requirement.is_empty() {
            servers::may_get_credentials(&self.document, &server, &self.servers)?;
        }
        Ok((server, requirement))
    }

    /// Chooses the first requirement with credentials for all of its schemes.
    fn requirement(&self, requirements: &[Requirement]) -> Result<Requirement, String> {
        let gives = |scheme: &_| self.credentials.iter().any(|it| it.gives(scheme));
        let is_given = |it: &&Requirement| it.iter().all(gives);
        let given: Vec<&Requirement> = requirements.iter().filter(is_given).collect();
        // If authorization is optional and there are credentials, use the credentials.
        if let Some(best) = given.iter().find(|it| !it.is_empty()).or(given.first()) {
            return Ok((*best).clone());
        }
        if requirements.is_empty() {
            return Ok(Requirement::new());
        }
        let shown = requirements.iter().map(|schemes| {
            let names: Vec<String> = schemes.iter().map(|it| format!("`{}`", it.name)).collect();
            names.join(" with ")
        });
        let shown: Vec<String> = shown.collect();
        Err(format!(
            "there are no credentials for {}; give them with `.credentials(…)`",
            shown.join(" or ")
        ))
    }
}

/// The problems of the operations, each with the operations that have it.
#[derive(Default)]
struct Problems(BTreeMap<String, Vec<String>>);

impl Problems {
    fn add(&mut self, why: String, operation: &str) {
        self.0.entry(why).or_default().push(operation.to_owned());
    }

    fn sentences(self) -> Vec<String> {
        let sentences = self.0.into_iter().map(|(why, operations)| match operations.as_slice() {
            [one] => format!("{one}: {why}"),
            [first, rest @ ..] => format!("{first} and {} more: {why}", rest.len()),
            [] => why,
        });
        sentences.collect()
    }
}

impl Bundle for OpenApi {
    fn name(&self) -> String {
        format!("OpenAPI {}", self.name.as_deref().unwrap_or(self.document.title()))
    }

    fn install(self, executor: ExecutorBuilder) -> ExecutorBuilder {
        match self.tools() {
            Ok(tools) => executor.tools(tools),
            Err(problems) => problems.into_iter().fold(executor, |executor, why| {
                executor.problem(BuildProblem::Unavailable { what: self.name(), why })
            }),
        }
    }
}

impl fmt::Debug for OpenApi {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("OpenApi")
            .field("document", &self.document.title())
            .finish_non_exhaustive()
    }
}

//! The resources, prompts and completions that other servers offer. The application calls these methods for a user who
//! picks one of them. A model reads resources with the tools of [`MCP_RESOURCE_TOOLS`](crate::MCP_RESOURCE_TOOLS).

use std::sync::Arc;

use rmcp::model::{
    ArgumentInfo, ClientRequest, CompleteRequest, CompleteRequestParams, CompletionContext,
    GetPromptRequest, GetPromptRequestParams, ListPromptsRequest, ListResourceTemplatesRequest,
    ListResourcesRequest, ReadResourceRequest, ReadResourceRequestParams, Reference, Role,
    ServerResult,
};
use toolwright::{Output, ToolError, error_kind};

use super::McpServers;
use super::connection::Server;
use super::pages::{self, Endless};
use super::result;
use super::untrusted::{escaped, line};
use crate::{Arguments, Completing, PromptMessage, Resource};

/// The resources that another server offers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct OfferedResources {
    /// Resources that have a URI of their own.
    pub resources: Vec<Resource>,
    /// Templates of resources, whose URIs have placeholders such as `{name}`.
    pub templates: Vec<Resource>,
}

/// A prompt that another server offers.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct OfferedPrompt {
    /// The prompt's name on its server.
    pub name: String,
    /// The description of the prompt, in the words of the server.
    pub description: String,
    /// The arguments of the prompt.
    pub arguments: Vec<OfferedArgument>,
}

/// An argument of a prompt of another server.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct OfferedArgument {
    /// The argument's name.
    pub name: String,
    /// What the argument means, in the words of the server.
    pub description: String,
    /// Whether the argument is required.
    pub is_required: bool,
}

impl McpServers {
    /// Lists the resources of a server and its resource templates; empty if the server does not support resources. The
    /// texts come from the server, with control characters escaped.
    ///
    /// # Errors
    /// When no server has this name, the server cannot be used, or its list has no end.
    pub async fn resources(&self, server: &str) -> Result<OfferedResources, ToolError> {
        let server = self.server(server)?;
        let mut offered = OfferedResources::default();
        let mut pages = server.pages();
        while let Some(params) = pages.next() {
            let request = ListResourcesRequest::with_param(params);
            match server.ask(ClientRequest::ListResourcesRequest(request)).await? {
                Some(ServerResult::ListResourcesResult(page)) => {
                    let (items, bytes) = (page.resources.len(), pages::bytes(&page));
                    pages.add(items, bytes, page.next_cursor).map_err(|Endless| endless(server))?;
                    offered.resources.extend(
                        page.resources
                            .into_iter()
                            .map(|it| resource(&it.uri, &it.name, it.description, it.mime_type)),
                    );
                }
                Some(_) => return Err(odd(server)),
                None => {}
            }
        }
        let mut pages = server.pages();
        while let Some(params) = pages.next() {
            let request = ListResourceTemplatesRequest::with_param(params);
            match server.ask(ClientRequest::ListResourceTemplatesRequest(request)).await? {
                Some(ServerResult::ListResourceTemplatesResult(page)) => {
                    let (items, bytes) = (page.resource_templates.len(), pages::bytes(&page));
                    pages.add(items, bytes, page.next_cursor).map_err(|Endless| endless(server))?;
                    offered.templates.extend(page.resource_templates.into_iter().map(|it| {
                        resource(&it.uri_template, &it.name, it.description, it.mime_type)
                    }));
                }
                Some(_) => return Err(odd(server)),
                None => {}
            }
        }
        Ok(offered)
    }

    /// Reads the resource at a URI of a server. The content is marked as untrusted, like a tool's answer.
    ///
    /// # Errors
    /// When no server has this name, the server cannot be used, or it has nothing at this URI.
    pub async fn read_resource(&self, server: &str, uri: &str) -> Result<Output, ToolError> {
        let server = self.server(server)?;
        let params = ReadResourceRequestParams::new(uri);
        let request = ClientRequest::ReadResourceRequest(ReadResourceRequest::new(params));
        match server.ask(request).await? {
            Some(ServerResult::ReadResourceResult(read)) => {
                Ok(result::resource(server.name(), uri, read.contents))
            }
            answer => Err(none_of(server, "resources", answer)),
        }
    }

    /// Lists the prompts of a server; empty if the server does not support prompts.
    ///
    /// # Errors
    /// When no server has this name, the server cannot be used, or its list has no end.
    pub async fn prompts(&self, server: &str) -> Result<Vec<OfferedPrompt>, ToolError> {
        let server = self.server(server)?;
        let mut prompts = Vec::new();
        let mut pages = server.pages();
        while let Some(params) = pages.next() {
            let request = ListPromptsRequest::with_param(params);
            match server.ask(ClientRequest::ListPromptsRequest(request)).await? {
                Some(ServerResult::ListPromptsResult(page)) => {
                    let (items, bytes) = (page.prompts.len(), pages::bytes(&page));
                    pages.add(items, bytes, page.next_cursor).map_err(|Endless| endless(server))?;
                    prompts.extend(page.prompts.into_iter().map(prompt));
                }
                Some(_) => return Err(odd(server)),
                None => {}
            }
        }
        Ok(prompts)
    }

    /// Fills in a prompt that a user has picked. The texts of the prompt are not fenced, because the user wants the
    /// model to follow them; control characters are escaped.
    ///
    /// # Errors
    /// When no server has this name, or the server cannot be used or refuses the prompt or its arguments.
    pub async fn prompt(
        &self,
        server: &str,
        name: &str,
        arguments: &Arguments,
    ) -> Result<Vec<PromptMessage>, ToolError> {
        let server = self.server(server)?;
        let given = arguments.iter().map(|(name, it)| (name.clone(), it.as_str().into()));
        let params = GetPromptRequestParams::new(name).with_arguments(given.collect());
        let request = ClientRequest::GetPromptRequest(GetPromptRequest::new(params));
        match server.ask(request).await? {
            Some(ServerResult::GetPromptResult(prompt)) => {
                let messages = prompt.messages.into_iter().map(|message| {
                    let content = result::unfenced(server.name(), message.content);
                    match message.role {
                        Role::Assistant => PromptMessage::Assistant(content),
                        _ => PromptMessage::User(content),
                    }
                });
                Ok(messages.collect())
            }
            answer => Err(none_of(server, "prompts", answer)),
        }
    }

    /// Completes what a user types for an argument; empty if the server does not support completion. `filled` holds the
    /// arguments that are already filled in.
    ///
    /// # Errors
    /// When no server has this name, or the server cannot be used.
    pub async fn complete(
        &self,
        server: &str,
        of: &Completing,
        argument: &str,
        typed: &str,
        filled: &Arguments,
    ) -> Result<Vec<String>, ToolError> {
        let server = self.server(server)?;
        let of = match of {
            Completing::Prompt(name) => Reference::for_prompt(name),
            Completing::Resource(uri) => Reference::for_resource(uri),
        };
        let mut params = CompleteRequestParams::new(of, ArgumentInfo::new(argument, typed));
        if !filled.is_empty() {
            let filled = filled.clone().into_iter().collect();
            params.context = Some(CompletionContext::with_arguments(filled));
        }
        let request = ClientRequest::CompleteRequest(CompleteRequest::new(params));
        match server.ask(request).await? {
            Some(ServerResult::CompleteResult(found)) => {
                Ok(found.completion.values.iter().map(|value| line(value)).collect())
            }
            None => Ok(Vec::new()),
            Some(_) => Err(odd(server)),
        }
    }

    fn server(&self, name: &str) -> Result<&Arc<Server>, ToolError> {
        self.0.servers.get(name).ok_or_else(|| self.unknown_server(name))
    }
}

fn resource(
    uri: &str,
    name: &str,
    description: Option<String>,
    media_type: Option<String>,
) -> Resource {
    let mut made = Resource::new(escaped(uri), line(name));
    made.description = description.map(|it| escaped(&it));
    made.media_type = media_type.map(|it| line(&it));
    made
}

fn prompt(offered: rmcp::model::Prompt) -> OfferedPrompt {
    let arguments = offered.arguments.unwrap_or_default().into_iter();
    let arguments = arguments.map(|it| OfferedArgument {
        name: escaped(&it.name),
        description: escaped(&it.description.unwrap_or_default()),
        is_required: it.required.unwrap_or_default(),
    });
    OfferedPrompt {
        name: escaped(&offered.name),
        description: escaped(&offered.description.unwrap_or_default()),
        arguments: arguments.collect(),
    }
}

/// Makes the error for a server that does not know the method, or that answers with something else, such as a request
/// for input.
fn none_of(server: &Server, what: &str, answer: Option<ServerResult>) -> ToolError {
    match answer {
        Some(_) => odd(server),
        None => {
            let words = format!("the MCP server `{}` has no {what}", server.name());
            ToolError::new(error_kind::INVALID_INPUT, words)
        }
    }
}

fn endless(server: &Server) -> ToolError {
    server.unreachable("its list has no end")
}

fn odd(server: &Server) -> ToolError {
    let words =
        format!("the MCP server `{}` answers something else than was asked for", server.name());
    ToolError::new("unsupported_answer", words)
}

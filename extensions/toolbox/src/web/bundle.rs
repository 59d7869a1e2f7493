//! A bundle of the web tools and their services.

use std::sync::Arc;

use toolwright::policy::{Policy, Rule};
use toolwright::{Bundle, ExecutorBuilder};

use super::allow_list::AllowList;
use super::client::WebClient;
use super::search::SearchProvider;
use super::{ALLOW_HOST, WEB_FETCH, WEB_SEARCH};

/// The web with permission, as a [`Bundle`]: `.with(WebTools::new(WebClient::new()?, AllowList::file("…")))`.
///
/// Pages of hosts on the list are fetched at once. A person is asked about every other page. A person is also asked
/// about each host that is to be added to the list, whatever grants there are.
#[must_use = "an executor has these tools only after `.with(…)`"]
pub struct WebTools {
    client: WebClient,
    hosts: AllowList,
    search: Option<Arc<dyn SearchProvider>>,
    may_ask_for_hosts: bool,
}

impl WebTools {
    /// Makes the tools that fetch pages with this client, without approval for hosts on this list.
    pub fn new(client: WebClient, hosts: AllowList) -> Self {
        Self { client, hosts, search: None, may_ask_for_hosts: true }
    }

    /// Sets the service that searches the web. Without a service, there is no tool `web_search`.
    pub fn search(mut self, provider: impl SearchProvider) -> Self {
        self.search = Some(Arc::new(provider));
        self
    }

    /// Leaves `allow_host` out, so that agents cannot add hosts to the list.
    pub fn without_allow_host(mut self) -> Self {
        self.may_ask_for_hosts = false;
        self
    }
}

impl Bundle for WebTools {
    fn name(&self) -> String {
        "web tools".to_owned()
    }

    fn install(self, executor: ExecutorBuilder) -> ExecutorBuilder {
        let mut executor = executor.tools([WEB_FETCH]).service(self.client).service(self.hosts);
        if self.may_ask_for_hosts {
            let rule = Rule::always_ask("pages of a host would be fetched without a question");
            // The rule has no name: otherwise an application's rule with the same name would replace it.
            let rule = rule.tool("allow_host");
            executor = executor.tools([ALLOW_HOST]).policy_defaults(Policy::builder().rule(rule));
        }
        match self.search {
            Some(search) => executor.tools([WEB_SEARCH]).service_arc::<dyn SearchProvider>(search),
            None => executor,
        }
    }
}

impl std::fmt::Debug for WebTools {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("WebTools").field("client", &self.client).finish_non_exhaustive()
    }
}

//! Presets for popular servers of the chat API.

use super::{HttpModel, HttpModelBuilder};

impl HttpModel {
    /// Returns a builder for a model of Azure `OpenAI`, from the address of the resource and the name of the
    /// deployment. The model uses the chat API below `/openai/v1`, with the key in the header `api-key`.
    ///
    /// For an older address with a version, set a base URL with a query:
    ///
    /// ```
    /// use toolwright_agent::http::HttpModel;
    ///
    /// let model = HttpModel::azure("http://127.0.0.1:8000", "gpt-5-mini").key("not to be shown").build()?;
    /// # let _ = model;
    /// let dated = "http://127.0.0.1:8000/openai/deployments/gpt-4o?api-version=2024-10-21";
    /// let model = HttpModel::openai_chat("gpt-4o").base_url(dated).key_header("api-key").key("not to be shown").build()?;
    /// # let _ = model;
    /// # Ok::<(), toolwright_agent::http::HttpModelError>(())
    /// ```
    pub fn azure(resource: impl AsRef<str>, deployment: impl Into<String>) -> HttpModelBuilder {
        let base = format!("{}/openai/v1", resource.as_ref().trim_end_matches('/'));
        Self::openai_chat(deployment).base_url(base).key_header("api-key")
    }

    /// Returns a builder for a model that vLLM serves, on port 8000 of this machine unless
    /// [`base_url`](HttpModelBuilder::base_url) sets another address. Set options that vLLM adds to the chat API by
    /// [`extra_body`](HttpModelBuilder::extra_body).
    ///
    /// ```
    /// use serde_json::json;
    /// use toolwright_agent::http::HttpModel;
    ///
    /// let model = HttpModel::vllm("Qwen/Qwen3-8B")
    ///     .extra_body(json!({"top_k": 20, "chat_template_kwargs": {"enable_thinking": false}}))
    ///     .build()?;
    /// # let _ = model;
    /// # Ok::<(), toolwright_agent::http::HttpModelError>(())
    /// ```
    pub fn vllm(model: impl Into<String>) -> HttpModelBuilder {
        Self::openai_chat(model).base_url("http://127.0.0.1:8000/v1").plain_max_tokens()
    }

    /// Returns a builder for a model that Ollama serves, on this machine unless
    /// [`base_url`](HttpModelBuilder::base_url) sets another address. Ollama's chat API ignores `num_ctx`: set
    /// `OLLAMA_CONTEXT_LENGTH` on the server, or `PARAMETER num_ctx` in a Modelfile. Ollama cuts off a history that is
    /// longer than its context, without an error.
    ///
    /// ```
    /// use toolwright_agent::http::HttpModel;
    ///
    /// let model = HttpModel::ollama("qwen3:8b").temperature(0.2).build()?;
    /// # let _ = model;
    /// # Ok::<(), toolwright_agent::http::HttpModelError>(())
    /// ```
    pub fn ollama(model: impl Into<String>) -> HttpModelBuilder {
        Self::openai_chat(model).base_url("http://127.0.0.1:11434/v1").plain_max_tokens()
    }
}

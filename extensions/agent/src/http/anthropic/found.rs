//! Cleans the results of tool searches in the history: removes tools that no longer exist, and all searches if the
//! request has no search tool. Without this, the API refuses the request, because the history names a tool that the
//! request does not list.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::HashSet;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

/// The prefix of the names of all search tools of the API.
const SEARCH: &str = "tool_search_tool";
const REFERENCES: &str = "tool_references";

/// The tools of a request. They are parsed only if a message of the history contains a tool search.
pub(super) struct Present<'a> {
    tools: &'a RawValue,
    read: OnceCell<Names>,
}

#[derive(Default)]
struct Names {
    names: HashSet<String>,
    has_search: bool,
    /// Whether the list includes tools of remote servers, whose names are not known to the client.
    has_others: bool,
}

#[derive(Deserialize)]
struct Tool {
    r#type: Option<String>,
    name: Option<String>,
}

#[derive(Deserialize)]
struct Block {
    r#type: String,
    name: Option<String>,
}

impl<'a> Present<'a> {
    pub(super) fn of(tools: &'a RawValue) -> Self {
        Self { tools, read: OnceCell::new() }
    }

    fn names(&self) -> &Names {
        self.read.get_or_init(|| {
            let tools: Vec<Tool> = serde_json::from_str(self.tools.get()).unwrap_or_default();
            let is_search =
                |it: &Tool| it.r#type.as_deref().is_some_and(|it| it.starts_with(SEARCH));
            Names {
                has_search: tools.iter().any(is_search),
                has_others: tools.iter().any(|it| it.name.is_none()),
                names: tools.into_iter().filter_map(|it| it.name).collect(),
            }
        })
    }

    /// Returns the content of a message without references to tools that are not in the request, and without searches
    /// if the request has no search tool. References stay if the request has tools of remote servers. Content without
    /// searches is returned unchanged.
    pub(super) fn without_gone<'b>(&self, content: &'b str) -> Cow<'b, str> {
        if !content.contains(SEARCH) {
            return Cow::Borrowed(content);
        }
        let Ok(blocks) = serde_json::from_str::<Vec<&RawValue>>(content) else {
            return Cow::Borrowed(content);
        };
        let left: Vec<Cow<'_, str>> = blocks.iter().filter_map(|it| self.block(it.get())).collect();
        let is_whole = left.len() == blocks.len()
            && left.iter().all(|block| matches!(block, Cow::Borrowed(_)));
        // The API refuses an empty message.
        match is_whole || left.is_empty() {
            true => Cow::Borrowed(content),
            false => Cow::Owned(format!("[{}]", left.join(","))),
        }
    }

    fn block<'b>(&self, text: &'b str) -> Option<Cow<'b, str>> {
        let whole = Some(Cow::Borrowed(text));
        let Ok(block) = serde_json::from_str::<Block>(text) else { return whole };
        let is_result = block.r#type == "tool_search_tool_result";
        let is_search = block.r#type == "server_tool_use"
            && block.name.as_deref().is_some_and(|name| name.starts_with(SEARCH));
        if !is_result && !is_search {
            return whole;
        }
        let present = self.names();
        if !present.has_search {
            return None;
        }
        let is_gone = |reference: &Value| {
            let name = reference["tool_name"].as_str();
            name.is_some_and(|name| !present.names.contains(name))
        };
        let mut result: Value = serde_json::from_str(text).unwrap_or_default();
        match result["content"].get_mut(REFERENCES).and_then(Value::as_array_mut) {
            Some(found) if !present.has_others && found.iter().any(is_gone) => {
                found.retain(|it| !is_gone(it));
                Some(Cow::Owned(result.to_string()))
            }
            _ => whole,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ADD: &str = r#"{"type":"tool_reference","tool_name":"math_add"}"#;
    const GONE: &str = r#"{"type":"tool_reference","tool_name":"math_old"}"#;

    fn content(references: &str) -> String {
        format!(
            r#"[{{"type":"text","text":"I look."}},{{"type":"server_tool_use","id":"s1","name":"tool_search_tool_bm25","input":{{}}}},{{"type":"tool_search_tool_result","tool_use_id":"s1","content":{{"type":"tool_search_tool_search_result","tool_references":[{references}]}}}}]"#
        )
    }

    fn gone_from(tools: &str, content: &str) -> String {
        let tools = RawValue::from_string(tools.to_owned()).unwrap();
        Present::of(&tools).without_gone(content).into_owned()
    }

    const TOOLS: &str = r#"[{"name":"math_add","input_schema":{}},{"type":"tool_search_tool_bm25_20251119","name":"tool_search_tool_bm25"}]"#;

    #[test]
    fn a_tool_that_is_gone_goes_back_in_no_search() {
        let both = content(&format!("{ADD},{GONE}"));
        let left: Value = serde_json::from_str(&gone_from(TOOLS, &both)).unwrap();
        assert_eq!(left, serde_json::from_str::<Value>(&content(ADD)).unwrap());
        let left: Value = serde_json::from_str(&gone_from(TOOLS, &content(GONE))).unwrap();
        assert_eq!(left, serde_json::from_str::<Value>(&content("")).unwrap());
    }

    #[test]
    fn what_a_search_found_goes_back_as_it_is_where_it_is_there() {
        let found = content(ADD);
        assert_eq!(gone_from(TOOLS, &found), found);
        // The client does not know the names of a remote server's tools.
        let others = TOOLS.replacen('[', r#"[{"type":"mcp_toolset","mcp_server_name":"far"},"#, 1);
        let found = content(GONE);
        assert_eq!(gone_from(&others, &found), found);
    }

    #[test]
    fn searches_go_back_nowhere_where_there_are_none() {
        let plain = r#"[{"name":"math_add","input_schema":{}}]"#;
        assert_eq!(gone_from(plain, &content(ADD)), r#"[{"type":"text","text":"I look."}]"#);
    }
}

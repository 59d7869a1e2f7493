//! The path of an operation: a template of text and parameters, in which the values of a call replace the parameters.
//! The functions are pure.

use std::collections::HashMap;

use percent_encoding::percent_decode_str;
use toolwright::ToolError;

use super::encode;

/// A path of the document, split into its pieces.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Template {
    /// The segments, each of which follows a `/`.
    segments: Vec<Vec<Piece>>,
    query: Vec<String>,
}

#[derive(Debug, Clone, PartialEq)]
enum Piece {
    Text(String),
    Parameter(String),
}

impl Template {
    /// Parses a path. A part after `#` is dropped: some documents use such a part only to distinguish operations of the
    /// same path.
    ///
    /// # Errors
    /// When the text is not a valid path.
    pub(crate) fn of(path: &str) -> Result<Self, String> {
        let path = path.split('#').next().unwrap_or_default();
        let (path, query) = path.split_once('?').unwrap_or((path, ""));
        let Some(path) = path.strip_prefix('/') else {
            return Err("the path does not begin with `/`".to_owned());
        };
        if let Some(dots) = path.split('/').find(|it| has_dots(it)) {
            return Err(format!("`{dots}` in the path leads to another, expected names"));
        }
        let segments = path.split('/').map(segment).collect::<Result<_, _>>()?;
        if query.contains(['{', '}']) {
            return Err(
                "the path has parameters after `?`, expected them as query parameters".to_owned()
            );
        }
        let pairs = query.split('&').filter(|it| !it.is_empty());
        let pairs = pairs.map(|pair| match pair.split_once('=') {
            Some((key, value)) => format!("{}={}", fixed(key), fixed(value)),
            None => fixed(pair),
        });
        Ok(Self { segments, query: pairs.collect() })
    }

    /// Returns the names of the parameters.
    pub(crate) fn parameters(&self) -> impl Iterator<Item = &str> {
        self.segments.iter().flatten().filter_map(|piece| match piece {
            Piece::Parameter(name) => Some(name.as_str()),
            Piece::Text(_) => None,
        })
    }

    /// Returns the keys of the query in the path.
    pub(crate) fn keys(&self) -> impl Iterator<Item = String> {
        let keys = self.query.iter().map(|pair| pair.split('=').next().unwrap_or_default());
        keys.map(|key| percent_decode_str(key).decode_utf8_lossy().into_owned())
    }

    /// Returns the pairs of the query in the path.
    pub(super) fn query(&self) -> impl IntoIterator<Item = &str> {
        self.query.iter().map(String::as_str)
    }

    pub(super) fn filling(&self) -> Filling<'_> {
        Filling { template: self, values: HashMap::new() }
    }
}

/// Returns the path as a server reads it, because rules match this form. Decodes percent-encoded text of the document,
/// and drops the part after `#`. An encoded `/` stays encoded, since it does not separate segments; so do `?` and `#`,
/// which do not end the path.
pub(crate) fn as_sent(path: &str) -> String {
    let path = path.split('#').next().unwrap_or_default();
    let decoded = |text: &str| {
        let segments = text
            .split('/')
            .map(|segment| percent_decode_str(segment).decode_utf8_lossy().replace('/', "%2F"));
        segments.collect::<Vec<_>>().join("/")
    };
    let (path, query) = path.split_once('?').map_or((path, None), |(it, query)| (it, Some(query)));
    let path = decoded(path).replace('?', "%3F").replace('#', "%23");
    match query {
        Some(query) => format!("{path}?{}", decoded(query)),
        None => path,
    }
}

/// Percent-encodes text of the document, which may already be encoded.
fn fixed(text: &str) -> String {
    encode::value(&percent_decode_str(text).decode_utf8_lossy())
}

fn segment(text: &str) -> Result<Vec<Piece>, String> {
    let (mut pieces, mut rest) = (Vec::new(), text);
    while let Some((before, after)) = rest.split_once('{') {
        let Some((name, after)) = after.split_once('}') else {
            return Err(format!("`{text}` has a `{{` that nothing closes"));
        };
        if before.contains('}') || name.contains('{') || name.is_empty() {
            return Err(format!("`{text}` has braces that name no parameter"));
        }
        if !before.is_empty() {
            pieces.push(Piece::Text(before.to_owned()));
        }
        pieces.push(Piece::Parameter(name.to_owned()));
        rest = after;
    }
    if rest.contains('}') {
        return Err(format!("`{text}` has braces that name no parameter"));
    }
    if !rest.is_empty() {
        pieces.push(Piece::Text(rest.to_owned()));
    }
    Ok(pieces)
}

/// A path whose parameters are being replaced by values.
pub(super) struct Filling<'t> {
    template: &'t Template,
    values: HashMap<String, String>,
}

impl Filling<'_> {
    /// Sets the value of a parameter, which is already encoded.
    pub(super) fn fill(&mut self, name: &str, value: String) {
        self.values.insert(name.to_owned(), value);
    }

    /// Returns the encoded path.
    ///
    /// # Errors
    /// When a parameter is missing or empty, or a segment would lead to another path.
    pub(super) fn finish(self) -> Result<String, ToolError> {
        let mut path = String::new();
        for pieces in &self.template.segments {
            path.push('/');
            let start = path.len();
            for piece in pieces {
                match piece {
                    Piece::Text(text) => path.push_str(&of_document(text)),
                    Piece::Parameter(name) => {
                        let value = self.values.get(name).map(String::as_str).unwrap_or_default();
                        if value.is_empty() {
                            let words = format!("`{name}` is empty, expected a part of the path");
                            return Err(ToolError::invalid(words));
                        }
                        path.push_str(value);
                    }
                }
            }
            let has_parameter = pieces.iter().any(|it| matches!(it, Piece::Parameter(_)));
            if has_parameter && has_dots(&path[start..]) {
                let words = format!(
                    "`{}` in a path leads to another path, expected a name",
                    &path[start..]
                );
                return Err(ToolError::invalid(words));
            }
        }
        Ok(path)
    }
}

/// Percent-encodes text of the document, which may already be encoded. Delimiters such as `:` and `@` are not encoded.
fn of_document(text: &str) -> String {
    encode::segment(&percent_decode_str(text).decode_utf8_lossy())
}

/// Returns whether a decoded segment contains the name `.` or `..`, so that a server could resolve it to another path.
fn has_dots(segment: &str) -> bool {
    let decoded = percent_decode_str(segment).decode_utf8_lossy();
    decoded.split(['/', '\\']).any(|part| matches!(part, "." | ".."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_taken_apart_or_refused() {
        let template = Template::of("/a/{x}{y}:go/%41?list&k=v v#Action=1").expect("a path");
        assert_eq!(template.parameters().collect::<Vec<_>>(), ["x", "y"]);
        assert_eq!(template.query, ["list", "k=v%20v"]);
        let mut filling = template.filling();
        filling.fill("x", "1".to_owned());
        filling.fill("y", "%2F".to_owned());
        assert_eq!(filling.finish().expect("filled"), "/a/1%2F:go/A");
        for wrong in [
            "a",
            "/{x",
            "/x}",
            "/{}",
            "/{{x}}",
            "/a?x={x}",
            "/a/../b",
            "/a/%2e./b",
            "/.",
            "/a%2F..%5Cb",
        ] {
            assert!(Template::of(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn no_value_leads_to_another_path() {
        let template = Template::of("/files/{a}{b}/tags").expect("a path");
        for (a, b) in
            [("", "x"), (".", "."), ("%2E", "."), ("x", ""), ("..%2F", "x"), ("x%5C.", "%2F")]
        {
            let mut filling = template.filling();
            filling.fill("a", a.to_owned());
            filling.fill("b", b.to_owned());
            assert!(filling.finish().is_err(), "{a:?} {b:?}");
        }
    }
}

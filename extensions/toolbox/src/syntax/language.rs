//! The languages whose syntax can be checked, by the extension of the file's name.

/// A language with a grammar. Cargo features decide which languages are available.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Language {
    #[cfg(feature = "syntax-javascript")]
    JavaScript,
    #[cfg(feature = "syntax-json")]
    Json,
    #[cfg(feature = "syntax-python")]
    Python,
    #[cfg(feature = "syntax-rust")]
    Rust,
    #[cfg(feature = "syntax-toml")]
    Toml,
    #[cfg(feature = "syntax-javascript")]
    Tsx,
    #[cfg(feature = "syntax-javascript")]
    TypeScript,
}

impl Language {
    /// Returns the language of a file; `None` if it is unknown.
    pub(super) fn of(name: &str) -> Option<Self> {
        let file = name.rsplit('/').next().unwrap_or(name);
        let (stem, end) = file.rsplit_once('.')?;
        // The name `.json` is that of a hidden file without an extension.
        if stem.is_empty() {
            return None;
        }
        Some(match end {
            #[cfg(feature = "syntax-javascript")]
            "js" | "mjs" | "cjs" | "jsx" => Self::JavaScript,
            #[cfg(feature = "syntax-json")]
            "json" => Self::Json,
            #[cfg(feature = "syntax-python")]
            "py" | "pyi" => Self::Python,
            #[cfg(feature = "syntax-rust")]
            "rs" => Self::Rust,
            #[cfg(feature = "syntax-toml")]
            "toml" => Self::Toml,
            #[cfg(feature = "syntax-javascript")]
            "tsx" => Self::Tsx,
            #[cfg(feature = "syntax-javascript")]
            "ts" | "mts" | "cts" => Self::TypeScript,
            _ => return None,
        })
    }

    pub(super) fn grammar(self) -> tree_sitter::Language {
        match self {
            #[cfg(feature = "syntax-javascript")]
            Self::JavaScript => tree_sitter_javascript::LANGUAGE.into(),
            #[cfg(feature = "syntax-json")]
            Self::Json => tree_sitter_json::LANGUAGE.into(),
            #[cfg(feature = "syntax-python")]
            Self::Python => tree_sitter_python::LANGUAGE.into(),
            #[cfg(feature = "syntax-rust")]
            Self::Rust => tree_sitter_rust::LANGUAGE.into(),
            #[cfg(feature = "syntax-toml")]
            Self::Toml => tree_sitter_toml_ng::LANGUAGE.into(),
            #[cfg(feature = "syntax-javascript")]
            Self::Tsx => tree_sitter_typescript::LANGUAGE_TSX.into(),
            #[cfg(feature = "syntax-javascript")]
            Self::TypeScript => tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into(),
        }
    }
}

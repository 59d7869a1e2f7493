//! One tool, ready to be called. An entry is made once, and shared by every catalog that contains the tool.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use super::adapted::{AdaptedInput, adapt};
use super::promise::promises_more;
use super::search::Words;
use crate::dynamic::Body;
use toolwright_core::adaptation::Adaptation;
use toolwright_core::input::Keys;
use toolwright_core::schema::SchemaProblem;
use toolwright_core::spec::Spec;
use toolwright_core::tool::Definition;
use toolwright_journal::arguments::fingerprint;
use toolwright_schema::repair::Repairer;
use toolwright_schema::schema::Checker;

pub(crate) struct Entry {
    /// Unique, so that the plan of a tool is not used for another tool of the same name.
    pub(crate) id: u64,
    pub(crate) name: Arc<str>,
    pub(crate) spec: &'static Spec,
    pub(crate) definition: Arc<Definition>,
    pub(crate) keys: Arc<Keys>,
    /// The handler of a run-time tool; `None` for other tools, whose handler is in `spec`.
    pub(crate) body: Option<Arc<Body>>,
    pub(crate) origin: Origin,
    /// Converts the input of a call into the tool's own form; `None` if the application has not changed the arguments.
    pub(crate) adapted: Option<AdaptedInput>,
    /// The definition as the tool's author wrote it, and the application's changes to it.
    written: (Arc<Definition>, Adaptation),
    output: OnceLock<Option<Checker>>,
    promises_more: OnceLock<bool>,
    words: OnceLock<Words>,
    ladder: OnceLock<Option<Repairer>>,
    fingerprint: OnceLock<String>,
}

/// Who registered a tool: the application or a resolver.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    /// The application registered the tool by its name.
    Application,
    /// A resolver provided the tool at run time, so a person should check its calls.
    Resolver,
}

impl Entry {
    pub(crate) fn new(
        spec: &'static Spec,
        written: Arc<Definition>,
        adaptation: Adaptation,
        keys: Arc<Keys>,
        body: Option<Arc<Body>>,
        origin: Origin,
    ) -> Result<Self, SchemaProblem> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let (mut definition, mut adapted) = (Arc::clone(&written), None);
        if !adaptation.is_empty() {
            adapted = adapt(Arc::make_mut(&mut definition), &adaptation)?;
        }
        Ok(Self {
            id: NEXT.fetch_add(1, Ordering::Relaxed),
            name: definition.name.as_str().into(),
            spec,
            definition,
            keys,
            body,
            origin,
            adapted,
            written: (written, adaptation),
            output: OnceLock::new(),
            promises_more: OnceLock::new(),
            words: OnceLock::new(),
            ladder: OnceLock::new(),
            fingerprint: OnceLock::new(),
        })
    }

    /// Adapts the tool once more.
    pub(crate) fn adapted(&self, adaptation: &Adaptation) -> Result<Self, SchemaProblem> {
        let (written, before) = &self.written;
        let changes = before.clone().and(adaptation.clone());
        let (keys, body) = (Arc::clone(&self.keys), self.body.clone());
        Self::new(self.spec, Arc::clone(written), changes, keys, body, self.origin)
    }

    /// Returns the checker of the output schema, which is made at the first use.
    pub(crate) fn output(&self) -> Option<&Checker> {
        let made = self.output.get_or_init(|| {
            self.definition.output_schema.as_ref().and_then(|it| Checker::new(it).ok())
        });
        made.as_ref()
    }

    /// Returns whether a result of the right Rust type may still break the output schema. This is always so for a
    /// run-time tool, because its output schema is independent of the type of its result.
    #[inline]
    pub(crate) fn promises_more(&self) -> bool {
        *self.promises_more.get_or_init(|| {
            let schema = self.definition.output_schema.as_ref();
            self.body.is_some() || schema.is_some_and(promises_more)
        })
    }

    /// Returns the repairer of input, which is made when input is first refused.
    pub(crate) fn ladder(&self) -> Option<&Repairer> {
        let made = self.ladder.get_or_init(|| {
            let Definition { name, input_schema, parameters, .. } = &*self.definition;
            let aliases = parameters.iter().map(|it| (it.name.as_str(), it.aliases));
            let made = Repairer::new(input_schema, aliases).map(|it| it.named(name));
            made.inspect_err(|error| {
                tracing::error!(tool = name, error, "no input of the tool can be repaired")
            })
            .ok()
        });
        made.as_ref()
    }

    /// Returns the fingerprint to which decisions about the tool's calls are bound. It is computed at the first use.
    pub(crate) fn fingerprint(&self) -> &str {
        self.fingerprint.get_or_init(|| fingerprint(&self.definition))
    }

    /// Returns the tool's words for the search, which are computed at the first use.
    pub(crate) fn words(&self) -> &Words {
        self.words.get_or_init(|| Words::of(&self.definition))
    }
}

//! A tool that an application registers, with the application's changes to the tool.

use std::any::Any;
use std::fmt;

use serde_json::Value;

use crate::adaptation::Adaptation;
use crate::spec::{Handle, Location};
use crate::tool::{Danger, Definition, Exposure, Metadata};

/// A tool to register, with changes of the application: another name, another description, a group, metadata. Made from
/// a [`Handle`] or a `DynamicTool`.
///
/// ```
/// use toolwright::{Registry, tool};
///
/// /// Reads a file.
/// #[tool(effect = read)]
/// async fn read_file(
///     /// Which.
///     path: String,
/// ) -> String {
///     path
/// }
///
/// /// Lists a folder.
/// #[tool(effect = read)]
/// async fn list_files() {}
///
/// let registry = Registry::of([
///     READ_FILE.renamed("cat").described("Prints a file."),
///     LIST_FILES.prefixed("fs_").grouped("fs"),
///     // A plain handle next to others.
///     READ_FILE.into(),
/// ])?;
/// assert_eq!(registry.catalog().names().collect::<Vec<_>>(), ["cat", "fs_list_files", "read_file"]);
/// # Ok::<(), toolwright::RegistryError>(())
/// ```
#[must_use = "a registration does nothing until it is given to a registry"]
pub struct Registration {
    source: Source,
    name: String,
    description: Option<String>,
    group: Option<String>,
    tags: Vec<String>,
    metadata: Metadata,
    adaptation: Adaptation,
}

/// The tool that a [`Registration`] registers.
#[doc(hidden)]
pub enum Source {
    Handle(Handle),
    /// A run-time tool. Its type is defined in the executor's crate, so it is stored without its type.
    Made(Location, Box<dyn Any + Send + Sync>),
}

impl Registration {
    /// Registers the tool under this name.
    pub fn renamed(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Registers the tool with this prefix before its name.
    pub fn prefixed(mut self, prefix: impl AsRef<str>) -> Self {
        self.name.insert_str(0, prefix.as_ref());
        self
    }

    /// Replaces the description that models read.
    pub fn described(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }

    /// Registers the tool in this group instead of the group that the tool declares.
    pub fn grouped(mut self, group: impl Into<String>) -> Self {
        self.group = Some(group.into());
        self
    }

    /// Adds a tag to the tool.
    pub fn tagged(mut self, tag: impl Into<String>) -> Self {
        self.tags.push(tag.into());
        self
    }

    /// Attaches a value of the application's own type. [`Definition::metadata`](crate::Definition::metadata) finds it
    /// by its type. A second value of the same type replaces the first.
    pub fn with<T: Send + Sync + 'static>(mut self, metadata: T) -> Self {
        self.metadata.put(metadata);
        self
    }

    /// Changes what the tool's author defined, such as its danger, its arguments, or whether it needs approval. The
    /// changes apply after those of earlier adaptations.
    pub fn adapted(mut self, adaptation: Adaptation) -> Self {
        self.adaptation = self.adaptation.and(adaptation);
        self
    }

    /// Sets whether models see the tool: see [`Adaptation::exposed`].
    pub fn exposed(self, exposure: Exposure) -> Self {
        self.adapted(Adaptation::new().exposed(exposure))
    }

    /// Raises the danger of each call to at least this level: see [`Adaptation::danger_at_least`].
    pub fn danger_at_least(self, danger: Danger) -> Self {
        self.adapted(Adaptation::new().danger_at_least(danger))
    }

    /// Makes each call of the tool need approval, for this reason: see [`Adaptation::asking`].
    pub fn asking(self, reason: impl Into<String>) -> Self {
        self.adapted(Adaptation::new().asking(reason))
    }

    /// Gives an argument a fixed value, and hides the argument from the model: see [`Adaptation::preset`].
    pub fn preset(self, argument: impl Into<String>, value: impl Into<Value>) -> Self {
        self.adapted(Adaptation::new().preset(argument, value))
    }

    /// Gives an argument another name: see [`Adaptation::argument_renamed`].
    pub fn argument_renamed(self, from: impl Into<String>, to: impl Into<String>) -> Self {
        self.adapted(Adaptation::new().argument_renamed(from, to))
    }

    /// Replaces the description of an argument: see [`Adaptation::argument_described`].
    pub fn argument_described(self, argument: impl Into<String>, text: impl Into<String>) -> Self {
        self.adapted(Adaptation::new().argument_described(argument, text))
    }

    /// Returns the name by which models call the tool.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the location in the source where the tool is declared.
    pub fn location(&self) -> Location {
        match &self.source {
            Source::Handle(handle) => handle.location(),
            Source::Made(location, _) => *location,
        }
    }
}

/// Values that a builder accepts as a tool: the constant that `#[tool]` makes for a function, a [`Registration`], or a
/// run-time tool.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no tool",
    label = "expected the constant of a tool",
    note = "`#[tool]` makes a constant of a function, by the function's name in capitals: `PRICE_OF` of `price_of`"
)]
pub trait IntoTool {
    /// Converts the value to a registration.
    fn into_tool(self) -> Registration;
}

#[diagnostic::do_not_recommend]
impl<T: Into<Registration>> IntoTool for T {
    fn into_tool(self) -> Registration {
        self.into()
    }
}

impl From<Handle> for Registration {
    fn from(handle: Handle) -> Self {
        Self::new(handle.name().to_owned(), Source::Handle(handle))
    }
}

impl Registration {
    #[doc(hidden)]
    pub fn new(name: String, source: Source) -> Self {
        Self {
            source,
            name,
            description: None,
            group: None,
            tags: Vec::new(),
            metadata: Metadata::default(),
            adaptation: Adaptation::default(),
        }
    }

    /// Splits the registration into the tool and the changes to it.
    #[doc(hidden)]
    #[must_use]
    pub fn into_source(self) -> (Source, Changes) {
        let Self { source, name, description, group, tags, metadata, adaptation } = self;
        (source, Changes { name, description, group, tags, metadata, adaptation })
    }
}

/// An application's changes to a tool.
#[doc(hidden)]
pub struct Changes {
    name: String,
    description: Option<String>,
    group: Option<String>,
    tags: Vec<String>,
    metadata: Metadata,
    adaptation: Adaptation,
}

impl Changes {
    /// Applies the changes to a definition, and returns the adaptation, which it does not apply.
    pub fn apply(self, definition: &mut Definition) -> Adaptation {
        definition.name = self.name;
        if let Some(description) = self.description {
            definition.description = description;
        }
        if self.group.is_some() {
            definition.group = self.group;
        }
        for tag in self.tags {
            if !definition.tags.contains(&tag) {
                definition.tags.push(tag);
            }
        }
        definition.metadata.extend(self.metadata);
        self.adaptation
    }
}

/// The most used methods of [`Registration`], for a plain handle.
impl Handle {
    /// Registers the tool under this name.
    pub fn renamed(self, name: impl Into<String>) -> Registration {
        Registration::from(self).renamed(name)
    }

    /// Registers the tool with this prefix before its name.
    pub fn prefixed(self, prefix: impl AsRef<str>) -> Registration {
        Registration::from(self).prefixed(prefix)
    }

    /// Registers the tool with this description instead of its own.
    pub fn described(self, description: impl Into<String>) -> Registration {
        Registration::from(self).described(description)
    }

    /// Registers the tool in this group instead of the group that the tool declares.
    pub fn grouped(self, group: impl Into<String>) -> Registration {
        Registration::from(self).grouped(group)
    }

    /// Registers the tool with one more tag.
    pub fn tagged(self, tag: impl Into<String>) -> Registration {
        Registration::from(self).tagged(tag)
    }

    /// Registers the tool with changes to what its author defined.
    pub fn adapted(self, adaptation: Adaptation) -> Registration {
        Registration::from(self).adapted(adaptation)
    }

    /// Registers the tool with a value of the application's own type.
    pub fn with<T: Send + Sync + 'static>(self, metadata: T) -> Registration {
        Registration::from(self).with(metadata)
    }
}

impl fmt::Debug for Registration {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Registration({} at {})", self.name, self.location())
    }
}

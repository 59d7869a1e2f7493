//! A tool on its way into a registry, with what the application says of it there.

use std::any::Any;
use std::fmt;

use crate::spec::{Handle, Location};
use crate::tool::{Definition, Metadata};

/// A tool as it is to be registered: under another name, with another description, with metadata of the
/// application. Made of a [`Handle`] or a `DynamicTool`.
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
}

/// What is registered.
#[doc(hidden)]
pub enum Source {
    Handle(Handle),
    /// A tool made at run time; the executor that runs it knows how to read it.
    Made(Location, Box<dyn Any + Send + Sync>),
}

impl Registration {
    /// Under this name.
    pub fn renamed(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Under its name with this before it.
    pub fn prefixed(mut self, prefix: impl AsRef<str>) -> Self {
        self.name.insert_str(0, prefix.as_ref());
        self
    }

    /// Replaces the description that models read.
    pub fn described(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }

    /// Puts the tool in this group instead of its own.
    pub fn grouped(mut self, group: impl Into<String>) -> Self {
        self.group = Some(group.into());
        self
    }

    /// Adds a tag.
    pub fn tagged(mut self, tag: impl Into<String>) -> Self {
        self.tags.push(tag.into());
        self
    }

    /// Attaches a value of the application's own, found again by its type with
    /// [`Definition::metadata`](crate::Definition::metadata). A second value of a type replaces the first.
    pub fn with<T: Send + Sync + 'static>(mut self, metadata: T) -> Self {
        self.metadata.put(metadata);
        self
    }

    /// Returns the name that models will call.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns where the tool is written.
    pub fn location(&self) -> Location {
        match &self.source {
            Source::Handle(handle) => handle.location(),
            Source::Made(location, _) => *location,
        }
    }
}

/// What a builder takes for a tool: the constant that `#[tool]` makes of a function, a [`Registration`], or a run-time tool.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no tool",
    label = "expected the constant of a tool",
    note = "`#[tool]` makes a constant of a function, by the function's name in capitals: `PRICE_OF` of `price_of`"
)]
pub trait IntoTool {
    /// Makes the registration.
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
        }
    }

    /// Splits it into the tool and what changes of it.
    #[doc(hidden)]
    #[must_use]
    pub fn into_source(self) -> (Source, Changes) {
        let Self { source, name, description, group, tags, metadata } = self;
        (source, Changes { name, description, group, tags, metadata })
    }
}

/// What an application says of a tool instead of its own words.
#[doc(hidden)]
pub struct Changes {
    name: String,
    description: Option<String>,
    group: Option<String>,
    tags: Vec<String>,
    metadata: Metadata,
}

impl Changes {
    /// Makes the changes.
    pub fn apply(self, definition: &mut Definition) {
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
    }
}

/// Words of a registration, said of a plain handle.
impl Handle {
    /// Registers the tool under this name.
    pub fn renamed(self, name: impl Into<String>) -> Registration {
        Registration::from(self).renamed(name)
    }

    /// Registers the tool with this before its name.
    pub fn prefixed(self, prefix: impl AsRef<str>) -> Registration {
        Registration::from(self).prefixed(prefix)
    }

    /// Registers the tool with this description.
    pub fn described(self, description: impl Into<String>) -> Registration {
        Registration::from(self).described(description)
    }

    /// Registers the tool in this group.
    pub fn grouped(self, group: impl Into<String>) -> Registration {
        Registration::from(self).grouped(group)
    }

    /// Registers the tool with one more tag.
    pub fn tagged(self, tag: impl Into<String>) -> Registration {
        Registration::from(self).tagged(tag)
    }

    /// Registers the tool with a value of the application's own.
    pub fn with<T: Send + Sync + 'static>(self, metadata: T) -> Registration {
        Registration::from(self).with(metadata)
    }
}

impl fmt::Debug for Registration {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Registration({} at {})", self.name, self.location())
    }
}

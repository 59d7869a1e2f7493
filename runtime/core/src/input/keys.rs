//! The keys of a tool's input, prepared for comparing them with raw text.
//!
//! - There are at most 64 distinct keys, so that a set of keys fits into a 64-bit word.

use std::{borrow::Cow, fmt};

use super::problem::Problem;
use super::problem::Problems;
use super::problem::Rule;
use crate::scalar::Scalars;

/// A further check of a value's raw text, made after the value was read or refused. The pointers of its problems are
/// relative to the value.
pub type Check = Box<dyn Fn(&str) -> Result<(), Vec<Problem>> + Send + Sync>;

/// One key of a tool's input.
///
/// ```
/// # use toolwright::__private0::{Key, Keys};
/// let keys = Keys::new([Key::required("path", "a string"), Key::optional("limit", "an integer")])?;
/// assert_eq!(keys.len(), 2);
/// # Ok::<(), toolwright::__private0::InvalidKeys>(())
/// ```
pub struct Key {
    name: Cow<'static, str>,
    expected: Cow<'static, str>,
    required: bool,
    check: Option<Check>,
    scalars: Option<Scalars>,
    /// The name of the key as a JSON string, with its quotes.
    quoted: Box<str>,
    /// The first sixteen bytes of the quoted name as a number, and a mask for names that are shorter.
    head: u128,
    mask: u128,
}

impl Key {
    /// Describes a required key; `expected` describes the type of its value, such as "a string".
    pub fn required(
        name: impl Into<Cow<'static, str>>,
        expected: impl Into<Cow<'static, str>>,
    ) -> Self {
        Self::new(name.into(), expected.into(), true)
    }

    /// Describes an optional key; `expected` describes the type of its value.
    pub fn optional(
        name: impl Into<Cow<'static, str>>,
        expected: impl Into<Cow<'static, str>>,
    ) -> Self {
        Self::new(name.into(), expected.into(), false)
    }

    /// Adds a check of the value's raw text, which runs after the value was read.
    #[must_use]
    pub fn checked(
        mut self,
        check: impl Fn(&str) -> Result<(), Vec<Problem>> + Send + Sync + 'static,
    ) -> Self {
        self.check = Some(Box::new(check));
        self
    }

    /// Accepts scalars of other types, if they can mean only one value of these types and the input may be repaired.
    #[must_use]
    #[doc(hidden)]
    pub fn with_scalars(mut self, scalars: Option<Scalars>) -> Self {
        self.scalars = scalars;
        self
    }

    pub(super) fn scalars(&self) -> Option<Scalars> {
        self.scalars
    }

    /// Returns the key's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the description of the values that the key expects.
    #[must_use]
    pub fn expected(&self) -> &str {
        &self.expected
    }

    #[inline]
    pub(super) fn check(&self) -> Option<&Check> {
        self.check.as_ref()
    }

    /// Lists all problems that the schema finds with a value that its type has refused. `None` if the schema finds no
    /// problem, or none that it describes better than the type does. The type itself reports only its first problem, in
    /// the words of the library that parses it.
    #[cold]
    pub(super) fn in_words_of_schema(&self, text: &str, first: &Problem) -> Option<Vec<Problem>> {
        // The schema check sees only the last of two equal keys, so it cannot report them.
        if first.rule == Rule::DuplicateKey {
            return None;
        }
        let mut problems = self.check()?(text).err()?;
        let is_other = |it: &Problem| matches!(it.rule, Rule::Syntax | Rule::Other);
        if problems.is_empty() || problems.iter().any(is_other) {
            return None;
        }
        // The reader's problem quotes a number with all of its digits, so its quotation replaces the schema's.
        for problem in problems.iter_mut().filter(|it| it.pointer == first.pointer) {
            if !first.found.is_empty() && matches!(problem.rule, Rule::Range | Rule::Type) {
                problem.found.clone_from(&first.found);
            }
        }
        Some(problems)
    }

    fn new(name: Cow<'static, str>, expected: Cow<'static, str>, required: bool) -> Self {
        let quoted = serde_json::Value::from(&*name).to_string().into_boxed_str();
        let first = |byte: fn(u8) -> u8| {
            let bytes = quoted.bytes().take(16).enumerate();
            bytes.fold(0, |word, (place, it)| word | u128::from(byte(it)) << (8 * place))
        };
        let (head, mask) = (first(|byte| byte), first(|_| 0xFF));
        Self { name, expected, required, check: None, scalars: None, quoted, head, mask }
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Key")
            .field("name", &self.name)
            .field("expected", &self.expected)
            .field("required", &self.required)
            .field("checked", &self.check.is_some())
            .finish()
    }
}

/// The keys of a tool's input in declaration order.
#[derive(Debug)]
pub struct Keys {
    keys: Box<[Key]>,
    required: u64,
}

impl Keys {
    /// The maximum number of keys of one input.
    pub const MOST: usize = 64;

    /// Prepares keys for reading; `keys` are in declaration order.
    ///
    /// # Errors
    /// When there are more than [`MOST`](Self::MOST) keys, or when two keys have the same name.
    pub fn new(keys: impl IntoIterator<Item = Key>) -> Result<Self, InvalidKeys> {
        let keys: Box<[Key]> = keys.into_iter().collect();
        if keys.len() > Self::MOST {
            return Err(InvalidKeys::TooMany(keys.len()));
        }
        let mut required = 0;
        for (index, key) in keys.iter().enumerate() {
            if keys.iter().take(index).any(|earlier| earlier.name == key.name) {
                return Err(InvalidKeys::Repeated(key.name.clone()));
            }
            required |= u64::from(key.required) << index;
        }
        Ok(Self { keys, required })
    }

    /// Returns an iterator over the keys in the order of their declaration.
    pub fn iter(&self) -> std::slice::Iter<'_, Key> {
        self.keys.iter()
    }

    /// Returns the number of keys.
    #[must_use]
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Returns whether the input has no keys.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// Checks the text of an input that is a single value, not an object of parameters.
    pub(crate) fn check_whole(&self, text: &str) -> Result<(), Problems> {
        let check = self.keys.first().and_then(Key::check);
        match check.map_or(Ok(()), |check| check(text)) {
            Ok(()) => Ok(()),
            Err(problems) => Problems::new(problems).map_or(Ok(()), Err),
        }
    }

    /// Lists the problems as [`Key::in_words_of_schema`] does, for an input that is a single value.
    pub(super) fn whole_in_words_of_schema(&self, text: &str, first: &Problem) -> Option<Problems> {
        Problems::new(self.keys.first()?.in_words_of_schema(text, first)?)
    }

    /// Returns whether the value of any key has a further check.
    pub(super) fn are_checked(&self) -> bool {
        self.keys.iter().any(|key| key.check.is_some())
    }

    /// Returns the required keys, as a set with one bit for each key.
    pub(super) fn required(&self) -> u64 {
        self.required
    }

    pub(super) fn get(&self, index: usize) -> Option<&Key> {
        self.keys.get(index)
    }

    /// Returns the length in bytes of the quoted key at `index`, if `text` begins with that key.
    #[inline]
    pub(super) fn match_in_place(&self, index: usize, text: &[u8]) -> Option<usize> {
        let key = self.keys.get(index)?;
        let quoted = key.quoted.as_bytes();
        // Sixteen bytes are compared in one step. Only a longer key, or the end of the text, needs another comparison.
        let is_here = match text.split_first_chunk::<16>() {
            Some((start, rest)) => {
                (u128::from_le_bytes(*start) ^ key.head) & key.mask == 0
                    && quoted.get(16..).is_none_or(|tail| rest.starts_with(tail))
            }
            None => text.starts_with(quoted),
        };
        is_here.then_some(quoted.len())
    }

    pub(super) fn find(&self, name: &str) -> Option<usize> {
        self.keys.iter().position(|key| key.name == name)
    }
}

/// Why keys cannot be a tool's input.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum InvalidKeys {
    /// The input has more than 64 keys.
    TooMany(usize),
    /// Two keys have the same name.
    Repeated(Cow<'static, str>),
}
crate::debug_as_sentence!(InvalidKeys);

impl fmt::Display for InvalidKeys {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooMany(count) => write!(out, "{count} keys, expected at most {}", Keys::MOST),
            Self::Repeated(name) => write!(out, "key `{name}` is given twice"),
        }
    }
}

impl std::error::Error for InvalidKeys {}

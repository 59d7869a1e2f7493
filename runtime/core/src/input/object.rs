//! The loop that reads the input object of every tool. It fills typed slots, and reports all problems together.
//!
//! - After a problem, the loop skips the value and continues with the next key. A problem of syntax or depth ends the
//!   loop, and then no key is reported as missing.
//! - The key that is expected next is compared with the raw text, before anything is decoded.
//! - Problems are reported in the order of the input. Missing keys follow in the order of their declaration.

use std::cell::RefCell;
use std::fmt;

use serde::{
    Deserializer,
    de::{self, DeserializeOwned, Visitor},
    forward_to_deserialize_any,
};

use super::{
    fault::Fault,
    keys::{Key, Keys},
    problem::{Problem, Problems, Rule},
    reader::Reader,
    second::reread,
};
use crate::repairs::Change;

/// Typed slots for a tool's input. The reader fills them one key at a time. Generated code implements this trait.
pub trait Slots {
    /// Reads the value of the key at `index` and stores it, usually with [`fill`].
    ///
    /// The reader calls this function only for indices of the [`Keys`]. If the value is refused, the reader may call
    /// the function again for the same index, with another reading of the value.
    ///
    /// # Errors
    /// The fault of the value. Its pointer is relative to the value.
    fn put(&mut self, index: usize, reader: &mut Reader<'_>) -> Result<(), Fault>;
}

/// The repairs that were made during reading; usually there are none.
#[doc(hidden)]
pub type Changes = RefCell<Option<Vec<Change>>>;

/// The maximum number of problems that are described, not counting missing keys and a problem that ends the reading.
const MOST_PROBLEMS: usize = 100;

/// Reads a tool's input, an object with `keys`, into `slots`.
///
/// ```
/// # use toolwright::__private0::{Fault, Key, Keys, Reader, Slots, fill, read_object};
/// #[derive(Default)]
/// struct Input(Option<String>, Option<u32>);
///
/// impl Slots for Input {
///     fn put(&mut self, index: usize, reader: &mut Reader<'_>) -> Result<(), Fault> {
///         match index {
///             0 => fill(&mut self.0, reader),
///             _ => fill(&mut self.1, reader),
///         }
///     }
/// }
///
/// let keys = Keys::new([Key::required("path", "a string"), Key::optional("limit", "an integer")])?;
/// let mut input = Input::default();
/// read_object(r#"{"path": "a.txt"}"#, &keys, &mut input)?;
/// assert_eq!(input.0.as_deref(), Some("a.txt"));
///
/// let problems = read_object(r#"{"limit": "ten", "pth": "a.txt"}"#, &keys, &mut Input::default());
/// assert_eq!(
///     problems.map_err(|problems| problems.to_string()),
///     Err("/limit: found \"ten\", expected an integer\n\
///          /pth: unknown key, expected one of \"path\", \"limit\"; did you mean \"path\"?\n\
///          /path: missing, expected a string".to_owned()),
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// The problems of the input: at most 100, and besides them the missing keys or the problem that ended the reading.
/// After an error the slots are only partly filled.
pub fn read_object(text: &str, keys: &Keys, slots: &mut dyn Slots) -> Result<(), Problems> {
    read_repairing(text, keys, slots, None)
}

/// Reads a tool's input. If `changes` is given, a scalar of the wrong type that can have only one meaning is read with
/// that meaning, and the repair is recorded in `changes`. The recorded repairs are valid only if the input is accepted.
#[inline]
#[doc(hidden)]
pub fn read_repairing(
    text: &str,
    keys: &Keys,
    slots: &mut dyn Slots,
    changes: Option<&Changes>,
) -> Result<(), Problems> {
    let mut scan =
        Scan { reader: Reader::new(text), keys, changes, given: 0, problems: Vec::new() };
    match scan.run(slots) {
        Ok(()) if scan.problems.is_empty() && scan.missing() == 0 => Ok(()),
        end => scan.report(end),
    }
}

/// Reads the value of a parameter into its slot.
///
/// # Errors
/// The fault of the value. Then the slot is unchanged.
#[inline]
pub fn fill<T: DeserializeOwned>(
    slot: &mut Option<T>,
    reader: &mut Reader<'_>,
) -> Result<(), Fault> {
    *slot = Some(reader.read_parameter()?);
    Ok(())
}

/// Returns the value that a type has for an absent key: `Some(None)` for an [`Option`], even behind an alias, and
/// `None` for a type that needs a value.
///
/// ```
/// # use toolwright::__private0::absent;
/// type Limit = Option<u32>;
/// assert_eq!(absent::<Limit>(), Some(None));
/// assert_eq!(absent::<u32>(), None);
/// ```
#[must_use]
pub fn absent<T: DeserializeOwned>() -> Option<T> {
    T::deserialize(Nothing).ok()
}

struct Scan<'k, 'de> {
    reader: Reader<'de>,
    keys: &'k Keys,
    changes: Option<&'k Changes>,
    /// One bit for each key, which is set once the input has given the key.
    given: u64,
    problems: Vec<Problem>,
}

impl Scan<'_, '_> {
    /// Reads the whole text. An error means that no more of the text can be read.
    #[inline]
    fn run(&mut self, slots: &mut dyn Slots) -> Result<(), Fault> {
        if self.reader.peek() != Some(b'{') {
            return Err(self.reader.mismatch_in_words("an object".to_owned()));
        }
        self.reader.open()?;
        let mut first = true;
        let mut next = 0;
        while self.reader.next(first, b'}')? {
            first = false;
            let rest = self.reader.text.as_bytes().get(self.reader.position..).unwrap_or_default();
            let index = match self.keys.match_in_place(next, rest) {
                Some(length) => {
                    self.reader.position += length;
                    Ok(next)
                }
                None => self.find()?,
            };
            self.reader.colon()?;
            match index {
                Ok(index) => {
                    next = index + 1;
                    self.put(index, slots)?;
                }
                Err(unknown) => {
                    self.tell(unknown);
                    self.reader.skip_value()?;
                }
            }
        }
        self.reader.close();
        self.reader.finish()
    }

    /// Finds the index of the next key, if it is not the key that was expected next. For an unknown key, returns the
    /// fault; the fault is `None` if the maximum number of problems is reached.
    fn find(&mut self) -> Result<Result<usize, Option<Fault>>, Fault> {
        let text = self.reader.key()?;
        let key = self.reader.resolve(text);
        Ok(match self.keys.find(key) {
            Some(index) => Ok(index),
            None if self.problems.len() >= MOST_PROBLEMS => Err(None),
            None => Err(Some(Fault::unknown_key(key, self.keys.iter().map(Key::name)))),
        })
    }

    #[inline]
    fn put(&mut self, index: usize, slots: &mut dyn Slots) -> Result<(), Fault> {
        let bit = 1 << index;
        if self.given & bit != 0 {
            return self.skip_repeated(index);
        }
        self.given |= bit;
        let (start, depth) = (self.reader.position, self.reader.depth);
        if let Err(fault) = slots.put(index, &mut self.reader) {
            return self.skip_refused(index, slots, fault, start, depth);
        }
        self.hold_to_schema(index, self.reader.since(start));
        Ok(())
    }

    /// Checks the text of a value against its schema. Only needed if the schema has constraints that the type does not
    /// enforce.
    #[inline]
    fn hold_to_schema(&mut self, index: usize, text: &str) {
        if let Some(check) = self.keys.get(index).and_then(Key::check)
            && let Err(problems) = check(text)
        {
            self.report_problems(index, problems);
        }
    }

    #[cold]
    fn skip_repeated(&mut self, index: usize) -> Result<(), Fault> {
        self.tell(Some(Fault::duplicate_key(self.name(index))));
        self.reader.skip_value()?;
        Ok(())
    }

    /// Skips a value that its slot refused. The value may still be accepted: by a lenient reading or by a repair.
    #[cold]
    fn skip_refused(
        &mut self,
        index: usize,
        slots: &mut dyn Slots,
        fault: Fault,
        start: usize,
        depth: u8,
    ) -> Result<(), Fault> {
        let within = fault.problem().clone();
        let fault = fault.at_key(self.name(index));
        self.reader.rewind(start, depth);
        let ends = matches!(fault.problem().rule, Rule::Syntax | Rule::Depth);
        match self.reader.skip_value() {
            Err(_) if ends => Err(fault),
            Ok(text) if self.takes_at_last(index, text, slots) => {
                self.hold_to_schema(index, text);
                Ok(())
            }
            Ok(text) if self.repairs(index, text, slots) => Ok(()),
            Ok(text) => {
                match self.keys.get(index).and_then(|key| key.in_words_of_schema(text, &within)) {
                    Some(problems) => self.report_problems(index, problems),
                    None => self.tell(Some(fault)),
                }
                Ok(())
            }
            Err(unreadable) => {
                self.tell(Some(fault));
                Err(unreadable)
            }
        }
    }

    /// Returns whether a second, more lenient reading accepts a refused value. The schema then decides on the value.
    fn takes_at_last(&self, index: usize, text: &str, slots: &mut dyn Slots) -> bool {
        let is_checked = self.keys.get(index).is_some_and(|key| key.check().is_some());
        is_checked && reread(text, |reader| slots.put(index, reader)).is_some()
    }

    /// Returns whether a value of the wrong type has exactly one meaning that the slot accepts. If so, fills the slot
    /// with that meaning.
    fn repairs(&self, index: usize, text: &str, slots: &mut dyn Slots) -> bool {
        let Some(changes) = self.changes else { return false };
        let Some(key) = self.keys.get(index) else { return false };
        let Some((meant, rule)) = key.scalars().and_then(|it| it.reading(text)) else {
            return false;
        };
        let mut reader = Reader::new(&meant);
        if slots.put(index, &mut reader).is_err() || reader.finish().is_err() {
            return false;
        }
        let mut change = Change { pointer: String::new(), rule, from: text.to_owned(), to: meant };
        Problem::prefix_pointer(&mut change.pointer, key.name());
        changes.borrow_mut().get_or_insert_default().push(change);
        true
    }

    #[cold]
    fn report_problems(&mut self, index: usize, problems: Vec<Problem>) {
        for problem in problems {
            self.tell(Some(Fault::from(problem).at_key(self.name(index))));
        }
    }

    fn name(&self, index: usize) -> &str {
        self.keys.get(index).map_or("", Key::name)
    }

    fn missing(&self) -> u64 {
        self.keys.required() & !self.given
    }

    #[cold]
    fn tell(&mut self, fault: Option<Fault>) {
        if let Some(fault) = fault
            && self.problems.len() < MOST_PROBLEMS
        {
            self.problems.push(fault.into_problem());
        }
    }

    #[cold]
    fn report(mut self, end: Result<(), Fault>) -> Result<(), Problems> {
        match end {
            Err(fault) => self.problems.push(fault.into_problem()),
            Ok(()) => {
                let missing = self.missing();
                for (index, key) in self.keys.iter().enumerate() {
                    if missing >> index & 1 == 1 {
                        let mut problem = Problem::new(Rule::MissingKey, "", key.expected());
                        problem.prefix(key.name());
                        self.problems.push(problem);
                    }
                }
            }
        }
        Problems::new(self.problems).map_or(Ok(()), Err)
    }
}

/// An absent key as a deserializer: only an option can be read from it.
struct Nothing;

impl<'de> Deserializer<'de> for Nothing {
    type Error = RequiredKey;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, RequiredKey> {
        Err(RequiredKey)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, RequiredKey> {
        visitor.visit_none()
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit
        unit_struct newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

/// The error of a type that needs a value.
#[derive(Debug)]
struct RequiredKey;

impl fmt::Display for RequiredKey {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a value is required")
    }
}

impl std::error::Error for RequiredKey {}

impl de::Error for RequiredKey {
    fn custom<T: fmt::Display>(_: T) -> Self {
        Self
    }
}

//! Formats an error that `main` returns for people: the message and its causes.

use std::error::Error;
use std::fmt;

/// Writes an error's message, followed by each cause whose text is not already part of the output.
///
/// # Errors
///
/// The errors of the formatter.
pub fn write_with_causes(error: &dyn Error, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
    let mut written = error.to_string();
    formatter.write_str(&written)?;
    let mut cause = error.source();
    while let Some(error) = cause {
        let sentence = error.to_string();
        if !written.contains(&sentence) {
            write!(formatter, ": {sentence}")?;
            written.push_str(&sentence);
        }
        cause = error.source();
    }
    Ok(())
}

/// Implements `Debug` of an error type as the message and its causes. `main` prints a returned error with `Debug`, and
/// a person needs a sentence rather than fields.
#[doc(hidden)]
#[macro_export]
macro_rules! debug_as_sentence {
    ($error:ty) => {
        impl ::std::fmt::Debug for $error {
            fn fmt(&self, formatter: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                $crate::error::write_with_causes(self, formatter)
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use crate::error::ToolError;

    #[derive(thiserror::Error)]
    #[error("the list cannot be read{}", if self.names_cause { format!(": {}", self.source) } else { String::new() })]
    struct ListError {
        names_cause: bool,
        source: std::num::ParseIntError,
    }
    crate::debug_as_sentence!(ListError);

    fn list(names_cause: bool) -> ListError {
        ListError { names_cause, source: "x".parse::<u8>().unwrap_err() }
    }

    #[test]
    fn each_cause_is_written_once() {
        let expected = "the list cannot be read: invalid digit found in string";
        assert_eq!(format!("{:?}", list(false)), expected);
        assert_eq!(format!("{:?}", list(true)), expected);
    }

    #[test]
    fn an_error_of_a_tool_is_a_sentence_with_its_causes() {
        let error = ToolError::new("unreadable", "the order cannot be read").caused_by(list(false));
        assert_eq!(
            format!("{error:?}"),
            "the order cannot be read: the list cannot be read: invalid digit found in string"
        );
    }
}

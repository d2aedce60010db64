//! The arguments of a call, as a model wrote them: checked, and told what was expected.

use serde_json::Value;

use super::output::refused;
use crate::toolbox::Outcome;

/// The arguments of one call.
#[derive(Debug, Clone, Copy)]
pub(super) struct Arguments<'a> {
    tool: &'a str,
    input: &'a Value,
    known: &'a [&'a str],
}

impl<'a> Arguments<'a> {
    /// Fails if it is no object, or has names that the tool does not know.
    pub(super) fn of(
        tool: &'a str,
        input: &'a Value,
        known: &'a [&'a str],
    ) -> Result<Arguments<'a>, Outcome> {
        let arguments = Arguments { tool, input, known };
        let Value::Object(given) = input else {
            return Err(arguments.expected("its arguments must be an object"));
        };
        match given.keys().find(|name| !known.contains(&name.as_str())) {
            None => Ok(arguments),
            Some(unknown) => Err(arguments.expected(&format!("there is no argument {unknown:?}"))),
        }
    }

    /// A text that must be there.
    pub(super) fn text(&self, name: &str) -> Result<&'a str, Outcome> {
        self.optional_text(name)?.ok_or_else(|| self.expected(&format!("{name} is missing")))
    }

    /// A text that may be left out.
    pub(super) fn optional_text(&self, name: &str) -> Result<Option<&'a str>, Outcome> {
        match self.input.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(other) => Err(self.wrong(name, "a text", other)),
        }
    }

    /// A whole number that may be left out; one in quotes is a number too.
    pub(super) fn number(&self, name: &str) -> Result<Option<u64>, Outcome> {
        let wrong = |given: &Value| Err(self.wrong(name, "a whole number from 0", given));
        match self.input.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(given @ Value::String(text)) => match text.trim().parse() {
                Ok(number) => Ok(Some(number)),
                Err(_) => wrong(given),
            },
            Some(given) => match (given.as_u64(), given.as_f64()) {
                (Some(number), _) => Ok(Some(number)),
                // Some models write 10.0.
                (None, Some(number)) if number >= 0.0 && number.fract() == 0.0 && number < 9e15 => {
                    Ok(Some(number as u64))
                }
                _ => wrong(given),
            },
        }
    }

    /// Yes or no; no if it is left out.
    pub(super) fn switch(&self, name: &str) -> Result<bool, Outcome> {
        match self.input.get(name) {
            None | Some(Value::Null) => Ok(false),
            Some(Value::Bool(is_on)) => Ok(*is_on),
            Some(Value::String(text)) if text == "true" || text == "false" => Ok(text == "true"),
            Some(other) => Err(self.wrong(name, "true or false", other)),
        }
    }

    fn wrong(&self, name: &str, wanted: &str, given: &Value) -> Outcome {
        let kind = match given {
            Value::Null => "null",
            Value::Bool(_) => "true or false",
            Value::Number(_) => "a number",
            Value::String(_) => "a text",
            Value::Array(_) => "a list",
            Value::Object(_) => "an object",
        };
        self.expected(&format!("{name} must be {wanted}, not {kind}"))
    }

    fn expected(&self, what: &str) -> Outcome {
        refused(format!("{}: {what}; it takes {}", self.tool, self.known.join(", ")))
    }
}

//! Filters from text, lists and JSON, checked at once.

use std::fmt;
use std::str::FromStr;

use serde_json::Value;

use crate::error::{Error, Result};

/// A comparison; its text is that of the reader API, in any letter case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names are those of the API")]
pub enum Operator {
    Eq,
    Ne,
    Lt,
    Lte,
    Gt,
    Gte,
    In,
    NotIn,
    IsNull,
    IsNotNull,
}

impl Operator {
    /// Every operator.
    pub const ALL: [Self; 10] = [
        Self::Eq,
        Self::Ne,
        Self::Lt,
        Self::Lte,
        Self::Gt,
        Self::Gte,
        Self::In,
        Self::NotIn,
        Self::IsNull,
        Self::IsNotNull,
    ];

    /// As the API spells it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Eq => "=",
            Self::Ne => "!=",
            Self::Lt => "<",
            Self::Lte => "<=",
            Self::Gt => ">",
            Self::Gte => ">=",
            Self::In => "IN",
            Self::NotIn => "NOT IN",
            Self::IsNull => "IS NULL",
            Self::IsNotNull => "IS NOT NULL",
        }
    }

    /// The operator that keeps the rows with a value which this one drops. Null matches neither, but under IS NULL.
    #[must_use]
    pub const fn negate(self) -> Self {
        match self {
            Self::Eq => Self::Ne,
            Self::Ne => Self::Eq,
            Self::Lt => Self::Gte,
            Self::Lte => Self::Gt,
            Self::Gt => Self::Lte,
            Self::Gte => Self::Lt,
            Self::In => Self::NotIn,
            Self::NotIn => Self::In,
            Self::IsNull => Self::IsNotNull,
            Self::IsNotNull => Self::IsNull,
        }
    }

    const fn takes_list(self) -> bool {
        matches!(self, Self::In | Self::NotIn)
    }

    const fn takes_none(self) -> bool {
        matches!(self, Self::IsNull | Self::IsNotNull)
    }
}

impl fmt::Display for Operator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Operator {
    type Err = Error;

    /// Letter case and the number of blanks between words do not matter.
    fn from_str(text: &str) -> Result<Self> {
        let words = text
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ")
            .to_ascii_uppercase();
        let found = Self::ALL
            .into_iter()
            .find(|operator| operator.as_str() == words);
        found.ok_or_else(|| {
            Error::invalid_argument("the filter's operator is unknown")
                .context("operator", text)
                .context(
                    "hint",
                    "one of = != < <= > >= IN, NOT IN, IS NULL, IS NOT NULL",
                )
        })
    }
}

/// What stands after the operator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FilterValues {
    /// Nothing.
    None,
    /// One text; after IN it is a list with commas.
    Text(String),
    /// Values as they stand.
    List(Vec<String>),
}

/// One condition on one column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Filter {
    /// The column; `a.b` is field b of struct a.
    pub field: String,
    /// The comparison.
    pub operator: Operator,
    /// Texts of values: none for IS NULL and IS NOT NULL, one or more for IN and NOT IN, else one.
    pub values: Vec<String>,
}

impl Filter {
    /// A filter whose operator is known and whose count of values fits it.
    ///
    /// Text after IN and NOT IN is split on commas and trimmed; `\,` is a comma and `\\` a backslash inside a value, and
    /// empty parts are dropped, as in hudi-rs. A list is taken as it stands.
    ///
    /// Errors: `InvalidArgument` with `field`.
    pub fn parse(field: &str, operator: &str, values: FilterValues) -> Result<Self> {
        let parsed = operator.parse::<Operator>();
        let operator = parsed.map_err(|error| error.context("field", field))?;
        let values = match values {
            FilterValues::None => Vec::new(),
            FilterValues::Text(text) if operator.takes_list() => split_list(&text),
            FilterValues::Text(text) => vec![text],
            FilterValues::List(list) => list,
        };
        Self::new(field, operator, values)
    }

    /// A filter whose count of values fits its operator.
    ///
    /// Errors: `InvalidArgument` with `field`.
    pub fn new(field: &str, operator: Operator, values: Vec<String>) -> Result<Self> {
        let wanted = match values.len() {
            0 if operator.takes_none() => None,
            _ if operator.takes_none() => Some("no value"),
            0 if operator.takes_list() => Some("at least one value"),
            _ if operator.takes_list() => None,
            1 => None,
            _ => Some("exactly one value"),
        };
        if let Some(wanted) = wanted {
            let message = format!(
                "{operator} takes {wanted}, and the filter has {}",
                values.len()
            );
            return Err(Error::invalid_argument(message).context("field", field));
        }
        if field.is_empty() {
            return Err(Error::invalid_argument("a filter names no column"));
        }
        Ok(Self {
            field: field.to_owned(),
            operator,
            values,
        })
    }

    /// A filter as the JavaScript side passes it: `[field, operator]`, `[field, operator, value or values]` or
    /// `{field, operator, values}`. Texts, numbers and booleans are values.
    ///
    /// Errors: `InvalidArgument` for another shape and as in [`Filter::parse`].
    pub fn from_json(json: &Value) -> Result<Self> {
        let broken = || {
            Error::invalid_argument(
                "a filter is neither a tuple nor an object of field, operator and values",
            )
        };
        let (field, operator, values) = match json {
            Value::Array(parts) => match parts.as_slice() {
                [field, operator] => (field, operator, None),
                [field, operator, values] => (field, operator, Some(values)),
                _ => return Err(broken()),
            },
            Value::Object(object) => (
                object.get("field").ok_or_else(broken)?,
                object.get("operator").ok_or_else(broken)?,
                object.get("values"),
            ),
            _ => return Err(broken()),
        };
        let field = field.as_str().ok_or_else(broken)?;
        let operator = operator.as_str().ok_or_else(broken)?;
        let values = match values {
            None => FilterValues::None,
            Some(Value::Array(list)) => FilterValues::List(
                list.iter()
                    .map(|value| value_text(field, value))
                    .collect::<Result<_>>()?,
            ),
            Some(value) => FilterValues::Text(value_text(field, value)?),
        };
        Self::parse(field, operator, values)
    }

    /// See [`Operator::negate`].
    #[must_use]
    pub fn negate(&self) -> Self {
        Self {
            operator: self.operator.negate(),
            ..self.clone()
        }
    }
}

impl fmt::Display for Filter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.field, self.operator)?;
        match self.values.as_slice() {
            [] => Ok(()),
            [one] if !self.operator.takes_list() => write!(f, " {one}"),
            list => write!(f, " ({})", list.join(", ")),
        }
    }
}

fn value_text(field: &str, value: &Value) -> Result<String> {
    match value {
        Value::String(text) => Ok(text.clone()),
        Value::Number(number) => Ok(number.to_string()),
        Value::Bool(flag) => Ok(flag.to_string()),
        Value::Null => Err(Error::invalid_argument("a filter's value is null")
            .context("field", field)
            .context("hint", "IS NULL and IS NOT NULL ask for null")),
        _ => Err(
            Error::invalid_argument("a filter's value is neither text, number nor boolean")
                .context("field", field),
        ),
    }
}

fn split_list(text: &str) -> Vec<String> {
    let (mut values, mut value) = (Vec::new(), String::new());
    // Blanks at the ends go before a value is unescaped, so that none of an escape is lost.
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '\\' => match characters.next_if(|next| matches!(next, ',' | '\\')) {
                Some(escaped) => value.push(escaped),
                None => value.push('\\'),
            },
            ',' => values.push(std::mem::take(&mut value)),
            other => value.push(other),
        }
    }
    values.push(value);
    values
        .iter()
        .map(|value| value.trim().to_owned())
        .filter(|value| !value.is_empty())
        .collect()
}

#[cfg(test)]
mod tests;

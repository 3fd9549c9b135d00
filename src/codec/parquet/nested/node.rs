use std::ops::Range;

use arrow::datatypes::DataType;
use parquet::basic::{ConvertedType, LogicalType, Repetition};
use parquet::schema::types::Type;

use crate::error::{Error, Result};

/// A field of a nested column, in Parquet's levels and as Arrow has it.
pub(super) struct Node {
    pub(super) data_type: DataType,
    /// The definition level from which it is there.
    pub(super) there: u8,
    /// Where it has a place: in the innermost list around it.
    pub(super) place: Place,
    /// Which leaves of the column are below it.
    pub(super) leaves: Range<usize>,
    pub(super) children: Vec<Node>,
}

/// A place for a value: an element of a list, or a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    /// The definition level from which there is one.
    pub(super) from: u8,
    /// The repetition level up to which a new one begins.
    pub(super) up_to: u8,
}

const ROW: Place = Place { from: 0, up_to: 0 };

impl Node {
    /// The root of a column in its type of the file and as Arrow has it.
    pub(super) fn root(of: &Type, data_type: &DataType) -> Result<Self> {
        let mut leaf = 0;
        Self::new(of, data_type, ROW, 0, false, &mut leaf)
    }

    /// A field below a parent that is there from `there` on. An element of a list is `begun`: its own repetition stands for
    /// the list.
    ///
    /// Follows the rules by which the `parquet` crate made the Arrow type.
    fn new(
        of: &Type,
        data_type: &DataType,
        place: Place,
        there: u8,
        begun: bool,
        leaf: &mut usize,
    ) -> Result<Self> {
        let info = of.get_basic_info();
        let repetition = match info.has_repetition() && !begun {
            true => info.repetition(),
            false => Repetition::REQUIRED,
        };
        let nullable = repetition == Repetition::OPTIONAL;
        let there = there + u8::from(nullable);
        let first = *leaf;
        let inner = Place {
            from: there + 1,
            up_to: place.up_to + 1,
        };
        let mut element = |of: &Type, data_type: &DataType, begun| {
            Self::new(of, data_type, inner, inner.from, begun, leaf)
        };
        let children = match data_type {
            DataType::List(field) if repetition == Repetition::REPEATED => {
                vec![element(of, field.data_type(), true)?]
            }
            _ if repetition == Repetition::REPEATED => return Err(differs()),
            DataType::List(field) => {
                let repeated = only_child(of)?;
                let (element_type, begun) = match is_element(of, repeated) {
                    true => (repeated, true),
                    false => (only_child(repeated)?, false),
                };
                vec![element(element_type, field.data_type(), begun)?]
            }
            DataType::Map(entries, _) => {
                let DataType::Struct(fields) = entries.data_type() else {
                    return Err(differs());
                };
                let types = children(only_child(of)?, fields.len())?.iter();
                let both = types.zip(fields);
                both.map(|(of, field)| element(of, field.data_type(), false))
                    .collect::<Result<_>>()?
            }
            DataType::Struct(fields) => {
                let types = children(of, fields.len())?.iter();
                let both = types.zip(fields);
                both.map(|(of, field)| Self::new(of, field.data_type(), place, there, false, leaf))
                    .collect::<Result<_>>()?
            }
            _ if of.is_primitive() => {
                *leaf += 1;
                Vec::new()
            }
            _ => return Err(differs()),
        };
        Ok(Self {
            data_type: data_type.clone(),
            there,
            place,
            leaves: first..*leaf,
            children,
        })
    }

    /// The leaves below it, in the order of the file.
    pub(super) fn each_leaf<'a>(&'a self, found: &mut Vec<&'a Self>) {
        if self.children.is_empty() {
            found.push(self);
        }
        self.children
            .iter()
            .for_each(|child| child.each_leaf(found));
    }
}

/// Whether the repeated field of a list is its element itself, as writers had it before there was a rule.
fn is_element(list: &Type, repeated: &Type) -> bool {
    if repeated.is_primitive() {
        return true;
    }
    let [item] = repeated.get_fields() else {
        return true;
    };
    let info = repeated.get_basic_info();
    let is_list = match info.logical_type_ref() {
        Some(logical) => *logical == LogicalType::List,
        None => info.converted_type() == ConvertedType::LIST,
    };
    let item = item.get_basic_info();
    let of_repeated = item.has_repetition() && item.repetition() == Repetition::REPEATED;
    let name = repeated.name();
    let tuple = name.strip_suffix("_tuple") == Some(list.name());
    !is_list && !of_repeated && (name == "array" || tuple)
}

fn children(of: &Type, count: usize) -> Result<&[parquet::schema::types::TypePtr]> {
    let fields = match of.is_group() {
        true => of.get_fields(),
        false => &[],
    };
    match fields.len() == count {
        true => Ok(fields),
        false => Err(differs()),
    }
}

fn only_child(of: &Type) -> Result<&Type> {
    let fields = children(of, 1)?;
    fields.first().map(AsRef::as_ref).ok_or_else(differs)
}

fn differs() -> Error {
    Error::unsupported("a nested column of this form")
}

//! Columns picked by name.

use std::collections::HashSet;

use arrow::datatypes::{FieldRef, Schema};

use crate::error::{Error, Result};
use crate::model::InOrder;

/// The columns of `schema` that `names` asks for, in that order. Names are exact, letter case included: a table may hold
/// columns that differ in case alone, and a guess would read the wrong one. The hint of the error names the near ones.
///
/// Errors: `Schema` for an unknown column, `InvalidArgument` for one asked for twice; both say `field`.
pub fn project<S: AsRef<str>>(schema: &Schema, names: &[S]) -> Result<Schema> {
    let mut seen = HashSet::with_capacity(names.len());
    let pick = |name: &str| -> Result<FieldRef> {
        if !seen.insert(name.to_owned()) {
            return Err(
                Error::invalid_argument("the projection names a column twice")
                    .context("field", name),
            );
        }
        let found = schema.fields().iter().find(|field| field.name() == name);
        found.cloned().ok_or_else(|| unknown_column(schema, name))
    };
    let fields = names
        .iter()
        .map(AsRef::as_ref)
        .map(pick)
        .collect::<Result<Vec<_>>>()?;
    Ok(Schema::new_with_metadata(fields, schema.metadata().clone()))
}

/// The `Schema` error for a column that is not there, with the names nearest to it as hint.
pub fn unknown_column(schema: &Schema, name: &str) -> Error {
    let error = Error::schema("the table has no such column").context("field", name);
    let names = schema.fields().iter().map(|field| field.name().as_str());
    let mut near: Vec<_> = names
        .map(|known| (distance(&known.to_lowercase(), &name.to_lowercase()), known))
        .filter(|(far, known)| *far <= 2 && *far < known.chars().count().min(name.chars().count()))
        .collect();
    near.in_order();
    match near
        .iter()
        .take(3)
        .map(|(_, known)| *known)
        .collect::<Vec<_>>()
        .join(", ")
    {
        names if names.is_empty() => error,
        names => error.context("hint", format!("near names: {names}")),
    }
}

/// Levenshtein distance in characters; 3 and more are all the same to the caller, so long names are not compared.
fn distance(a: &str, b: &str) -> usize {
    const FAR: usize = usize::MAX;
    let (a, b): (Vec<_>, Vec<_>) = (a.chars().take(200).collect(), b.chars().take(200).collect());
    if a.len().abs_diff(b.len()) > 2 {
        return FAR;
    }
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut next = Vec::with_capacity(row.len());
        let mut left = i + 1;
        next.push(left);
        for (y, pair) in b.iter().zip(row.windows(2)) {
            let [diagonal, above] = pair else { return FAR };
            left = (diagonal + usize::from(x != y))
                .min(above + 1)
                .min(left + 1);
            next.push(left);
        }
        row = next;
    }
    row.last().copied().unwrap_or(FAR)
}

#[cfg(test)]
mod tests {
    use arrow::datatypes::{DataType, Field};

    use super::*;
    use crate::error::ErrorKind;

    fn schema() -> Schema {
        let names = ["id", "Price", "price_total", "日本"];
        Schema::new(
            names
                .map(|name| Field::new(name, DataType::Int32, true))
                .to_vec(),
        )
    }

    #[test]
    fn columns_come_in_the_order_asked() {
        let picked = project(&schema(), &["日本", "id"]).unwrap();
        assert_eq!(
            picked
                .fields()
                .iter()
                .map(|f| f.name().as_str())
                .collect::<Vec<_>>(),
            ["日本", "id"]
        );
        assert!(project::<&str>(&schema(), &[]).unwrap().fields().is_empty());
    }

    #[test]
    fn an_unknown_column_is_refused_with_near_names() {
        for (name, hint) in [
            ("price", Some("near names: Price")),
            ("ID", Some("near names: id")),
            ("price_totl", Some("near names: price_total")),
            ("nothing", None),
            ("", None),
        ] {
            let error = project(&schema(), &[name]).unwrap_err();
            assert_eq!(
                (error.kind(), error.get("field")),
                (ErrorKind::Schema, Some(name))
            );
            assert_eq!(error.get("hint"), hint, "{name}");
        }
    }

    #[test]
    fn a_column_asked_for_twice_is_refused() {
        let error = project(&schema(), &["id", "Price", "id"]).unwrap_err();
        assert_eq!(
            (error.kind(), error.get("field")),
            (ErrorKind::InvalidArgument, Some("id"))
        );
    }
}

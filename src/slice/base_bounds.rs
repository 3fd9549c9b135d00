//! A file's own statistics as bounds that filters are asked of, in the table's types.

use std::cell::RefCell;

use arrow::array::Array;
use arrow::datatypes::{DataType, Field, Fields};

use super::base_request::BaseRequest;
use crate::codec::parquet::{Footer, Known, Leaf, RowSelection, page_selection};
use crate::expr::{Bounds, ColumnBounds, Predicate, Scalar};
use crate::schema::{conform_array, keeps_order};

/// The values of a column in a whole file, as its footer tells; `None` when a row group says nothing.
pub fn file_bounds(
    footer: &Footer,
    request: &BaseRequest,
    path: &[String],
) -> Option<ColumnBounds> {
    let groups = 0..footer.metadata().num_row_groups();
    let rows = |group| footer.group_rows(group);
    let mut groups = groups.map(|group| {
        let bounds = GroupBounds {
            footer,
            request,
            group,
        };
        let bounds = bounds.column(path)?;
        // A constant is told as one row.
        let constant = path
            .first()
            .is_some_and(|name| request.constant(name).is_some());
        Some(match constant {
            true => ColumnBounds {
                null_count: bounds.null_count.map(|nulls| nulls * rows(group)),
                value_count: Some(rows(group)),
                ..bounds
            },
            false => bounds,
        })
    });
    groups.try_fold(ColumnBounds::of_no_rows(), |all, group| {
        Some(all.union(group?))
    })
}

/// The values of one row group.
pub(super) struct GroupBounds<'a> {
    pub(super) footer: &'a Footer,
    pub(super) request: &'a BaseRequest,
    pub(super) group: usize,
}

impl Bounds for GroupBounds<'_> {
    fn column(&self, path: &[String]) -> Option<ColumnBounds> {
        let root = path.first()?;
        if let Some(constant) = self.request.constant(root) {
            let value = Scalar::from_array(constant.value.as_ref(), 0);
            return (path.len() == 1).then(|| ColumnBounds {
                min: value.clone(),
                max: value,
                null_count: Some(u64::from(constant.value.is_null(0))),
                value_count: Some(1),
            });
        }
        let leaf = find_leaf(self.footer, self.request, path)?;
        let known = leaf.of_group(self.footer, self.group)?;
        Some(in_table(
            &known,
            &leaf,
            field_at(self.request.schema.fields(), path)?,
        ))
    }
}

/// The rows of a row group that pages, by their own bounds, may have for `predicate`; `None` when no page index helps.
pub(super) fn select_rows(
    footer: &Footer,
    request: &BaseRequest,
    group: usize,
) -> Option<RowSelection> {
    let mut selected: Option<RowSelection> = None;
    for path in paths(&request.predicate) {
        let Some(leaf) = find_leaf(footer, request, &path) else {
            continue;
        };
        let Some(field) = field_at(request.schema.fields(), &path) else {
            continue;
        };
        let mut keep = |known: &Known| {
            let bounds = in_table(known, &leaf, field);
            let path = path.as_slice();
            request.predicate.may_match(&OneColumn { path, bounds })
        };
        if let Some(rows) = page_selection(footer, group, &leaf, &mut keep) {
            selected = Some(match selected {
                Some(before) => before.intersection(&rows),
                None => rows,
            });
        }
    }
    selected
}

/// The leaves that a predicate asks bounds of, as far as the file has them.
pub(super) fn bounded_leaves(footer: &Footer, request: &BaseRequest) -> Vec<Leaf> {
    let paths = paths(&request.predicate);
    paths
        .iter()
        .filter_map(|path| find_leaf(footer, request, path))
        .collect()
}

/// The leaf of a column of the table, by the name that it has in the file.
fn find_leaf(footer: &Footer, request: &BaseRequest, path: &[String]) -> Option<Leaf> {
    Leaf::find(footer, &request.names.path(path)?)
}

/// What is known of a file's column, as the table has it.
fn in_table(known: &Known, leaf: &Leaf, field: &Field) -> ColumnBounds {
    let bounds = known.bounds.as_ref();
    let bounds = bounds.filter(|_| keeps_order(leaf.data_type(), field.data_type()));
    let bounds = bounds.and_then(|bounds| conform_array(bounds, field).ok());
    let bound = |at| Scalar::from_array(bounds.as_deref()?, at);
    ColumnBounds {
        min: bound(0),
        max: bound(1),
        null_count: known.nulls,
        value_count: Some(known.rows),
    }
}

/// The field that a path of names leads to, through structs.
fn field_at<'a>(fields: &'a Fields, path: &[String]) -> Option<&'a Field> {
    let (name, rest) = path.split_first()?;
    let field = fields.iter().find(|field| field.name() == name)?;
    match (field.data_type(), rest) {
        (_, []) => Some(field),
        (DataType::Struct(inner), _) => field_at(inner, rest),
        _ => None,
    }
}

/// The columns and nested fields that a predicate asks bounds of.
fn paths(predicate: &Predicate) -> Vec<Vec<String>> {
    let asked = Asked::default();
    predicate.may_match(&asked);
    asked.0.into_inner()
}

/// Knows nothing, and notes what it is asked.
#[derive(Default)]
struct Asked(RefCell<Vec<Vec<String>>>);

impl Bounds for Asked {
    fn column(&self, path: &[String]) -> Option<ColumnBounds> {
        let mut asked = self.0.borrow_mut();
        if !asked.iter().any(|known| known == path) {
            asked.push(path.to_vec());
        }
        None
    }
}

/// Knows one column.
struct OneColumn<'a> {
    path: &'a [String],
    bounds: ColumnBounds,
}

impl Bounds for OneColumn<'_> {
    fn column(&self, path: &[String]) -> Option<ColumnBounds> {
        (path == self.path).then(|| self.bounds.clone())
    }
}

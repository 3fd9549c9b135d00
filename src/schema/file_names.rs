//! What a table's columns are called in one file.

use std::collections::HashMap;
use std::sync::Arc;

/// The names that a table's fields have in files of one time, where they are other names: columns were renamed, dropped, or
/// dropped and added again. By default every field has its own name.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FileNames(Option<Arc<HashMap<String, FileName>>>);

/// One field in a file.
#[derive(Debug, Clone, PartialEq)]
pub struct FileName {
    /// Its name there; none when the file has no such field, whatever else has its name there.
    pub name: Option<String>,
    /// The fields below it: those of a struct, `element` of a list, `key` and `value` of a map.
    pub inner: FileNames,
}

impl FileNames {
    /// Every field has its own name.
    pub const SAME: Self = Self(None);

    /// The names of the fields that are not the same in the file.
    pub fn new(fields: HashMap<String, FileName>) -> Self {
        Self((!fields.is_empty()).then(|| Arc::new(fields)))
    }

    /// Whether every field has its own name, at every depth.
    pub fn is_same(&self) -> bool {
        self.0.is_none()
    }

    /// The name of a field in the file.
    pub fn of<'a>(&'a self, field: &'a str) -> Option<&'a str> {
        match self.find(field) {
            Some(found) => found.name.as_deref(),
            None => Some(field),
        }
    }

    /// The names of the fields below a field.
    pub fn inner(&self, field: &str) -> Self {
        let found = self.find(field);
        found.map(|found| found.inner.clone()).unwrap_or_default()
    }

    /// A path through structs, as the file has it; none when a part of it is not there.
    pub fn path(&self, path: &[String]) -> Option<Vec<String>> {
        let mut names = self.clone();
        let mut renamed = Vec::with_capacity(path.len());
        for field in path {
            renamed.push(names.of(field)?.to_owned());
            names = names.inner(field);
        }
        Some(renamed)
    }

    fn find(&self, field: &str) -> Option<&FileName> {
        self.0.as_ref()?.get(field)
    }
}

use arrow::datatypes::Schema;

use super::value::{StatsVersion, ValueKind};
use crate::config::Properties;
use crate::model::meta_field;

/// Meta columns that statistics are always kept of, in the order of Java's sorted map.
const ALWAYS: [&str; 3] = [
    meta_field::COMMIT_TIME,
    meta_field::PARTITION_PATH,
    meta_field::RECORD_KEY,
];

const LIST: &str = "hoodie.metadata.index.column.stats.column.list";
const MOST: &str = "hoodie.metadata.index.column.stats.max.columns.to.index";

/// What `hoodie.metadata.index.column.stats.max.columns.to.index` is by default; meta columns do not count.
const MOST_COLUMNS: usize = 32;

/// The columns that statistics are kept of: three meta columns where files have them, then those that the option lists, or else
/// the first 32 on the top level whose type statistics can hold.
pub fn columns_to_index(
    schema: &Schema,
    meta_fields: bool,
    version: StatsVersion,
    options: &Properties,
) -> Vec<String> {
    let text = |name: &str| options.get(name).map(|text| text.trim());
    let listed: Vec<&str> = text(LIST)
        .into_iter()
        .flat_map(|list| list.split(','))
        .map(str::trim)
        .filter(|name| !name.is_empty())
        .collect();
    let most = text(MOST).and_then(|most| most.parse().ok());
    let most = match listed.is_empty() {
        true => most.unwrap_or(MOST_COLUMNS),
        false => usize::MAX,
    };
    let always = ALWAYS.iter().filter(|_| meta_fields);
    let own = schema.fields().iter().filter(|field| {
        !meta_field::is_meta_field(field.name())
            && ValueKind::of(field.data_type(), version).is_some()
            && (listed.is_empty() || listed.contains(&field.name().as_str()))
    });
    let own = own.take(most).map(|field| field.name().as_str());
    always.copied().chain(own).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use arrow::datatypes::{DataType, Field};

    use super::*;

    fn schema(columns: usize) -> Schema {
        let list = DataType::new_list(DataType::Int32, true);
        let first = [
            Field::new("a list", list, true),
            Field::new("_hoodie_record_key", DataType::Utf8, true),
        ];
        let rest = (0..columns).map(|at| Field::new(format!("c{at}"), DataType::Int32, true));
        Schema::new(first.into_iter().chain(rest).collect::<Vec<_>>())
    }

    #[test]
    fn the_first_thirty_two_that_can_be_are_indexed_beside_three_meta_columns() {
        let found = columns_to_index(&schema(40), true, StatsVersion::Two, &Properties::new());
        assert_eq!(found.len(), 35);
        assert_eq!(
            &found[..4],
            [
                "_hoodie_commit_time",
                "_hoodie_partition_path",
                "_hoodie_record_key",
                "c0"
            ]
        );
        assert_eq!(found[34], "c31");
        let virtual_keys =
            columns_to_index(&schema(2), false, StatsVersion::Two, &Properties::new());
        assert_eq!(virtual_keys, ["c0", "c1"]);
    }

    #[test]
    fn options_name_columns_or_how_many() {
        let of = |key: &str, value: &str| {
            let options = Properties::from([(key.to_owned(), value.to_owned())]);
            columns_to_index(&schema(40), false, StatsVersion::Two, &options)
        };
        assert_eq!(of(LIST, "c39, a list,c2,none"), ["c2", "c39"]);
        assert_eq!(of(MOST, "2"), ["c0", "c1"]);
    }
}

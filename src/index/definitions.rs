//! `.hoodie/.index_defs/index.json`, as Jackson prints it.

use super::value::StatsVersion;
use crate::metadata::partition::{COLUMN_STATS, RECORD_INDEX};

/// Where the definitions lie.
pub const DEFINITIONS_PATH: &str = ".hoodie/.index_defs/index.json";

/// One entry of the definitions.
struct Definition<'a> {
    name: &'a str,
    function: &'a str,
    fields: &'a [String],
    option: Option<(&'a str, &'a str)>,
    version: Option<&'a str>,
}

/// The text for the indexes of a new table: a record index where there is one (version 8 does not list it), and the columns that
/// statistics are kept of.
pub(super) fn definitions(
    columns: Option<&[String]>,
    record_index: bool,
    version: StatsVersion,
) -> Option<String> {
    let two = version == StatsVersion::Two;
    let mut all = Vec::new();
    if record_index && two {
        all.push(Definition {
            name: RECORD_INDEX,
            function: "",
            fields: &[],
            option: Some(("isPartitioned", "false")),
            version: Some("V1"),
        });
    }
    if let Some(fields) = columns {
        all.push(Definition {
            name: COLUMN_STATS,
            function: COLUMN_STATS,
            fields,
            option: None,
            version: two.then_some("V2"),
        });
    }
    if all.is_empty() {
        return None;
    }
    let entries: Vec<_> = all.iter().map(Definition::text).collect();
    let entries = entries.join(",\n");
    Some(format!(
        "{{\n  \"indexDefinitions\" : {{\n{entries}\n  }}\n}}"
    ))
}

impl Definition<'_> {
    fn text(&self) -> String {
        let fields: Vec<_> = self.fields.iter().map(|field| quoted(field)).collect();
        let fields = match fields.is_empty() {
            true => "[ ]".to_owned(),
            false => format!("[ {} ]", fields.join(", ")),
        };
        let options = match self.option {
            Some((key, value)) => {
                format!("{{\n        {} : {}\n      }}", quoted(key), quoted(value))
            }
            None => "{ }".to_owned(),
        };
        let name = quoted(self.name);
        let mut lines = vec![
            format!("\"indexName\" : {name}"),
            format!("\"indexType\" : {name}"),
            format!("\"indexFunction\" : {}", quoted(self.function)),
            format!("\"sourceFields\" : {fields}"),
            format!("\"indexOptions\" : {options}"),
        ];
        lines.extend(
            self.version
                .map(|version| format!("\"version\" : {}", quoted(version))),
        );
        let lines: Vec<_> = lines.iter().map(|line| format!("      {line}")).collect();
        format!("    {name} : {{\n{}\n    }}", lines.join(",\n"))
    }
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests {
    use super::*;
    use crate::support;

    #[test]
    fn definitions_are_the_text_that_spark_wrote() {
        let check = |table: &str, record_index: bool, version| {
            let files = support::files(table);
            let (_, expected) = files
                .iter()
                .find(|(path, _)| path == DEFINITIONS_PATH)
                .unwrap();
            let json: serde_json::Value = serde_json::from_slice(expected).unwrap();
            let listed = json["indexDefinitions"]["column_stats"]["sourceFields"].as_array();
            let columns: Option<Vec<_>> =
                listed.map(|all| all.iter().map(|c| c.as_str().unwrap().to_owned()).collect());
            let text = definitions(columns.as_deref(), record_index, version);
            assert_eq!(text.unwrap().as_bytes(), expected, "{table}");
        };
        check("v9_cow_hive_parts", true, StatsVersion::Two);
        check("v9_cow_all_types", false, StatsVersion::Two);
        check("v8_mor_compacted", false, StatsVersion::One);
        assert_eq!(definitions(None, true, StatsVersion::One), None);
    }
}

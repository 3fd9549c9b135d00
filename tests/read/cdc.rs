//! Every recorded change query of every table.

use hudi_wasm::error::ErrorKind;
use serde_json::{Value, json};

use crate::spark::{difference, open, read};
use crate::support::{
    self, block_on,
    rows::{rows, sort},
};

/// Where Spark writes `{"zero":false}` for a decimal in an image of a data file, from which no value can be had.
const DECIMALS: [&str; 3] = ["d9", "d18", "d38"];

/// An image with no more of such decimals than whether they are zero.
fn without_decimals(image: &Value) -> Value {
    let Some(text) = image.as_str() else {
        return image.clone();
    };
    let mut text = text.to_owned();
    for column in DECIMALS {
        let name = format!("\"{column}\":");
        let Some(start) = text.find(&name).map(|at| at + name.len()) else {
            continue;
        };
        if text[start..].starts_with(' ') {
            continue;
        }
        let rest = &text[start..];
        let object = rest.starts_with('{');
        let end = rest.find(if object { '}' } else { ',' }).unwrap() + usize::from(object);
        let value = &rest[..end];
        let zero = match object {
            true => value == "{\"zero\":true}",
            false => value.parse::<f64>().unwrap() == 0.0,
        };
        text.replace_range(start..start + end, if zero { "zero" } else { "not zero" });
    }
    Value::String(text)
}

fn comparable(rows: &[Value]) -> Vec<Value> {
    let mut rows = rows.to_vec();
    for row in &mut rows {
        for image in ["before", "after"] {
            row[image] = without_decimals(&row[image]);
        }
    }
    sort(&mut rows);
    rows
}

#[test]
fn change_queries_give_the_changes_of_spark() {
    let (mut asked, mut faults) = (0, Vec::new());
    for name in &support::tables() {
        block_on(async {
            let expected = support::expected(name);
            for recorded in support::queries(&expected, "cdc") {
                let query = &recorded["query"];
                let spark = comparable(recorded["rows"].as_array().unwrap());
                let ours = match read(&open(name).await, query).await {
                    Ok(batches) => comparable(&rows(&batches)),
                    Err(error) => vec![json!(error.to_string())],
                };
                let fault = difference(&ours, &spark);
                faults.extend(fault.map(|fault| format!("{name} {query}: {fault}")));
                asked += 1;
            }
        });
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(asked > 50, "{asked}");
}

/// The structs of a query's images as the texts say them, so far as a text has all columns.
#[test]
fn images_as_structs_hold_what_their_texts_say() {
    block_on(async {
        for name in [
            "v9_cow_cdc",
            "v9_cow_cdc_data_before",
            "v9_cow_cdc_op_key_only",
        ] {
            let table = open(name).await;
            let texts = json!({"queryType": "cdc"});
            let structs = json!({"queryType": "cdc", "cdcImages": "struct"});
            let expected: Vec<Value> = rows(&read(&table, &texts).await.unwrap())
                .into_iter()
                .map(|mut row| {
                    for image in ["before", "after"] {
                        row[image] = parsed(&row[image]);
                    }
                    row
                })
                .collect();
            let found = rows(&read(&table, &structs).await.unwrap());
            assert_eq!(
                difference(&comparable(&found), &comparable(&expected)),
                None,
                "{name}"
            );
            assert_eq!(found.len(), 13, "{name}");
        }
    });
}

/// An image without meta fields, in the form of the rows of a table.
fn parsed(text: &Value) -> Value {
    let Some(text) = text.as_str() else {
        return Value::Null;
    };
    let image: Value = serde_json::from_str(text).unwrap();
    let Some(image) = image.as_object() else {
        return Value::Null;
    };
    let own = image
        .iter()
        .filter(|(name, _)| !name.starts_with("_hoodie_"));
    own.map(|(name, value)| {
        let value = match value.is_f64() {
            true => json!(value.to_string()),
            false => value.clone(),
        };
        (name.clone(), value)
    })
    .collect()
}

#[test]
fn filters_projection_limit_and_streaming_hold_for_change_queries() {
    block_on(async {
        let table = open("v9_cow_cdc").await;
        let asked = async |more: Value| {
            let mut query = json!({"queryType": "cdc", "start": "earliest"});
            query
                .as_object_mut()
                .unwrap()
                .extend(more.as_object().unwrap().clone());
            read(&table, &query).await.unwrap()
        };
        let deletes =
            rows(&asked(json!({"filters": [["op", "=", "d"]], "projection": ["ts_ms"]})).await);
        assert_eq!(deletes, vec![json!({"ts_ms": "20261129205825243"}); 2]);
        let cut = asked(json!({"limit": 8, "streaming": true, "batchSize": 3})).await;
        assert!(cut.iter().all(|batch| batch.num_rows() <= 3));
        // Changes come in the order of their commits: six inserts, then the second commit's.
        let times: Vec<Value> = cut
            .iter()
            .flat_map(|batch| rows([batch]))
            .map(|row| row["ts_ms"].clone())
            .collect();
        let (first, second) = ("20261129205818171", "20261129205821981");
        assert_eq!(
            times,
            [[first; 6].as_slice(), [second; 2].as_slice()].concat()
        );
    });
}

#[test]
fn a_table_that_captures_no_changes_is_refused() {
    block_on(async {
        let table = open("v9_cow_simple").await;
        let error = read(&table, &json!({"queryType": "cdc"}))
            .await
            .unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported);
        assert_eq!(error.get("property"), Some("hoodie.table.cdc.enabled"));
        let table = open("v9_cow_cdc").await;
        let turned =
            json!({"queryType": "cdc", "start": "20300101000000000", "end": "20200101000000000"});
        let error = read(&table, &turned).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    });
}

//! The native peer of the benchmark: hudi-core in one thread, one work per line of JSON on stdin, one answer per line on stdout.
//!
//! Work: `{"table": "/folder", "columns": ["a"], "filters": [["a", "=", "x"]], "start": "…"}`, all but `table` optional.
//! Answer: `{"ms": 1.5, "rows": 10, "columns": 2, "sum": 3.5}`, the sum being that of the column `price`, or `{"error": "…"}`.
//!
//! With `"plan": true` the table's file slices are found and nothing is read: they are the rows.
//!
//! With `"append": "/folder"` the table's rows, once read, are appended to a new table in that folder, with keys `id`, all that hudi-core
//! does by default and the `codec` given: `ms` is the append alone, `bytes` what the new table takes on disk, `.hoodie` apart.

use std::error::Error;
use std::io::{BufRead, Write};
use std::path::Path;
use std::time::Instant;

use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use arrow_array::{Array, RecordBatch};
use hudi_core::config::read::QueryType;
use hudi_core::config::read_options::ReadOptions;
use hudi_core::table::Table;
use serde_json::{Value, json};

fn strings(value: &Value) -> Vec<&str> {
    let list = value.as_array().map(Vec::as_slice).unwrap_or_default();
    list.iter().filter_map(Value::as_str).collect()
}

fn options(work: &Value) -> Result<ReadOptions, Box<dyn Error>> {
    let mut options = ReadOptions::new();
    if work["columns"].is_array() {
        options = options.with_projection(strings(&work["columns"]));
    }
    for filter in work["filters"].as_array().into_iter().flatten() {
        if let [field, operator, value] = strings(filter)[..] {
            options = options.with_filters([(field, operator, value)])?;
        }
    }
    if let Some(start) = work["start"].as_str() {
        options = options.with_query_type(QueryType::Incremental).with_start_timestamp(start);
    }
    Ok(options)
}

fn sum(batches: &[RecordBatch]) -> f64 {
    let columns = batches.iter().filter_map(|batch| batch.column_by_name("price"));
    let sums = columns.map(|column| {
        let values = column.as_primitive::<Float64Type>();
        values.iter().flatten().sum::<f64>()
    });
    sums.sum()
}

/// Bytes below a folder: those of data, and those below `.hoodie`.
fn size(folder: &Path) -> std::io::Result<(u64, u64)> {
    let (mut data, mut metadata) = (0, 0);
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        if !entry.file_type()?.is_dir() {
            data += entry.metadata()?.len();
            continue;
        }
        let (a, b) = size(&entry.path())?;
        match entry.file_name() == ".hoodie" {
            true => metadata += a + b,
            false => (data, metadata) = (data + a, metadata + b),
        }
    }
    Ok((data, metadata))
}

/// The batches without meta columns.
fn plain(batches: Vec<RecordBatch>) -> Result<Vec<RecordBatch>, Box<dyn Error>> {
    let plain = batches.into_iter().map(|batch| {
        let schema = batch.schema();
        let fields = schema.fields().iter().enumerate();
        let kept: Vec<usize> = fields.filter(|(_, f)| !f.name().starts_with("_hoodie_")).map(|(at, _)| at).collect();
        Ok(batch.project(&kept)?)
    });
    plain.collect()
}

async fn append(work: &Value, folder: &str) -> Result<Value, Box<dyn Error>> {
    let source = Table::new(work["table"].as_str().unwrap_or_default()).await?;
    let batches = plain(source.read(&options(work)?).await?)?;
    let rows: usize = batches.iter().map(RecordBatch::num_rows).sum();
    let codec = work["codec"].as_str().unwrap_or("gzip");
    std::fs::create_dir_all(folder)?;
    let schema = batches.first().ok_or("no rows")?.schema();
    let mut table = Table::create(folder)
        .with_table_name("appended")
        .with_record_key_fields(["id"])
        .with_option("hoodie.parquet.compression.codec", codec)
        .create()
        .await?;
    let start = Instant::now();
    table.append(batches).await?;
    let ms = start.elapsed().as_secs_f64() * 1000.0;
    let (data, metadata) = size(Path::new(folder))?;
    Ok(json!({ "ms": ms, "rows": rows, "columns": schema.fields().len(), "sum": 0.0, "bytes": data, "metadata": metadata }))
}

async fn run(line: &str) -> Result<Value, Box<dyn Error>> {
    let work: Value = serde_json::from_str(line)?;
    if let Some(folder) = work["append"].as_str() {
        return append(&work, folder).await;
    }
    let options = options(&work)?;
    let start = Instant::now();
    let table = Table::new(work["table"].as_str().unwrap_or_default()).await?;
    if work["plan"] == true {
        let slices = table.get_file_slices(&options).await?;
        let ms = start.elapsed().as_secs_f64() * 1000.0;
        return Ok(json!({ "ms": ms, "rows": slices.len(), "columns": 0, "sum": 0.0 }));
    }
    let batches = table.read(&options).await?;
    let ms = start.elapsed().as_secs_f64() * 1000.0;
    let rows: usize = batches.iter().map(RecordBatch::num_rows).sum();
    let columns = batches.first().map_or(0, RecordBatch::num_columns);
    let bytes: usize = batches.iter().flat_map(RecordBatch::columns).map(|c| c.get_buffer_memory_size()).sum();
    Ok(json!({ "ms": ms, "rows": rows, "columns": columns, "sum": sum(&batches), "memory": bytes }))
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    for line in std::io::stdin().lock().lines() {
        let answer = run(&line?).await.unwrap_or_else(|error| json!({ "error": error.to_string() }));
        println!("{answer}");
        std::io::stdout().flush()?;
    }
    Ok(())
}

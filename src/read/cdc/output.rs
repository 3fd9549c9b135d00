//! Changes to batches.

use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions, StringBuilder, StructArray};
use arrow::buffer::NullBuffer;
use arrow::datatypes::{DataType, Field, Fields, Schema, SchemaRef};

use super::json::{self, Style};
use crate::config::RawFilter;
use crate::error::{Error, Result};
use crate::expr::{Filter, FilterValues, Predicate};
use crate::merge::filter_rows;
use crate::read::diff::gather;
use crate::schema::{self, AvroRecord};

/// `i`, `u` or `d`.
pub(super) type Op = &'static str;

/// In which form images come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ImageForm {
    /// JSON text, as Spark gives it.
    #[default]
    Json,
    /// Structs of the table's columns, without the meta fields.
    Struct,
}

/// The columns of a change query; `images` are the table's own columns.
pub fn cdc_schema(images: &Fields, form: ImageForm) -> Schema {
    let image = match form {
        ImageForm::Json => DataType::Utf8,
        ImageForm::Struct => DataType::Struct(images.clone()),
    };
    Schema::new(vec![
        Field::new("op", DataType::Utf8, true),
        Field::new("ts_ms", DataType::Utf8, true),
        Field::new("before", image.clone(), true),
        Field::new("after", image, true),
    ])
}

/// Columns that images are in: of a batch of rows, or of the structs of a change log.
pub(super) struct Source {
    pub(super) fields: Fields,
    pub(super) columns: Vec<ArrayRef>,
    /// Whether they come from a change log.
    pub(super) is_log: bool,
}

/// A row before or after a change.
#[derive(Clone, Copy)]
pub(super) enum Image {
    /// There is none.
    None,
    /// A change log says that there is none; as JSON Spark gives the text `null`.
    SaidNone,
    /// A row of a source.
    At { source: usize, row: usize },
}

/// Changes of one instant in one file group.
#[derive(Default)]
pub(super) struct Chunk {
    pub(super) sources: Vec<Source>,
    pub(super) rows: Vec<(Op, Image, Image)>,
}

/// How changes are given.
#[derive(Debug, Clone)]
pub struct CdcOutput {
    form: ImageForm,
    /// The columns of the table, by which structs are built.
    images: Fields,
    /// Its Avro schema without meta fields, where it is known.
    avro: Option<Arc<AvroRecord>>,
    /// The columns that are made: those wanted, then those that only filters ask for.
    made: SchemaRef,
    wanted: usize,
    predicate: Predicate,
    batch_rows: usize,
}

/// Rows of a batch when nothing is asked.
const BATCH_ROWS: usize = 8192;

impl CdcOutput {
    /// Binds a projection and filters to the columns of a change query.
    ///
    /// Errors: `InvalidArgument` and `Schema` as for any read.
    pub fn new(
        images: Fields,
        avro: Option<Arc<AvroRecord>>,
        form: ImageForm,
        projection: Option<&[String]>,
        filters: &[RawFilter],
        batch_rows: Option<usize>,
    ) -> Result<Self> {
        let mute = images
            .iter()
            .find(|field| !json::has_text(field.data_type()));
        if let Some(field) = mute.filter(|_| form == ImageForm::Json) {
            return Err(Error::unsupported("a column of this type has no JSON text")
                .context("field", field.name())
                .context("hint", "cdcImages: 'struct' gives the images as structs"));
        }
        let all = cdc_schema(&images, form);
        let parse = |f: &RawFilter| {
            Filter::parse(&f.field, &f.operator, FilterValues::List(f.values.clone()))
        };
        let filters: Vec<Filter> = filters.iter().map(parse).collect::<Result<_>>()?;
        let predicate = Predicate::bind(&filters, &all)?;
        let wanted = match projection {
            Some(names) => schema::project(&all, names)?,
            None => all.clone(),
        };
        let mut made: Vec<_> = wanted.fields().iter().cloned().collect();
        for name in predicate.columns() {
            let asked = all.fields().iter().find(|field| field.name() == name);
            made.extend(asked.filter(|_| wanted.index_of(name).is_err()).cloned());
        }
        Ok(Self {
            form,
            images,
            avro,
            wanted: wanted.fields().len(),
            made: Arc::new(Schema::new(made)),
            predicate,
            batch_rows: batch_rows.unwrap_or(BATCH_ROWS).max(1),
        })
    }

    /// The columns of the batches.
    pub fn schema(&self) -> SchemaRef {
        let wanted = self.made.fields().iter().take(self.wanted).cloned();
        Arc::new(Schema::new(wanted.collect::<Vec<_>>()))
    }

    /// Whether a column is made at all.
    pub(super) fn makes(&self, name: &str) -> bool {
        self.made.index_of(name).is_ok()
    }

    /// The changes of a chunk, all of one instant, in batches of at most the rows asked for.
    pub(super) fn batches(&self, instant: &str, chunk: &Chunk) -> Result<Vec<RecordBatch>> {
        let mut batches = Vec::new();
        for rows in chunk.rows.chunks(self.batch_rows) {
            let columns = self.made.fields().iter().map(|field| {
                Ok(match field.name().as_str() {
                    "op" => repeated(rows.iter().map(|(op, ..)| *op)),
                    "ts_ms" => repeated(rows.iter().map(|_| instant)),
                    "before" => self.images(chunk, rows.iter().map(|(_, before, _)| *before))?,
                    _ => self.images(chunk, rows.iter().map(|(.., after)| *after))?,
                })
            });
            let columns = columns.collect::<Result<Vec<ArrayRef>>>()?;
            let options = RecordBatchOptions::new().with_row_count(Some(rows.len()));
            let made = Arc::clone(&self.made);
            let batch = RecordBatch::try_new_with_options(made, columns, &options);
            batches.extend(self.kept(batch.map_err(misfit)?)?);
        }
        Ok(batches)
    }

    /// The wanted columns of the rows that pass.
    fn kept(&self, batch: RecordBatch) -> Result<Option<RecordBatch>> {
        let batch = match self.predicate.is_empty() {
            true => batch,
            false => filter_rows(&batch, &self.predicate.mask(&batch)?)?,
        };
        let places: Vec<usize> = (0..self.wanted).collect();
        let batch = batch.project(&places).map_err(misfit)?;
        Ok((batch.num_rows() > 0).then_some(batch))
    }

    fn images(&self, chunk: &Chunk, images: impl Iterator<Item = Image>) -> Result<ArrayRef> {
        let images: Vec<Image> = images.collect();
        match self.form {
            ImageForm::Json => self.texts(chunk, &images),
            ImageForm::Struct => self.structs(chunk, &images),
        }
    }

    fn texts(&self, chunk: &Chunk, images: &[Image]) -> Result<ArrayRef> {
        let mut texts = StringBuilder::with_capacity(images.len(), 64 * images.len());
        let mut text = String::new();
        for image in images {
            match image {
                Image::None => texts.append_null(),
                Image::SaidNone => texts.append_value("null"),
                Image::At { source, row } => {
                    let source = chunk.source(*source)?;
                    let style = match source.is_log {
                        true => Style::Log(self.avro.as_deref()),
                        false => Style::File,
                    };
                    text.clear();
                    json::object(&mut text, &source.fields, &source.columns, *row, style);
                    texts.append_value(&text);
                }
            }
        }
        Ok(Arc::new(texts.finish()))
    }

    fn structs(&self, chunk: &Chunk, images: &[Image]) -> Result<ArrayRef> {
        let columns = self.images.iter().map(|field| {
            let found = chunk
                .sources
                .iter()
                .map(|source| source.column(field.name()));
            let columns = found.collect::<Result<Vec<_>>>()?;
            if columns.is_empty() {
                return Ok(arrow::array::new_null_array(
                    field.data_type(),
                    images.len(),
                ));
            }
            let places = images.iter().map(|image| match image {
                Image::At { source, row } => Some((*source, *row)),
                Image::None | Image::SaidNone => None,
            });
            gather(&columns, places)
        });
        let columns = columns.collect::<Result<Vec<ArrayRef>>>()?;
        let present = images.iter().map(|image| matches!(image, Image::At { .. }));
        let nulls = NullBuffer::from_iter(present);
        // A column that is never null within a row is null where there is no row.
        let fields: Fields = self.images.clone();
        let built = StructArray::try_new(fields, columns, Some(nulls)).map_err(misfit)?;
        Ok(Arc::new(built))
    }
}

impl Chunk {
    /// Whether two images of data files differ in any column: by their texts, which tell every value apart.
    pub(super) fn differ(&self, before: Image, after: Image) -> Result<bool> {
        Ok(self.text(before)? != self.text(after)?)
    }

    fn text(&self, image: Image) -> Result<String> {
        let Image::At { source, row } = image else {
            return Ok(String::new());
        };
        let source = self.source(source)?;
        Ok(json::row_text(&source.fields, &source.columns, row))
    }

    fn source(&self, at: usize) -> Result<&Source> {
        let source = self.sources.get(at);
        source.ok_or_else(|| Error::internal("an image of no source"))
    }
}

impl Source {
    /// The rows of a batch.
    pub(super) fn rows(batch: &RecordBatch) -> Self {
        Self {
            fields: batch.schema().fields().clone(),
            columns: batch.columns().to_vec(),
            is_log: false,
        }
    }

    fn column(&self, name: &str) -> Result<&ArrayRef> {
        let at = self.fields.iter().position(|field| field.name() == name);
        at.and_then(|at| self.columns.get(at))
            .ok_or_else(|| Error::internal("an image lacks a column").context("field", name))
    }
}

fn repeated<'a>(texts: impl Iterator<Item = &'a str>) -> ArrayRef {
    let mut built = StringBuilder::new();
    for text in texts {
        built.append_value(text);
    }
    Arc::new(built.finish())
}

fn misfit(error: arrow::error::ArrowError) -> Error {
    Error::internal("changes do not fit their columns").with_source(error)
}

/// Consecutive rows of one source; of none where `source` is [`NO_SOURCE`], which gives nulls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Run {
    /// Which of the arrays.
    pub source: u32,
    /// Its first row.
    pub start: u32,
    /// How many.
    pub rows: u32,
}

/// The source of rows that are null.
pub const NO_SOURCE: u32 = u32::MAX;

/// Runs put together row by row.
#[derive(Debug, Default)]
pub struct Runs {
    runs: Vec<Run>,
    rows: usize,
    /// Whether a row of the first source does not stand where it stood there.
    moved: bool,
    /// Whether a row has no source.
    nulls: bool,
}

impl Runs {
    /// Adds a row.
    pub fn push(&mut self, source: u32, row: u32) {
        self.extend(source, row, 1);
    }

    /// Adds consecutive rows.
    pub fn extend(&mut self, source: u32, start: u32, rows: u32) {
        if rows == 0 {
            return;
        }
        self.nulls |= source == NO_SOURCE;
        self.moved |= source == 0 && start as usize != self.rows;
        self.rows += rows as usize;
        if let Some(last) = self.runs.last_mut()
            && last.source == source
            && (source == NO_SOURCE || last.start + last.rows == start)
        {
            last.rows += rows;
            return;
        }
        self.runs.push(Run {
            source,
            start,
            rows,
        });
    }

    /// The same rows of sources that have other numbers.
    pub fn renumbered(&self, number: impl Fn(u32) -> u32) -> Self {
        let runs = self.runs.iter().map(|run| Run {
            source: number(run.source),
            ..*run
        });
        Self {
            runs: runs.collect(),
            rows: self.rows,
            // Another source may be the first now.
            moved: true,
            nulls: true,
        }
    }

    /// Whether the rows are those of a first source of so many rows, some of them replaced and none moved.
    pub(super) fn replace_some_of(&self, rows: usize) -> bool {
        !self.moved && self.rows == rows
    }

    /// Whether a row may have no source.
    pub(super) fn has_nulls(&self) -> bool {
        self.nulls
    }

    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The runs, in the order of the rows.
    pub fn as_slice(&self) -> &[Run] {
        &self.runs
    }
}

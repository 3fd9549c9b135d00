use super::row::Row;
use crate::error::Result;

/// How a value that nobody wants is passed over.
#[derive(Debug)]
pub(super) enum Skip {
    /// So many bytes.
    Bytes(usize),
    /// An int, long or enum.
    Number,
    /// Bytes after their count.
    Prefixed,
    Union(Vec<Skip>),
    /// Blocks of items: those of an array, or a map's keys and values.
    Blocks(Box<Skip>),
    /// One after the other.
    All(Vec<Skip>),
}

impl Skip {
    /// One after the other, with runs of plain bytes made one.
    pub(super) fn all(parts: impl IntoIterator<Item = Skip>) -> Self {
        let mut all: Vec<Self> = Vec::new();
        for part in parts {
            match (all.last_mut(), part) {
                (Some(Self::Bytes(sum)), Self::Bytes(more)) => *sum = sum.saturating_add(more),
                (_, Self::Bytes(0)) => {}
                (_, part) => all.push(part),
            }
        }
        match all.pop() {
            None => Self::Bytes(0),
            Some(one) if all.is_empty() => one,
            Some(last) => {
                all.push(last);
                Self::All(all)
            }
        }
    }

    pub(super) fn run(&self, row: &mut Row<'_>) -> Result<()> {
        match self {
            Self::Bytes(count) => row.cursor.take(*count).map(drop),
            Self::Number => row.cursor.varint().map(drop),
            Self::Prefixed => row.prefixed().map(drop),
            Self::Union(branches) => {
                let branch = row.branch()?;
                match branches.get(branch) {
                    Some(branch) => branch.run(row),
                    None => Err(row.fault("a union has no such branch")),
                }
            }
            Self::Blocks(item) => skip_blocks(item, row),
            Self::All(parts) => parts.iter().try_for_each(|part| part.run(row)),
        }
    }
}

fn skip_blocks(item: &Skip, row: &mut Row<'_>) -> Result<()> {
    loop {
        match row.block()? {
            (0, _) => return Ok(()),
            (_, Some(size)) => row.cursor.take(size).map(drop)?,
            (_, None) if matches!(item, Skip::Bytes(0)) => {}
            (count, None) => {
                for _ in 0..count {
                    item.run(row)?;
                }
            }
        }
    }
}

use std::ops::Range;
use std::sync::Arc;

use arrow::array::BooleanArray;

use super::winners::Winners;
use crate::codec::gather::Runs;

/// No row of that side.
pub(super) const NO_ROW: u32 = u32::MAX;

/// Where rows come from.
#[derive(Debug)]
pub(super) enum Rows {
    /// So many, all of the base batch, stay as they are.
    Base(usize),
    /// Each is of one side: the base batch is the first source, the arrays of the logs are the others.
    OneSide(Arc<Runs>),
    /// Each may be of both.
    Both(Vec<Pick>),
}

/// One row that comes out: of the base, of the logs, or of both.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pick {
    pub(super) base: u32,
    pub(super) log: u32,
    pub(super) base_is_higher: bool,
}

/// Rows being picked, in the order in which they come out.
pub(super) struct Picking<'a> {
    winners: &'a Winners,
    runs: Runs,
    /// Instead of runs, where rows may be of both sides.
    picks: Option<Vec<Pick>>,
}

impl Rows {
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Base(rows) => *rows,
            Self::OneSide(runs) => runs.rows(),
            Self::Both(picks) => picks.len(),
        }
    }

    /// Those that a mask keeps.
    pub(super) fn kept(&self, mask: &BooleanArray) -> Self {
        let mut kept = mask.values().set_indices();
        let mut runs = Runs::default();
        match self {
            Self::Base(_) => kept.for_each(|row| runs.push(0, row as u32)),
            Self::OneSide(all) => {
                let mut begin = 0;
                let mut next = kept.next();
                for run in all.as_slice() {
                    let end = begin + run.rows as usize;
                    while let Some(row) = next.filter(|row| *row < end) {
                        runs.push(run.source, run.start + (row - begin) as u32);
                        next = kept.next();
                    }
                    begin = end;
                }
            }
            Self::Both(picks) => {
                return Self::Both(kept.filter_map(|row| picks.get(row).copied()).collect());
            }
        }
        Self::OneSide(Arc::new(runs))
    }
}

impl<'a> Picking<'a> {
    pub(super) fn new(winners: &'a Winners) -> Self {
        Self {
            winners,
            runs: Runs::default(),
            picks: winners.mixes().then(Vec::new),
        }
    }

    /// Rows of the base that stay as they are.
    pub(super) fn base(&mut self, rows: Range<u32>) {
        match &mut self.picks {
            None => self.runs.extend(0, rows.start, rows.end - rows.start),
            Some(picks) => picks.extend(rows.map(|row| Pick {
                base: row,
                log: NO_ROW,
                base_is_higher: true,
            })),
        }
    }

    /// The logs' version of a key, and the base row that it met, or [`NO_ROW`].
    pub(super) fn version(&mut self, base: u32, number: u32, base_is_higher: bool) {
        let log = self.winners.row(number);
        match &mut self.picks {
            Some(picks) => picks.push(Pick {
                base,
                log,
                base_is_higher,
            }),
            None if base_is_higher => self.runs.push(0, base),
            None => {
                let (source, row) = self.winners.place(log);
                self.runs.push(1 + source, row);
            }
        }
    }

    pub(super) fn rows(self) -> Rows {
        match self.picks {
            Some(picks) => Rows::Both(picks),
            None => Rows::OneSide(Arc::new(self.runs)),
        }
    }
}

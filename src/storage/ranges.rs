//! Wanted ranges to requests: near ones joined, large ones split.

use std::ops::Range;

use bytes::{Bytes, BytesMut};

use crate::error::{Error, Result};
use crate::model::InOrder;

/// Requests that answer the wanted ranges, and where each answer lies.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Plan {
    /// What to ask for.
    pub(super) requests: Vec<Range<u64>>,
    /// For wanted range `i`: the requests that hold it, as `requests[places[i].0]`.
    places: Vec<(Range<usize>, Range<u64>)>,
}

impl Plan {
    /// Joins ranges at most `gap` bytes apart into requests of at most `max` bytes; splits larger ranges evenly.
    ///
    /// Empty ranges cost nothing. Each wanted range lies in one request, or is the whole of several.
    pub(super) fn new(wanted: &[Range<u64>], gap: u64, max: u64) -> Self {
        let max = max.max(1);
        let mut order: Vec<(usize, &Range<u64>)> = wanted.iter().enumerate().collect();
        order.retain(|(_, range)| !range.is_empty());
        order.in_order_by(|(_, a), (_, b)| (a.start, a.end).cmp(&(b.start, b.end)));
        let mut plan = Self {
            requests: Vec::new(),
            places: vec![(0..0, 0..0); wanted.len()],
        };
        let mut at = 0;
        while let Some((_, first)) = order.get(at) {
            let (mut run, from) = ((*first).clone(), at);
            at += 1;
            while let Some((_, next)) = order.get(at) {
                let end = run.end.max(next.end);
                if next.start > run.end.saturating_add(gap) || end - run.start > max {
                    break;
                }
                run.end = end;
                at += 1;
            }
            let begin = plan.requests.len();
            plan.requests.extend(split(&run, max));
            let held = begin..plan.requests.len();
            for (index, range) in order.iter().take(at).skip(from) {
                if let Some(place) = plan.places.get_mut(*index) {
                    *place = (held.clone(), (*range).clone());
                }
            }
        }
        plan
    }

    /// The wanted ranges out of the bodies of [`requests`](Self::requests).
    pub(super) fn cut(&self, bodies: &[Bytes]) -> Result<Vec<Bytes>> {
        self.places
            .iter()
            .map(|(held, range)| match held.len() {
                0 => Ok(Bytes::new()),
                1 => self.slice(bodies, held.start, range),
                _ => {
                    let parts = bodies.get(held.clone()).unwrap_or_default();
                    let mut all = BytesMut::with_capacity(parts.iter().map(Bytes::len).sum());
                    parts.iter().for_each(|part| all.extend_from_slice(part));
                    Ok(all.freeze())
                }
            })
            .collect()
    }

    fn slice(&self, bodies: &[Bytes], index: usize, range: &Range<u64>) -> Result<Bytes> {
        let wrong = || Error::internal("a planned range is not in its body");
        let request = self.requests.get(index).ok_or_else(wrong)?;
        let body = bodies.get(index).ok_or_else(wrong)?;
        let from = range.start.checked_sub(request.start).ok_or_else(wrong)?;
        let to = range.end.checked_sub(request.start).ok_or_else(wrong)?;
        let from = usize::try_from(from).map_err(|_| wrong())?;
        let to = usize::try_from(to).map_err(|_| wrong())?;
        match from <= to && to <= body.len() {
            true => Ok(body.slice(from..to)),
            false => Err(wrong()),
        }
    }
}

fn split(range: &Range<u64>, max: u64) -> impl Iterator<Item = Range<u64>> + use<> {
    let (start, length) = (range.start, range.end - range.start);
    let parts = length.div_ceil(max).max(1);
    let each = length.div_ceil(parts).max(1);
    let end = range.end;
    (0..parts)
        .map(move |i| start + i * each..(start + (i + 1) * each).min(end))
        .filter(|part| part.start < part.end)
}

#[cfg(test)]
mod tests {
    use super::*;

    const GAP: u64 = 10;
    const MAX: u64 = 100;

    /// Plans with a gap of 10 and requests of at most 100, and cuts bodies whose bytes are their own offsets.
    fn check(wanted: &[Range<u64>], requests: &[Range<u64>]) {
        let plan = Plan::new(wanted, GAP, MAX);
        assert_eq!(plan.requests, requests);
        let body = |r: &Range<u64>| r.clone().map(|o| o as u8).collect::<Vec<u8>>().into();
        let bodies: Vec<Bytes> = plan.requests.iter().map(body).collect();
        let expected: Vec<Bytes> = wanted.iter().map(body).collect();
        assert_eq!(plan.cut(&bodies).expect("cut"), expected);
    }

    #[test]
    fn ranges_within_the_gap_are_joined_in_any_order() {
        check(&[20..30, 0..10], &[0..30]);
        check(&[0..10, 21..30], &[0..10, 21..30]);
        check(&[0..10, 10..20, 5..12], &[0..20]);
        check(&[0..50, 10..20, 55..60], &[0..60]);
    }

    #[test]
    fn a_joined_request_stays_within_the_maximum() {
        check(&[0..60, 60..100, 100..110], &[0..100, 100..110]);
        check(&[0..60, 60..101], &[0..60, 60..101]);
    }

    #[test]
    fn a_larger_range_is_split_evenly() {
        check(&[0..101], &[0..51, 51..101]);
        check(&[5..205, 205..210], &[5..105, 105..205, 205..210]);
    }

    #[test]
    fn empty_and_repeated_ranges_cost_nothing_more() {
        check(&[7..7], &[]);
        check(&[], &[]);
        check(&[3..5, 3..5, 4..4], &[3..5]);
    }

    #[test]
    fn offsets_above_four_gibibytes_are_kept() {
        let far = 5 << 30;
        check(&[far..far + 4, far + 8..far + 9], &[far..far + 9]);
    }
}

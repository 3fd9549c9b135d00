use std::cmp::Ordering;

/// Sorting where speed is of no account: one sort of places for all types, since each of the library's is five kilobytes of wasm.
pub trait InOrder<T> {
    /// Sorts; what is equal stays in its order.
    fn in_order(&mut self)
    where
        T: Ord;

    /// Sorts by a comparison; what is equal stays in its order.
    fn in_order_by(&mut self, order: impl FnMut(&T, &T) -> Ordering);
}

impl<T> InOrder<T> for [T] {
    fn in_order(&mut self)
    where
        T: Ord,
    {
        self.in_order_by(T::cmp);
    }

    fn in_order_by(&mut self, mut order: impl FnMut(&T, &T) -> Ordering) {
        let items: &Self = self;
        let mut compare = |a, b| match (items.get(a), items.get(b)) {
            (Some(a), Some(b)) => order(a, b),
            _ => Ordering::Equal,
        };
        let places = places(items.len(), &mut compare);
        follow(places, &mut |a, b| self.swap(a, b));
    }
}

/// Where the items of a sorted list stood before.
fn places(count: usize, order: &mut dyn FnMut(usize, usize) -> Ordering) -> Vec<usize> {
    let mut places: Vec<usize> = (0..count).collect();
    places.sort_by(|a, b| order(*a, *b));
    places
}

/// Brings each item to its place by swaps, one cycle after the other.
fn follow(mut places: Vec<usize>, swap: &mut dyn FnMut(usize, usize)) {
    for start in 0..places.len() {
        let mut at = start;
        while let Some(place) = places.get_mut(at) {
            let from = std::mem::replace(place, at);
            if from == start {
                break;
            }
            swap(at, from);
            at = from;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_come_out_as_the_librarys_stable_sort_has_them() {
        let mut state = 1_u32;
        for length in (0..70).chain([1000]) {
            let mut list = Vec::new();
            for at in 0..length {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                list.push(((state >> 24) % 16, at));
            }
            let mut expected = list.clone();
            expected.sort_by_key(|(key, _)| *key);
            list.in_order_by(|(a, _), (b, _)| a.cmp(b));
            assert_eq!(list, expected);
            list.reverse();
            expected.sort();
            list.in_order();
            assert_eq!(list, expected);
        }
    }
}

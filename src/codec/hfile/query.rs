use bytes::Bytes;

use crate::model::InOrder;

/// Which keys of a file are wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Query {
    /// Every key.
    All,
    /// These very keys, sorted by bytes; see [`Query::keys`].
    Keys(Vec<Bytes>),
    /// Keys that begin with one of these, sorted by bytes, none a prefix of another; see [`Query::prefixes`].
    Prefixes(Vec<Bytes>),
}

impl Query {
    /// The keys given, in any order.
    pub fn keys<K: Into<Bytes>>(keys: impl IntoIterator<Item = K>) -> Self {
        let mut keys: Vec<Bytes> = keys.into_iter().map(Into::into).collect();
        keys.in_order();
        keys.dedup();
        Self::Keys(keys)
    }

    /// The keys that begin with one of these, in any order.
    pub fn prefixes<K: Into<Bytes>>(prefixes: impl IntoIterator<Item = K>) -> Self {
        let mut prefixes: Vec<Bytes> = prefixes.into_iter().map(Into::into).collect();
        prefixes.in_order();
        prefixes.dedup_by(|longer, shorter| longer.starts_with(shorter));
        Self::Prefixes(prefixes)
    }

    /// Whether a key is wanted.
    pub fn wants(&self, key: &[u8]) -> bool {
        match self {
            Self::All => true,
            Self::Keys(keys) => keys.binary_search_by(|wanted| wanted[..].cmp(key)).is_ok(),
            Self::Prefixes(prefixes) => {
                let after = prefixes.partition_point(|prefix| prefix[..] <= *key);
                let before = after.checked_sub(1).and_then(|at| prefixes.get(at));
                before.is_some_and(|prefix| key.starts_with(prefix))
            }
        }
    }

    /// Whether a wanted key may lie from `first` to `last`, both included; without `last` to the end of the file.
    ///
    /// The end is included since a key may stand twice, at the end of one block and the start of the next.
    pub fn touches(&self, first: &[u8], last: Option<&[u8]>) -> bool {
        let wanted = match self {
            Self::All => return true,
            Self::Keys(keys) => keys,
            Self::Prefixes(prefixes) => {
                // A prefix that sorts before `first` still counts when `first` begins with it.
                if self.wants(first) {
                    return true;
                }
                prefixes
            }
        };
        let at = wanted.partition_point(|wanted| wanted[..] < *first);
        let next = wanted.get(at);
        next.is_some_and(|wanted| last.is_none_or(|last| wanted[..] <= *last))
    }

    /// Whether nothing is wanted.
    pub fn is_empty(&self) -> bool {
        match self {
            Self::All => false,
            Self::Keys(wanted) | Self::Prefixes(wanted) => wanted.is_empty(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_is_touched_by_keys_between_its_bounds_and_at_them() {
        let query = Query::keys(["c", "m", "c"]);
        let check = |first: &str, last: Option<&str>, expected| {
            let found = query.touches(first.as_bytes(), last.map(str::as_bytes));
            assert_eq!(found, expected, "{first} to {last:?}");
        };
        check("a", Some("b"), false);
        check("a", Some("c"), true);
        check("c", Some("d"), true);
        check("d", Some("l"), false);
        check("d", None, true);
        check("n", None, false);
        assert!(query.wants(b"m") && !query.wants(b"mm"));
    }

    #[test]
    fn a_prefix_reaches_into_blocks_that_begin_behind_it() {
        let query = Query::prefixes(["ab", "abc", "x"]);
        assert_eq!(query, Query::Prefixes(vec!["ab".into(), "x".into()]));
        let check = |first: &str, last: Option<&str>, expected| {
            let found = query.touches(first.as_bytes(), last.map(str::as_bytes));
            assert_eq!(found, expected, "{first} to {last:?}");
        };
        check("a", Some("aa"), false);
        check("a", Some("ab"), true);
        check("abz", Some("ad"), true);
        check("ac", Some("w"), false);
        check("xy", None, true);
        assert!(query.wants(b"ab") && query.wants(b"abq") && !query.wants(b"aq"));
    }
}

//! Many record keys.

/// Keys that lie together: their memory grows by a little at a time, and a key is found by division.
const CHUNK: usize = 4096;

/// Record keys in pieces of memory, four bytes a key beside their text.
#[derive(Debug, Clone, Default)]
pub struct RecordKeys {
    chunks: Vec<Chunk>,
}

#[derive(Debug, Clone, Default)]
struct Chunk {
    text: String,
    ends: Vec<u32>,
}

impl Chunk {
    fn get(&self, at: usize) -> Option<&str> {
        let end = *self.ends.get(at)?;
        let start = match at.checked_sub(1) {
            Some(before) => *self.ends.get(before)?,
            None => 0,
        };
        self.text.get(start as usize..end as usize)
    }
}

impl RecordKeys {
    /// Adds a key; `false` when the text of 4096 keys would not fit into four gigabytes.
    #[must_use]
    pub fn push(&mut self, key: &str) -> bool {
        let full = |chunk: &Chunk| chunk.ends.len() == CHUNK;
        if self.chunks.last().is_none_or(full) {
            let likely = self.chunks.last_mut().map_or(0, |last| {
                last.text.shrink_to_fit();
                last.text.len()
            });
            self.chunks.push(Chunk {
                text: String::with_capacity(likely),
                ends: Vec::with_capacity(if likely > 0 { CHUNK } else { 0 }),
            });
        }
        let Some(last) = self.chunks.last_mut() else {
            return false;
        };
        let Ok(end) = u32::try_from(last.text.len() + key.len()) else {
            return false;
        };
        last.text.push_str(key);
        last.ends.push(end);
        true
    }

    /// How many.
    pub fn len(&self) -> usize {
        match self.chunks.last() {
            Some(last) => (self.chunks.len() - 1) * CHUNK + last.ends.len(),
            None => 0,
        }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.chunks.is_empty()
    }

    /// The key at a place; empty outside.
    pub fn get(&self, at: usize) -> &str {
        let chunk = self.chunks.get(at / CHUNK);
        chunk
            .and_then(|chunk| chunk.get(at % CHUNK))
            .unwrap_or_default()
    }

    /// All of them, in the order in which they came.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.chunks.iter().flat_map(|chunk| {
            let mut start = 0;
            chunk.ends.iter().map(move |end| {
                let key = chunk.text.get(start..*end as usize);
                start = *end as usize;
                key.unwrap_or_default()
            })
        })
    }

    /// The newest one.
    pub fn last(&self) -> Option<&str> {
        let chunk = self.chunks.last()?;
        chunk.get(chunk.ends.len().checked_sub(1)?)
    }

    /// Bytes of memory held.
    pub fn bytes(&self) -> usize {
        let each = |chunk: &Chunk| chunk.text.capacity() + chunk.ends.capacity() * size_of::<u32>();
        self.chunks.iter().map(each).sum()
    }
}

impl<'a> FromIterator<&'a str> for RecordKeys {
    /// Keys whose text does not fit are left out; made for a few.
    fn from_iter<I: IntoIterator<Item = &'a str>>(keys: I) -> Self {
        let mut all = Self::default();
        for key in keys {
            if !all.push(key) {
                break;
            }
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_come_back_in_their_order_empty_ones_among_them() {
        let keys: RecordKeys = ["a", "", "ключ", "b"].into_iter().collect();
        assert_eq!(keys.len(), 4);
        assert_eq!(keys.iter().collect::<Vec<_>>(), ["a", "", "ключ", "b"]);
        assert_eq!((keys.get(4), keys.is_empty()), ("", false));
        assert_eq!(
            (keys.last(), RecordKeys::default().last()),
            (Some("b"), None)
        );
    }

    #[test]
    fn many_keys_take_little_more_than_their_text() {
        let texts: Vec<String> = (0..50_000).map(|at| format!("key-{at}")).collect();
        let keys: RecordKeys = texts.iter().map(String::as_str).collect();
        assert!(keys.iter().eq(texts.iter().map(String::as_str)));
        assert_eq!((keys.len(), keys.get(49_999)), (50_000, "key-49999"));
        let text: usize = texts.iter().map(String::len).sum();
        assert!(
            keys.bytes() < text + 50_000 * 4 + 100_000,
            "{}",
            keys.bytes()
        );
    }
}

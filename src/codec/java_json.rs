//! JSON as Java's Hudi prints it.

use std::io;

use serde::Serialize;
use serde_json::ser::{Formatter, Serializer};

use crate::error::{Error, Result};

/// JSON in the lay-out of Jackson's default pretty printer, in which Hudi keeps commit metadata of layout 1, index
/// definitions and manifests: two spaces a level, ` : ` after keys, arrays on one line, no newline at the end.
///
/// ```text
/// {
///   "files" : [ "a", "b" ],
///   "none" : { }
/// }
/// ```
///
/// Errors: `Internal` for a value that is no JSON, such as a map whose keys are no texts.
pub fn pretty<T: Serialize + ?Sized>(value: &T) -> Result<Vec<u8>> {
    let mut out = Vec::new();
    let mut serializer = Serializer::with_formatter(&mut out, Jackson::default());
    value
        .serialize(&mut serializer)
        .map_err(|source| Error::internal("a value is no JSON").with_source(source))?;
    Ok(out)
}

#[derive(Default)]
struct Jackson {
    depth: usize,
    /// Whether the object or array that ends next has an entry.
    filled: bool,
}

impl Jackson {
    fn line<W: ?Sized + io::Write>(&self, out: &mut W) -> io::Result<()> {
        out.write_all(b"\n")?;
        (0..self.depth).try_for_each(|_| out.write_all(b"  "))
    }
}

impl Formatter for Jackson {
    fn begin_array<W: ?Sized + io::Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.filled = false;
        out.write_all(b"[")
    }

    fn begin_array_value<W: ?Sized + io::Write>(
        &mut self,
        out: &mut W,
        first: bool,
    ) -> io::Result<()> {
        out.write_all(if first { b" " } else { b", " })
    }

    fn end_array_value<W: ?Sized + io::Write>(&mut self, _: &mut W) -> io::Result<()> {
        self.filled = true;
        Ok(())
    }

    fn end_array<W: ?Sized + io::Write>(&mut self, out: &mut W) -> io::Result<()> {
        out.write_all(b" ]")
    }

    fn begin_object<W: ?Sized + io::Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.depth += 1;
        self.filled = false;
        out.write_all(b"{")
    }

    fn begin_object_key<W: ?Sized + io::Write>(
        &mut self,
        out: &mut W,
        first: bool,
    ) -> io::Result<()> {
        if !first {
            out.write_all(b",")?;
        }
        self.line(out)
    }

    fn begin_object_value<W: ?Sized + io::Write>(&mut self, out: &mut W) -> io::Result<()> {
        out.write_all(b" : ")
    }

    fn end_object_value<W: ?Sized + io::Write>(&mut self, _: &mut W) -> io::Result<()> {
        self.filled = true;
        Ok(())
    }

    fn end_object<W: ?Sized + io::Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.depth = self.depth.saturating_sub(1);
        match self.filled {
            true => self.line(out)?,
            false => out.write_all(b" ")?,
        }
        out.write_all(b"}")
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    // Jackson 2.10, `writerWithDefaultPrettyPrinter`.
    #[test]
    fn lines_and_spaces_are_jacksons() {
        let value = json!({"a": {"b": [{"c": 1}, {"c": null}], "d": {}}, "e": [], "f": ["x", 2]});
        let expected = "{\n  \"a\" : {\n    \"b\" : [ {\n      \"c\" : 1\n    }, {\n      \"c\" : null\n    } ],\n    \
                        \"d\" : { }\n  },\n  \"e\" : [ ],\n  \"f\" : [ \"x\", 2 ]\n}";
        assert_eq!(
            String::from_utf8(pretty(&value).unwrap()).unwrap(),
            expected
        );
    }
}

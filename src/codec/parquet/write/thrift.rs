//! Thrift's compact protocol, the writing side of [`super::super::thrift`].

const TRUE: u8 = 1;
const FALSE: u8 = 2;
const I32: u8 = 5;
const I64: u8 = 6;
const BINARY: u8 = 8;
const LIST: u8 = 9;
const STRUCT: u8 = 12;

/// What the elements of a list are.
#[derive(Debug, Clone, Copy)]
pub(super) enum Element {
    Bool,
    I32,
    I64,
    Binary,
    Struct,
}

impl Element {
    fn kind(self) -> u8 {
        match self {
            Self::Bool => FALSE,
            Self::I32 => I32,
            Self::I64 => I64,
            Self::Binary => BINARY,
            Self::Struct => STRUCT,
        }
    }
}

/// One struct being written, fields in rising order of their ids.
#[derive(Debug, Default)]
pub(super) struct Out {
    bytes: Vec<u8>,
    last: i16,
}

impl Out {
    pub(super) fn i32(&mut self, id: i16, value: i32) {
        self.field(id, I32);
        self.zigzag(i64::from(value));
    }

    pub(super) fn i64(&mut self, id: i16, value: i64) {
        self.field(id, I64);
        self.zigzag(value);
    }

    pub(super) fn bool(&mut self, id: i16, value: bool) {
        self.field(id, if value { TRUE } else { FALSE });
    }

    pub(super) fn binary(&mut self, id: i16, value: &[u8]) {
        self.field(id, BINARY);
        self.plain_binary(value);
    }

    /// A struct below this one.
    pub(super) fn structure(&mut self, id: i16, fill: impl FnOnce(&mut Self)) {
        self.field(id, STRUCT);
        self.nested(fill);
    }

    /// A list; `each` writes one element by the functions without an id.
    pub(super) fn list<T>(
        &mut self,
        id: i16,
        element: Element,
        items: &[T],
        mut each: impl FnMut(&mut Self, &T),
    ) {
        self.field(id, LIST);
        match u8::try_from(items.len()) {
            Ok(size) if size < 15 => self.bytes.push(size << 4 | element.kind()),
            _ => {
                self.bytes.push(0xf0 | element.kind());
                self.varint(items.len() as u64);
            }
        }
        for item in items {
            each(self, item);
        }
    }

    /// An element of a list of booleans.
    pub(super) fn plain_bool(&mut self, value: bool) {
        self.bytes.push(if value { TRUE } else { FALSE });
    }

    /// An element of a list of integers.
    pub(super) fn zigzag(&mut self, value: i64) {
        self.varint(((value << 1) ^ (value >> 63)).cast_unsigned());
    }

    /// An element of a list of binaries.
    pub(super) fn plain_binary(&mut self, value: &[u8]) {
        self.varint(value.len() as u64);
        self.bytes.extend_from_slice(value);
    }

    /// An element of a list of structs.
    pub(super) fn nested(&mut self, fill: impl FnOnce(&mut Self)) {
        let outer = std::mem::take(&mut self.last);
        fill(self);
        self.bytes.push(0);
        self.last = outer;
    }

    /// The bytes of the outermost struct.
    pub(super) fn finish(mut self) -> Vec<u8> {
        self.bytes.push(0);
        self.bytes
    }

    fn field(&mut self, id: i16, kind: u8) {
        match u8::try_from(id - self.last) {
            Ok(delta @ 1..=15) => self.bytes.push(delta << 4 | kind),
            _ => {
                self.bytes.push(kind);
                self.zigzag(i64::from(id));
            }
        }
        self.last = id;
    }

    fn varint(&mut self, value: u64) {
        put_varint(&mut self.bytes, value);
    }
}

/// Seven bits a byte, the lowest first.
pub(super) fn put_varint(bytes: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        bytes.push((value & 0x7f) as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

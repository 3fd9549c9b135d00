/// Why a request is made; [`Cause::as_str`] is the word that `onRequest` hears.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Cause {
    /// `hoodie.properties`.
    Properties,
    /// Instants, their history and what points to it.
    Timeline,
    /// Names of files and folders, partition metafiles included.
    Listing,
    /// Files of the metadata table.
    MetadataTable,
    /// The end of a base file, where its own metadata is.
    Footer,
    /// Column chunks and pages.
    Data,
    /// Log files.
    Log,
    /// Bloom filters and other indexes.
    Index,
    /// Lock files.
    Lock,
    /// Anything written.
    Write,
}

impl Cause {
    /// The public word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Properties => "properties",
            Self::Timeline => "timeline",
            Self::Listing => "listing",
            Self::MetadataTable => "metadata-table",
            Self::Footer => "footer",
            Self::Data => "data",
            Self::Log => "log",
            Self::Index => "index",
            Self::Lock => "lock",
            Self::Write => "write",
        }
    }
}

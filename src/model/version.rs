use std::fmt;

/// How a table takes updates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TableType {
    /// Every change rewrites base files.
    CopyOnWrite,
    /// Changes may go to log files beside the base files.
    MergeOnRead,
}

impl TableType {
    /// The word in `hoodie.table.type`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::CopyOnWrite => "COPY_ON_WRITE",
            Self::MergeOnRead => "MERGE_ON_READ",
        }
    }
}

impl fmt::Display for TableType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The table versions that this engine handles.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TableVersion {
    /// Hudi 0.14 and 0.15.
    Six,
    /// Hudi 1.0.
    Eight,
    /// Hudi 1.1 and 1.2.
    Nine,
}

impl TableVersion {
    /// The number in `hoodie.table.version`.
    pub const fn number(self) -> u32 {
        match self {
            Self::Six => 6,
            Self::Eight => 8,
            Self::Nine => 9,
        }
    }

    /// How the timeline of this version is laid out.
    pub const fn layout(self) -> TimelineLayout {
        match self {
            Self::Six => TimelineLayout::One,
            Self::Eight | Self::Nine => TimelineLayout::Two,
        }
    }
}

impl fmt::Display for TableVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.number())
    }
}

/// Where the files of instants lie and how they are named.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TimelineLayout {
    /// In `.hoodie/`, completed files without a completion time.
    One,
    /// In `.hoodie/timeline/`, completed files named by request and completion time.
    Two,
}

impl TimelineLayout {
    /// The number in `hoodie.timeline.layout.version`.
    pub const fn number(self) -> u32 {
        match self {
            Self::One => 1,
            Self::Two => 2,
        }
    }
}

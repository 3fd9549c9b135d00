//! Which files are the table: the file-system view.

//! Looking: reading, listing and searching files.

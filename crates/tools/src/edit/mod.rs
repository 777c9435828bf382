//! Changing: edits that touch exactly the bytes they name.

//! The byte model: a file is bytes plus facts; text is only a view of it.

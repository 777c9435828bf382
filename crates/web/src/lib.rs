//! Pages of the web: where a request may go, how much of an answer is read, and what is text in it.

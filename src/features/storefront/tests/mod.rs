//! Tests of connected stores with servers that behave like the platforms.

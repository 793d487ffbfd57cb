//! Tests of previews through the operations.

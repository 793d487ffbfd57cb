//! Builds a part of an email block by block.

use super::cells::{Cell, Row};
use crate::features::emails::theme::GroundName;

/// A part of an email that is still being built.
pub struct Draft {
    pub ground: GroundName,
    pub rows: Vec<Row>,
    /// The padding at the top and bottom in pixels, if it differs from the default.
    pub pad: Option<(u16, u16)>,
    pub card: bool,
    /// Whether the part starts with a full-width picture.
    pub flush_top: bool,
    /// Whether the part contains only a few words.
    pub is_brief: bool,
}

impl Draft {
    pub fn new(ground: GroundName) -> Self {
        Self { ground, rows: Vec::new(), pad: None, card: false, flush_top: false, is_brief: false }
    }

    /// Appends a row. If the new row and the last row are stacks with the same padding, the cells of the new row are added to the
    /// last row.
    pub fn push(&mut self, row: Row) {
        if let Some(last) = self.rows.last_mut().filter(|last| last.is_stack() && row.is_stack() && last.side == row.side) {
            let cells = row.columns.into_iter().flat_map(|column| column.cells);
            last.columns[0].cells.extend(cells);
            return;
        }
        self.rows.push(row);
    }

    /// Appends a row, with space above the row unless it is the first row.
    pub fn follow(&mut self, mut row: Row, gap: u16) {
        if self.rows.is_empty() {
            return self.push(row);
        }
        match row.columns.as_mut_slice() {
            [column] if column.frame.is_none() && row.gap == 0 => {
                if let Some(first) = column.cells.first_mut() {
                    first.gap += gap;
                }
            }
            _ => row.gap += gap,
        }
        self.push(row);
    }

    pub fn stack(ground: GroundName, cells: Vec<Cell>, side: u16) -> Self {
        let mut draft = Self::new(ground);
        draft.push(Row::stack(cells, side));
        draft
    }
}

//! Finds rows that cannot be decoded. Checksums find damaged pages, but not bad rows that a faulty program wrote.

use std::ops::ControlFlow;

use super::Result;
use super::codec::Value;
use super::key::Key;
use super::port::{Order, Span};
use super::tx::{Read, Table};
use crate::vocab::tables::TableId;

/// Checks whether the rows of one table can be decoded as the types of the table.
#[derive(Clone, Copy)]
pub struct RowCheck {
    pub table: TableId,
    reads: fn(&[u8], &[u8]) -> bool,
}

impl RowCheck {
    pub const fn of<K: Key, V: Value>(table: Table<K, V>) -> Self {
        Self { table: table.id, reads: reads::<K, V> }
    }

    /// Returns the number of rows in the table, and how many of them cannot be decoded.
    pub fn count(&self, tx: &impl Read) -> Result<(u64, u64)> {
        let (mut rows, mut unreadable) = (0, 0);
        tx.visit_bytes(self.table, &Span::default(), Order::Forward, &mut |key, value| {
            rows += 1;
            unreadable += u64::from(!(self.reads)(key, value));
            Ok(ControlFlow::Continue(()))
        })?;
        Ok((rows, unreadable))
    }
}

fn reads<K: Key, V: Value>(mut key: &[u8], value: &[u8]) -> bool {
    K::read(&mut key).is_some() && V::decode(value).is_some()
}

#[cfg(test)]
mod tests {
    use super::super::testing::scratch;
    use super::*;
    use crate::vocab::tables::CONTACTS;

    #[test]
    fn rows_with_a_bad_key_or_a_bad_value_are_counted() {
        const NUMBERS: Table<u32, i64> = Table::new(CONTACTS);
        let (_folder, store) = scratch();
        let wrote = store.write_blocking(|tx| {
            tx.put(NUMBERS, &1, &7);
            tx.put_bytes(CONTACTS, 2_u32.to_bytes(), vec![1, 2, 3]);
            tx.put_bytes(CONTACTS, vec![9], 7_i64.to_le_bytes().to_vec());
            Ok::<_, ()>(())
        });
        assert_eq!(wrote, Ok(Ok(())));
        assert_eq!(RowCheck::of(NUMBERS).count(&store.read()), Ok((3, 2)));
        store.close();
    }
}

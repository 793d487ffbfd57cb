//! Sets of row numbers in blocks of 65,536, for example the rows that have a tag, a status or a topic.
//!
//! Row numbers of one scope are dense and ascending, so a set is a compressed bitmap. Counting, combining and finding the n-th member take
//! microseconds, while reading the rows would take a second. A change rewrites the blocks of the changed numbers, each of at most 8 KiB.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use roaring::RoaringBitmap;

use super::Result;
use super::codec::Value;
use super::key::{Key, PrefixOf};
use super::port::{Order, Span};
use super::tx::{Read, Table, WriteTx};

/// One block of a set: the numbers whose upper 16 bits are the number of the block.
pub struct Block(RoaringBitmap);

impl Value for Block {
    fn encode(&self, out: &mut Vec<u8>) {
        self.0.serialize_into(out).expect("writing to memory cannot fail");
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        RoaringBitmap::deserialize_from(bytes).ok().map(Self)
    }
}

/// Numbers to add to a set, and numbers to remove from it.
#[derive(Default)]
pub struct Delta {
    pub add: RoaringBitmap,
    pub remove: RoaringBitmap,
}

/// Loads the complete set under `key`.
pub fn load<K: Key, S: PrefixOf<K>>(tx: &impl Read, table: Table<K, Block>, key: &S) -> Result<RoaringBitmap> {
    load_span(tx, table, &table.under(key))
}

/// Loads all sets whose blocks are in `span`, and returns their union.
pub fn load_span<K: Key>(tx: &impl Read, table: Table<K, Block>, span: &Span) -> Result<RoaringBitmap> {
    let mut whole = RoaringBitmap::new();
    tx.visit_bytes(table.id, span, Order::Forward, &mut |_, bytes| {
        let Block(block) = Block::decode(bytes).ok_or_else(|| tx.corrupt(table.id))?;
        whole |= block;
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(whole)
}

/// Returns whether `number` is in the set that stores each block `n` under the key `block_key(n)`.
pub fn has<K: Key>(tx: &impl Read, table: Table<K, Block>, block_key: impl Fn(u16) -> K, number: u32) -> Result<bool> {
    let block = tx.get(table, &block_key((number >> 16) as u16))?;
    Ok(block.is_some_and(|Block(members)| members.contains(number)))
}

/// Changes the set that stores each block `n` under the key `block_key(n)`. A number that is both added and removed ends up in the set.
pub fn apply<K: Key>(tx: &mut WriteTx<'_>, table: Table<K, Block>, block_key: impl Fn(u16) -> K, delta: &Delta) -> Result<()> {
    for (number, part) in by_block(delta) {
        let key = block_key(number);
        let Block(mut block) = tx.get(table, &key)?.unwrap_or(Block(RoaringBitmap::new()));
        if part.add.is_subset(&block) && part.remove.is_disjoint(&block) {
            // The change leaves the block as it is, so the block is not written again. This is frequent, because most activity repeats
            // earlier activity.
            continue;
        }
        block -= &part.remove;
        block |= &part.add;
        if block.is_empty() {
            tx.delete(table, &key);
            continue;
        }
        // Optimizing shrinks a full or nearly full block from 8 KiB to a few bytes.
        block.optimize();
        tx.put(table, &key, &Block(block));
    }
    Ok(())
}

fn by_block(delta: &Delta) -> BTreeMap<u16, Delta> {
    let mut blocks: BTreeMap<u16, Delta> = BTreeMap::new();
    for number in &delta.add {
        blocks.entry((number >> 16) as u16).or_default().add.insert(number);
    }
    for number in &delta.remove {
        blocks.entry((number >> 16) as u16).or_default().remove.insert(number);
    }
    blocks
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::super::conformance::MemoryPort;
    use super::super::testing::start;
    use super::*;
    use crate::vocab::tables::{CONTACT_BITS, DatabaseKind};

    const BITS: Table<(u8, u16), Block> = Table::new(CONTACT_BITS);

    /// Generates numbers in a few blocks, many of them at block boundaries.
    fn number() -> impl Strategy<Value = u32> {
        (0..3_u32, prop_oneof![0..4_u32, 65_532..65_536_u32, 0..65_536_u32], any::<bool>())
            .prop_map(|(block, low, far)| (block << 16) + low + if far { 0xFFFF_0000 - (2 << 16) } else { 0 })
    }

    /// Generates single numbers and, occasionally, a run that fills most of a block.
    fn numbers() -> impl Strategy<Value = BTreeSet<u32>> {
        let run = (0..200_000_u32, 0..70_000_u32).prop_map(|(from, count)| (from..from + count).collect());
        prop_oneof![6 => prop::collection::btree_set(number(), 0..40), 1 => run]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        #[test]
        fn a_set_in_blocks_equals_a_plain_set(deltas in prop::collection::vec((numbers(), numbers()), 1..6)) {
            let store = start(std::sync::Arc::new(MemoryPort::new()), DatabaseKind::Environment).expect("the store starts");
            let mut plain = BTreeSet::new();
            for (add, remove) in deltas {
                plain = &(&plain - &remove) | &add;
                let delta = Delta { add: add.into_iter().collect(), remove: remove.into_iter().collect() };
                store
                    .write_blocking(move |tx| {
                        apply(tx, BITS, |block| (8, block), &Delta { add: [9].into(), remove: RoaringBitmap::new() })?;
                        apply(tx, BITS, |block| (7, block), &delta)
                    })
                    .expect("the write succeeds")
                    .expect("the changes are applied");
                let tx = store.read();
                prop_assert!(load(&tx, BITS, &(7,)).expect("the data is readable").iter().eq(plain.iter().copied()));
                prop_assert_eq!(load(&tx, BITS, &(8,)).expect("the data is readable"), RoaringBitmap::from([9]));
                let mut blocks = BTreeSet::new();
                tx.visit(BITS, &BITS.under(&(7,)), Order::Forward, |(_, number), Block(block)| {
                    assert!(!block.is_empty() && block.iter().all(|member| (member >> 16) as u16 == number));
                    blocks.insert(number);
                    Ok(ControlFlow::Continue(()))
                })
                .expect("the data is readable");
                let expected: BTreeSet<u16> = plain.iter().map(|number| (number >> 16) as u16).collect();
                prop_assert_eq!(blocks, expected);
            }
            store.close();
        }
    }

    #[test]
    fn a_full_block_needs_only_a_few_bytes() {
        let store = start(std::sync::Arc::new(MemoryPort::new()), DatabaseKind::Environment).expect("the store starts");
        let delta = Delta { add: (0..65_536).collect(), remove: RoaringBitmap::new() };
        store
            .write_blocking(move |tx| apply(tx, BITS, |block| (7, block), &delta))
            .expect("the write succeeds")
            .expect("the changes are applied");
        let bytes = store
            .read()
            .get_bytes(BITS.id, &(7_u8, 0_u16).to_bytes())
            .expect("the data is readable")
            .expect("the row exists")
            .len();
        assert!(bytes < 64, "{bytes}");
        store.close();
    }
}

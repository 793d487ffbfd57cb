//! Sets of row numbers kept in blocks of 65,536: which rows have a tag, a status, a topic.
//!
//! Row numbers of one scope are dense and grow by one, so a set is a compressed bitmap. Counting, combining and finding the n-th
//! member cost microseconds where walking rows would cost a second; a change rewrites one block of at most 8 KiB.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use roaring::RoaringBitmap;

use super::codec::Value;
use super::key::{Key, PrefixOf};
use super::port::Order;
use super::tx::{Read, Table, WriteTx};
use super::{Result, port::corrupt};

/// One block of a set: only numbers whose upper half is the block's number.
pub struct Block(RoaringBitmap);

impl Value for Block {
    fn encode(&self, out: &mut Vec<u8>) {
        self.0.serialize_into(out).expect("writing to memory cannot fail");
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        RoaringBitmap::deserialize_from(bytes).ok().map(Self)
    }
}

/// Numbers to add to and to take from one set.
#[derive(Default)]
pub struct Delta {
    pub add: RoaringBitmap,
    pub remove: RoaringBitmap,
}

/// The whole set under `key`.
pub fn load<K: Key, S: PrefixOf<K>>(tx: &impl Read, table: Table<K, Block>, key: &S) -> Result<RoaringBitmap> {
    let mut whole = RoaringBitmap::new();
    tx.visit_bytes(table.id, &table.under(key), Order::Forward, &mut |_, bytes| {
        let Block(block) = Block::decode(bytes).ok_or_else(|| corrupt(table.id))?;
        whole |= block;
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(whole)
}

/// Whether `number` is in the set whose block `n` is under `block_key(n)`.
pub fn has<K: Key>(tx: &impl Read, table: Table<K, Block>, block_key: impl Fn(u16) -> K, number: u32) -> Result<bool> {
    let block = tx.get(table, &block_key((number >> 16) as u16))?;
    Ok(block.is_some_and(|Block(members)| members.contains(number)))
}

/// Change the set whose block `n` is under `block_key(n)`. Numbers in both halves of the delta end up in the set.
pub fn apply<K: Key>(tx: &mut WriteTx<'_>, table: Table<K, Block>, block_key: impl Fn(u16) -> K, delta: &Delta) -> Result<()> {
    for (number, part) in by_block(delta) {
        let key = block_key(number);
        let Block(mut block) = tx.get(table, &key)?.unwrap_or(Block(RoaringBitmap::new()));
        block -= &part.remove;
        block |= &part.add;
        if block.is_empty() {
            tx.delete(table, &key);
            continue;
        }
        // A block that is full, or nearly, shrinks from 8 KiB to a few bytes.
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

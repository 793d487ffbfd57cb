//! The service as shipped: the real program on free ports, asked by clients that check every reply against its declaration.

mod access;
mod budgets;
mod campaigns;
mod clocks;
mod crash;
mod delivery;
mod disks;
mod edits;
mod foreign;
mod generation;
mod hostile;
mod import;
mod inbound;
mod inputs;
mod outages;
mod peers;
mod pixels;
mod process;
mod replays;
mod returns;
mod sites;
mod support;
mod tracking;
mod worlds;

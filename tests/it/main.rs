//! The service as shipped: the real program on free ports, asked by clients that check every reply against its declaration.

mod access;
mod agents;
mod budgets;
mod campaigns;
mod crash;
mod dashboard;
mod delivery;
mod edits;
mod foreign;
mod generation;
mod hostile;
mod import;
mod inbound;
mod inputs;
mod people;
mod pixels;
mod process;
mod replays;
mod sites;
mod support;
mod tracking;
mod worlds;

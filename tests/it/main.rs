//! The service as shipped: the real program on free ports, asked by clients that check every reply against its declaration.

mod access;
mod budgets;
mod campaigns;
mod crash;
mod delivery;
mod edits;
mod events;
mod foreign;
mod generation;
mod hostile;
mod import;
mod inbound;
mod inputs;
mod pixels;
mod process;
mod replays;
mod sites;
mod support;
mod tracking;
mod webhook_crash;
mod webhook_receivers;
mod webhooks;
mod worlds;

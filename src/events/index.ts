/** `pinnace/events`: events as they happen, event logs, and the verification of the audit. */

export { type Audit, type AuditOptions, createAudit } from './audit.ts';
export { createEventBlocks } from './event-chain.ts';
export { type EventBlocks } from './event-query.ts';
export type { EventLogOptions } from './event-chain.ts';
export type { EventChain } from './event-query.ts';
export type { EventFeed, Followed, FollowOptions, GapReason } from './event-feed.ts';
export { createEventLog, type EventLog, type LoggedEvent } from './audit.ts';
export type { EventFilter, EventQuery } from './event-query.ts';
export type { StoredEvent } from './event-records.ts';
export {
  createEventRing,
  type EventRing,
  type EventRingOptions,
  type RingEvent,
  type WatchOptions,
} from './event-ring.ts';
export type { EventStore } from './event-query.ts';
export type { ErrorContext, ErrorKind, OnError } from './report.ts';
export type { BreakReason, ChainAnchor } from './event-query.ts';
export type { Verification, VerifyOptions } from './event-query.ts';

/** @deprecated Use `RingEvent`. */
export type { RingEvent as SeenEvent } from './event-ring.ts';
/** @deprecated Use `StoredEvent`. */
export type { StoredEvent as KeptEvent } from './event-records.ts';

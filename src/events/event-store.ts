/** Events that outlive their instance: for readers at another instance, or after a restart. */

import type { EventBlocks } from './event-blocks.ts';
import type { ObservedEvent } from '../contracts/event-sink.ts';

/**
 * Stores the events of each tenant in a log of its own, which all instances over the same storage write. Events without a tenant are
 * not stored. An event with the action `lostAction` replaces events that could not be stored.
 */
export interface EventStore {
  /** Takes an event without waiting for its commit. */
  readonly observe: (event: ObservedEvent, tenant: string | undefined) => void;
  readonly log: (tenant: string) => EventBlocks;
}

/** The action of an event that replaces lost events; its payload has their number. */
export const lostAction = 'events.lost';

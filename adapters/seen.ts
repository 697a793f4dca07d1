import type { Audit } from '../src/events/audit.ts';
import type { EventRing } from '../src/events/event-ring.ts';

/** For what stands beside a runtime, as a registry does: where its changes are written down, and seen. */
export interface Seen {
  readonly audit: Audit;
  readonly ring: EventRing;
}

/** What a registry and other parts beside a runtime share with it: the audit of their changes, and the ring of their events. */

import type { Audit } from '../src/events/audit.ts';
import type { EventRing } from '../src/events/event-ring.ts';

/** Where changes are audited and events are kept for observers. */
export interface Observability {
  readonly audit: Audit;
  readonly ring: EventRing;
}

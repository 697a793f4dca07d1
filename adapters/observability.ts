/** The audit and the event ring that a registry and other parts share with a runtime. */

import type { Audit } from '../src/events/audit.ts';
import type { EventRing } from '../src/events/event-ring.ts';

/** Where changes are audited and events are buffered for observers. */
export interface Observability {
  readonly audit: Audit;
  readonly ring: EventRing;
}

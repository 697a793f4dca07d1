/** What all reducers share. */

import { type PlanEvent, refOf } from '../model/plan-event.ts';
import type { Delivered } from '../host/run-agent.ts';

/** Why an event was not applied. */
export type Refusal = string;

/** The value of an event's field, or its reference. */
export function deliveredOf(event: PlanEvent, field: string): Delivered {
  const ref = refOf(event, field);
  if (ref) return { ref };
  return { value: (event as unknown as Record<string, unknown>)[field] }; // a field that is not there has no value
}

/** What a tree keeps for each agent: its view and its filters; and what it keeps for all of them. */

import { BoundedMap } from '../../base/bounded-map.ts';
import { type AuditTrail, createAuditTrail } from './call/audit.ts';
import type { Touch } from '../nodes/change.ts';
import { addView, type Core, dropView } from '../nodes/core.ts';
import { createLedger, type Ledger } from './call/idempotency.ts';
import type { PropertyFilter } from '../views/projection.ts';
import { createRateLimiter, type RateLimiter } from './call/rate-limit.ts';
import { createTextCache, type TextCache } from '../views/text-cache.ts';
import type { ViewState } from '../views/view-state.ts';

/** One agent at one tree. */
export interface Session {
  readonly viewId: string;
  /**
   * What the agent expanded and collapsed, over each of the two defaults: a node never touched is collapsed in the first and expanded
   * in the second. So `defaultExpanded` of a call is only a choice between them.
   */
  readonly collapsed: ViewState;
  readonly expanded: ViewState;
  viewRev: number;
  /** The latest changes of the view, oldest first. */
  readonly viewTouches: (Touch & { readonly viewRev: number })[];
  defaultExpanded: boolean;
  filter: PropertyFilter;
}

/** What the tools of all agents at one tree share. */
export interface Desk {
  readonly core: Core;
  readonly sessions: BoundedMap<string, Session>;
  readonly ledger: Ledger;
  readonly audit: AuditTrail;
  readonly texts: TextCache;
  /** Outlives the sessions: an agent whose view was evicted is still limited. */
  readonly rates: RateLimiter;
}

/** The maximum number of agents' views; the least recently used is evicted, which makes its version tokens stale. */
const maxSessions = 64;
const maxViewTouches = 200;

const desks = new WeakMap<Core, Desk>();

/** The desk of a tree. */
export function deskOf(core: Core): Desk {
  const known = desks.get(core);
  if (known) return known;
  const desk: Desk = {
    core,
    sessions: new BoundedMap(maxSessions, (session) => dropViews(core, session)),
    ledger: createLedger(),
    audit: createAuditTrail(),
    texts: createTextCache(),
    rates: createRateLimiter(),
  };
  desks.set(core, desk);
  return desk;
}

let lastViewId = 0;

/** The session of an agent, as it left it. */
export function sessionOf({ core, sessions }: Desk, agentId: string): Session {
  return sessions.getOrCreate(agentId, () => createSession(core));
}

function createSession(core: Core): Session {
  return {
    viewId: (++lastViewId).toString(36),
    collapsed: addView(core, { defaultExpanded: false }),
    expanded: addView(core, { defaultExpanded: true }),
    viewRev: 0,
    viewTouches: [],
    defaultExpanded: false,
    filter: { includedProperties: [], excludedProperties: [] },
  };
}

/** The agent's view with this default; without one, its own. */
export function viewOf(session: Session, defaultExpanded = session.defaultExpanded): ViewState {
  return defaultExpanded ? session.expanded : session.collapsed;
}

/** Notes a change of the agent's view. */
export function touchView(session: Session, nodeId: string): void {
  session.viewRev++;
  session.viewTouches.push({ nodeId, kind: 'view', viewRev: session.viewRev });
  if (session.viewTouches.length > maxViewTouches) session.viewTouches.shift();
}

function dropViews(core: Core, { collapsed, expanded }: Session): void {
  for (const view of [collapsed, expanded]) dropView(core, view);
}

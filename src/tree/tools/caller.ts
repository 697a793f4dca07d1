/** Who calls the tools of a tree, and what a call may use. */

import type { Core } from '../nodes/core.ts';
import type { AuditSink } from './call/audit.ts';
import type { TreeLimits } from './limits.ts';
import type { Shape } from './pages/shape.ts';
import type { Desk, Session } from './session.ts';

/** The agent that calls, and its permissions. */
export interface Caller {
  readonly core: Core;
  readonly desk: Desk;
  readonly agentId: string;
  readonly role: 'reader' | 'editor';
  readonly readOnly: boolean;
  readonly exportRole: 'reader' | 'editor';
  /** Whose changes `undo` takes back. */
  readonly undo: 'own' | 'any';
  readonly limits: TreeLimits;
  readonly shape: Shape;
  readonly audit: AuditSink | undefined;
  readonly now: () => number;
}

/** A caller with its session. */
export interface CallContext extends Caller {
  readonly session: Session;
}

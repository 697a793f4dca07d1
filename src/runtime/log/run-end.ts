/** How a run ends. */

import type { UIMessageChunk } from '../../contracts/ai-types.ts';
import type { ErrorData } from '../../base/errors.ts';
import type { Loss } from '../../tools/call-ends.ts';

/** Why the model stopped, as the AI SDK says it. */
export type FinishReason = NonNullable<Extract<UIMessageChunk, { type: 'finish' }>['finishReason']>;

/** The end of a run. */
export type RunEnd =
  | { readonly type: 'completed'; readonly finishReason: FinishReason }
  /** A person must approve calls before the chat can go on. */
  | { readonly type: 'awaiting_approval'; readonly finishReason: FinishReason }
  /** A plan waits for people: their replies go on with it, and the chat's next run follows it. */
  | { readonly type: 'suspended'; readonly finishReason: FinishReason }
  /** The run reached a limit; its output until then is valid. */
  | { readonly type: 'stopped'; readonly finishReason: FinishReason; readonly error: ErrorData }
  | { readonly type: 'cancelled'; readonly reason: string }
  | { readonly type: 'failed'; readonly error: ErrorData };

/** Why calls that are open at this end of their run have no result. */
export function lossAt(end: RunEnd): Loss {
  if (end.type === 'cancelled') return 'cancelled';
  if (!('error' in end)) return 'run_failed';
  if (end.error.details?.['reason'] === 'worker_lost') return 'worker_lost';
  return end.error.code === 'deadline_exceeded' ? 'run_timeout' : 'run_failed';
}

/** Checks the payload that a tool is about to store. */

import { PinnaceError } from '../../base/errors.ts';
import { invalid } from '../../base/parse.ts';
import { bytesOf } from './pages/answer-size.ts';
import type { Payload } from '../nodes/node-store.ts';
import { badPayload, unknownType } from '../nodes/payload-types.ts';
import type { CallContext } from './caller.ts';

/** Returns the payload as its schema makes it. @throws PinnaceError `invalid_argument` */
export function checkedPayload(
  { core: { types }, limits }: Pick<CallContext, 'core' | 'limits'>,
  { nodeId, payloadType, payload, stored }: {
    readonly nodeId: string;
    readonly payloadType: string;
    readonly payload: unknown;
    readonly stored?: Payload;
  },
): Payload {
  if (!types.get(payloadType)) {
    const issue = { ...unknownType(payloadType, types.names), path: 'payloadType' };
    throw invalid(`the payload of node "${nodeId}"`, [issue]);
  }
  const check = types.check(payloadType, payload, stored);
  if (check.ok) return withinBytes(check.payload, { nodeId, limits });
  throw badPayload(`the payload of node "${nodeId}"`, check);
}

function withinBytes(payload: Payload, { nodeId, limits }: { nodeId: string } & Pick<CallContext, 'limits'>): Payload {
  const bytes = bytesOf(payload);
  if (bytes <= limits.payloadBytes) return payload;
  const message =
    `Cannot store the payload of node "${nodeId}": it takes ${bytes} bytes of at most ${limits.payloadBytes}`;
  throw new PinnaceError('invalid_argument', message, { details: { reason: 'too_large', limit: limits.payloadBytes } });
}

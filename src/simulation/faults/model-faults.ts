/** What goes wrong at model endpoints. */

import { isRecord } from '../../base/is-record.ts';
import type { Fault, FaultStrike } from '../fault.ts';
import { type EarlyEnd, endingEarly, readAll } from '../streams.ts';
import { garbage, inTurn, rejects, silent } from './strikes.ts';

/** An error as the AI SDK's `APICallError`. */
function apiError(statusCode: number, responseHeaders: Record<string, string> = {}): FaultStrike {
  return ({ canary }) => {
    const facts = { statusCode, responseHeaders, url: `https://models.example/${canary}`, responseBody: canary };
    return Promise.reject(Object.assign(new Error(canary), { name: 'AI_APICallError', ...facts }));
  };
}

/** The stream ends early, somewhere in its middle. */
function cut(end: (canary: string) => EarlyEnd): FaultStrike {
  return async ({ go, chance, canary }) => {
    const answer = await go();
    if (!isRecord(answer) || !(answer['stream'] instanceof ReadableStream)) return answer;
    const parts: readonly unknown[] = await readAll(answer['stream']);
    const shown = Math.min(2 + chance.below(Math.max(1, parts.length - 3)), parts.length - 1);
    return { ...answer, stream: endingEarly(parts.slice(0, shown), end(canary)) };
  };
}

/** Answers with one error in its stream. */
const reportsError: FaultStrike = () =>
  Promise.resolve({ stream: endingEarly([{ type: 'error', error: { message: 'Overloaded', code: 503 } }], 'ends') });

const unreachable: FaultStrike = ({ canary }) => Promise.reject(new TypeError(`fetch failed: ${canary}`));
const at = /^model\.call /;

/** The faults. */
export const modelFaults: readonly Fault[] = [
  { name: 'model 400', at, strike: apiError(400) },
  { name: 'model 401', at, strike: apiError(401) },
  { name: 'model 408', at, strike: apiError(408) },
  { name: 'model 429', at, strike: apiError(429, { 'retry-after': '2' }) },
  { name: 'model 429 for 250 ms', at, strike: apiError(429, { 'retry-after-ms': '250' }) },
  { name: 'model 429 for 61 s', at, strike: apiError(429, { 'retry-after': '61' }) },
  { name: 'model 429 without end', at, lasts: true, strike: apiError(429, { 'retry-after': '2' }) },
  { name: 'model 500', at, strike: apiError(500) },
  { name: 'model 500 without end', at, lasts: true, strike: apiError(500) },
  { name: 'model 503, then 400', at, lasts: true, strike: inTurn(apiError(503), apiError(400)) },
  { name: 'model out of reach', at, strike: unreachable },
  { name: 'model out of reach for good', at, lasts: true, strike: unreachable },
  { name: 'model is overloaded before its answer', at, strike: reportsError },
  { name: 'model broken', at, strike: rejects },
  { name: 'model cut', at, strike: cut((canary) => new TypeError(`terminated: ${canary}`)) },
  { name: 'model cut without a word', at, strike: cut(() => 'ends') },
  { name: 'model stalls', at, strike: cut(() => 'stalls') },
  { name: 'model silent', at, strike: silent },
  { name: 'model garbage', at, strike: garbage },
];

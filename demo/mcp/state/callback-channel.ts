/** The way from the callback page of a sign-in to the page that started it. Both are pages of this origin. */

import type { McpSignInCallback } from '../../../src/contracts/mcp/sign-in.ts';

/** The name of the `BroadcastChannel`. */
export const channelName = 'pinnace-sign-in';

/** What became of a sign-in. Only the page that started it knows its `state`. */
export interface Outcome {
  readonly type: 'outcome';
  readonly state: string;
  readonly isSignedIn: boolean;
  /** What went wrong. */
  readonly text: string;
}

const maxLength = 4096;

/** Returns what the authorization server sent back with the person. The runtime checks it again. */
export function readCallback(data: unknown): McpSignInCallback | undefined {
  if (typeof data !== 'object' || data === null || !('type' in data) || data.type !== 'callback') return undefined;
  const fields = data as Readonly<Record<string, unknown>>; // any object
  const texts = (['state', 'code', 'error', 'iss'] as const).flatMap((name) => {
    const value = fields[name];
    return typeof value === 'string' && value !== '' && value.length <= maxLength ? [[name, value] as const] : [];
  });
  const { state = '', ...answer }: Partial<McpSignInCallback> = Object.fromEntries(texts);
  return state === '' ? undefined : { state, ...answer };
}

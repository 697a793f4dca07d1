/**
 * The rules of the `McpConnector` port as lists of named checks. They know no test runner: give each check a fresh subject, in a
 * test named like the check.
 *
 * @example
 * for (const { name, run } of mcpConnectorContract) it(name, () => run({ era: 'modern', open }));
 */

import type { McpConnectorCheck } from './mcp/check.ts';
import { endingChecks, sessionChecks } from './mcp/ending.ts';
import { refusingChecks } from './mcp/refusing.ts';
import { talkingChecks } from './mcp/talking.ts';

export type { McpConnectorCheck, McpConnectorSubject } from './mcp/check.ts';
export type { Era } from './mcp/peer.ts';

/** What every connector keeps to, with servers of every revision that it speaks. */
export const mcpConnectorContract: readonly McpConnectorCheck[] = [
  ...talkingChecks,
  ...refusingChecks,
  ...endingChecks,
];

/** What a connector keeps to with servers of the revisions up to 2025-11-25, which keep sessions. */
export const mcpSessionContract: readonly McpConnectorCheck[] = sessionChecks;

/** Checks client capabilities that tools need: a server never relies on a capability that the client has not declared. */

import type { ToolDefinition } from '../../../src/base/schema.ts';

const missingClientCapability = -32021;

/**
 * Checks that the client has the capabilities in `config.clientCapabilities` of the tool's definition. Where the protocol has no
 * capabilities, `declared` is `undefined` and the tool is called.
 *
 * @throws Error with `code` -32021 (protocol 2026-07-28) and the missing capabilities as `data`.
 */
export function requireCapabilities(
  { name, config }: ToolDefinition,
  declared: Readonly<Record<string, unknown>> | undefined,
): void {
  const needed: unknown = config?.['clientCapabilities'];
  if (!declared || !Array.isArray(needed)) return;
  const missing = needed.filter((capability): capability is string => {
    return typeof capability === 'string' && declared[capability] === undefined;
  });
  if (missing.length === 0) return;
  const message = `Cannot call tool "${name}": the client does not declare the capability ${missing.join(', ')}`;
  const requiredCapabilities = Object.fromEntries(missing.map((capability) => [capability, {}]));
  throw Object.assign(new Error(message), { code: missingClientCapability, data: { requiredCapabilities } });
}

/** The kinds of what a server offers besides tools. */

import { sha256 } from '../../base/hash.ts';
import { asRecord } from '../../base/is-record.ts';
import { canonicalJson } from '../../base/json.ts';
import type { McpPin, PinnedContent } from '../../base/schema.ts';
import type { McpContentKind } from '../../contracts/mcp/mcp-connector.ts';

/** All kinds. */
export const contentKinds = ['prompts', 'resources', 'templates'] as const satisfies readonly McpContentKind[];

const facts = {
  prompts: { noun: 'prompt', key: 'name' },
  resources: { noun: 'resource', key: 'uri' },
  templates: { noun: 'template', key: 'uriTemplate' },
} as const;

/** What identifies a definition among those of its kind; `undefined` for one without it. */
export function contentId(kind: McpContentKind, definition: unknown): string | undefined {
  const id = asRecord(definition)[facts[kind].key];
  return typeof id === 'string' && id !== '' ? id : undefined;
}

/** `prompt:<name>`, `resource:<uri>` or `template:<uri template>`: how findings, masks and exclusions name it. */
export function contentLabel(kind: McpContentKind, id: string): string {
  return `${facts[kind].noun}:${id}`;
}

/** The fingerprint of a raw definition, as `fingerprintOf` of tools. */
export async function contentFingerprint(kind: McpContentKind, definition: unknown): Promise<string> {
  return await sha256(`mcp-${facts[kind].noun}/v1\n${canonicalJson(definition)}`);
}

/** What was approved of a kind. */
export function pinnedContent(pin: McpPin | undefined, kind: McpContentKind): readonly PinnedContent[] {
  return pin?.[kind] ?? [];
}

/** What a server lists besides tools; a kind whose list cannot be read is `undefined`. */
export type OfferedLists = {
  readonly [Kind in McpContentKind]: { readonly items: readonly unknown[]; readonly isCut: boolean } | undefined;
};

/** What an approval would pin besides tools. */

import { canonicalJson } from '../../base/json.ts';
import { asRecord } from '../../base/is-record.ts';
import type { McpFinding, McpPin, PinnedContent } from '../../base/schema.ts';
import type { McpContentKind } from '../../contracts/mcp/mcp-connector.ts';
import type { McpContentOffer, OfferedContent } from '../../contracts/mcp/mcp-validation.ts';
import { warning } from '../checks/finding.ts';
import { changedFields } from '../drift.ts';
import { inspectContent, type InspectedContent } from './inspect-content.ts';
import { contentFingerprint, contentKinds, contentLabel, type OfferedLists, pinnedContent } from './kinds.ts';

/** Prompts, resources and templates that were looked at. */
export interface ContentCandidate {
  /** `undefined` where there is nothing, now or in the pin. */
  readonly offer: McpContentOffer | undefined;
  readonly findings: readonly McpFinding[];
  readonly pin: Pick<McpPin, 'prompts' | 'resources' | 'templates'>;
  /** Of all that is listed, for the digest of the offer. */
  readonly fingerprints:
    readonly (readonly [kind: McpContentKind, ...(readonly [id: string, fingerprint: string])[]])[];
}

/** The most definitions of a kind that an answer shows. */
const maxShown = 2000;

/** Looks at what a server lists. */
export async function toContentCandidate(
  lists: OfferedLists,
  { pinned, leaveOut, others }: {
    readonly pinned: McpPin | undefined;
    readonly leaveOut: readonly string[];
    readonly others: ReadonlySet<string>;
  },
): Promise<ContentCandidate> {
  const kinds = await Promise.all(contentKinds.map(async (kind) => {
    const list = lists[kind];
    if (list === undefined) return unreadable(kind);
    const before = pinnedContent(pinned, kind);
    const { items, findings } = inspectContent(kind, list, others);
    const known = new Map(before.map((one) => [one.fingerprint, one]));
    const byId = new Map(before.map((one) => [String(one.definition[keyOf(kind)]), one]));
    const offered = await Promise.all(items.map((item) => toOffered(item, { kind, known, byId, leaveOut })));
    const ids = new Set(offered.map(({ id }) => id));
    return {
      kind,
      offered,
      findings,
      removed: [...byId.keys()].filter((id) => !ids.has(id)).map((id) => contentLabel(kind, id)),
    };
  }));
  const shownOf = (wanted: McpContentKind) =>
    kinds.find(({ kind }) => kind === wanted)?.offered.slice(0, maxShown) ?? [];
  const removed = kinds.flatMap((one) => one.removed);
  const isEmpty = removed.length === 0 && kinds.every(({ offered }) => offered.length === 0);
  const total = kinds.reduce((sum, { offered }) => sum + offered.length, 0);
  return {
    offer: isEmpty ? undefined : {
      prompts: shownOf('prompts'),
      resources: shownOf('resources'),
      templates: shownOf('templates'),
      removed,
      total,
    },
    findings: kinds.flatMap(({ findings }) => findings),
    pin: Object.fromEntries(
      kinds.filter(({ offered }) => offered.some(({ included }) => included)).map(({ kind, offered }) => [
        kind,
        offered.filter(({ included }) => included).map(toPinned),
      ]),
    ),
    fingerprints: kinds.flatMap(({ kind, offered }) =>
      offered.length === 0
        ? []
        : [[kind, ...offered.map(({ id, fingerprint = '' }) => [id, fingerprint] as const)] as const]
    ),
  };
}

function unreadable(kind: McpContentKind) {
  const finding = warning('unreadable_list', `The list of ${kind} could not be read: none can be approved`);
  return { kind, offered: [], findings: [finding], removed: [] };
}

function keyOf(kind: McpContentKind): string {
  return kind === 'prompts' ? 'name' : kind === 'resources' ? 'uri' : 'uriTemplate';
}

async function toOffered(
  { id, label, definition, canOffer }: InspectedContent,
  { kind, known, byId, leaveOut }: {
    readonly kind: McpContentKind;
    readonly known: ReadonlyMap<string, PinnedContent>;
    readonly byId: ReadonlyMap<string, PinnedContent>;
    readonly leaveOut: readonly string[];
  },
): Promise<OfferedContent> {
  const fingerprint = isReadable(definition) ? await contentFingerprint(kind, definition) : undefined;
  const before = byId.get(id);
  const isSame = fingerprint !== undefined && known.has(fingerprint);
  return {
    id,
    ...(kind === 'resources' && { uri: id }),
    label,
    ...(fingerprint !== undefined && { fingerprint }),
    change: isSame ? 'same' : before ? 'changed' : 'added',
    changedFields: before && !isSame ? changedFields(before.definition, definition, contentFields) : [],
    included: canOffer && fingerprint !== undefined && !leaveOut.includes(label),
    definition: fingerprint === undefined ? null : definition,
  };
}

const contentFields: ReadonlySet<string> = new Set([
  'name',
  'title',
  'description',
  'arguments',
  'uri',
  'uriTemplate',
  'mimeType',
  'size',
  'annotations',
  'icons',
  '_meta',
]);

function isReadable(definition: unknown): boolean {
  try {
    canonicalJson(definition);
    return true;
  } catch {
    return false;
  }
}

function toPinned({ definition, fingerprint = '' }: OfferedContent): PinnedContent {
  return { definition: asRecord(definition), fingerprint, status: 'valid' };
}

/** `search`: finds nodes by their properties, in pre-order, page by page. */

import { bytesOf, fitAnswer, roomOf, shortened } from './pages/answer-size.ts';
import { endOf } from '../nodes/layout.ts';
import { createMatcher, type Matcher } from '../views/matcher.ts';
import { createProjection, type Projection } from '../views/projection.ts';
import { labelOf, type Reader } from '../views/reader.ts';
import { filterOf, limitOf } from './read-tools.ts';
import { type Hit, search } from '../views/search.ts';
import { viewOf } from './session.ts';
import { Search } from './tool-input.ts';
import { reads, type ToolSpec, toolSpec } from './tool-spec.ts';
import type { Output } from './output.ts';
import { walk } from './pages/walk.ts';

/** The tool that finds nodes. */
export const searchTool: ToolSpec = toolSpec({
  name: 'search',
  description:
    'Finds the nodes of a subtree that meet all filters, expanded or not. "eq" compares JSON values, "contains" finds text ' +
    'within text (whatever its case) and elements of lists; the paths "$id" and "$type" stand for id and payload type. ' +
    'A page may be empty and still have a "pageToken": go on with it.',
  annotations: reads,
  kind: 'read',
  input: Search,
  targets: ({ rootNodeId }) => [rootNodeId],
  guard: (_, { filters }) => filters.forEach((filter) => createMatcher(filter, { caseSensitive: true })),
  run(context, { rootNodeId, filters, caseSensitive = false, limit, pageToken, ...properties }) {
    const { desk, session, now, limits } = context;
    const matchers = filters.map((filter) => createMatcher(filter, { caseSensitive }));
    const args = { rootNodeId, filters, caseSensitive, ...properties };
    const view = viewOf(session);
    const step = walk(context, { tool: 'search', args, rootNodeId, view, pageToken, start: (root) => root });
    const span = { start: step.next, end: endOf(step.reader.layout, step.root) };
    const deadline = now() + limits.searchMs;
    const isLate = (): boolean => now() >= deadline;
    const found = search(step.reader, desk.texts, { span, matchers, limit: limitOf(context, limit), isLate });
    const wantsPayload = (properties.includedProperties ?? properties.excludedProperties) !== undefined;
    const projection = wantsPayload ? createProjection(filterOf(session, properties)) : undefined;
    const describing = { matchers, projection, textBytes: limits.textBytes };
    const { output, count } = fitAnswer(found.hits, {
      room: roomOf(limits),
      make: (hit) => describe(step.reader, hit, describing),
      sizeOf: bytesOf,
      shorten: (hit, bytes) => describeBriefly(step.reader, hit, { ...describing, bytes }),
      write: (hits) => ({ hits }),
    });
    const cutAt = found.hits[count];
    if (!cutAt) return { ...output, scanned: found.scanned, ...step.end(found.next) };
    return { ...output, scanned: cutAt.scanned, truncated: 'bytes', ...step.end(cutAt.at) };
  },
});

interface Describing {
  readonly matchers: readonly Matcher[];
  readonly projection: Projection | undefined;
  readonly textBytes: number;
}

function describe(reader: Reader, { slot, depth }: Hit, { matchers, projection, textBytes }: Describing): Output {
  const record = reader.record(slot);
  return {
    nodeId: reader.id(slot),
    payloadType: reader.typeName(record),
    depth,
    label: labelOf(reader, record).slice(0, 200),
    breadcrumb: breadcrumb(reader, record.parent),
    matched: [...new Set(matchers.map(({ path }) => path))],
    ...(projection && { payload: projection.pick(record.payload, { textBytes }) }),
  };
}

/** A hit that is too large alone: the breadcrumb is left out, and the payload shortened. */
function describeBriefly(
  reader: Reader,
  { slot, depth }: Hit,
  { projection, bytes }: Describing & { readonly bytes: number },
): Output {
  const record = reader.record(slot);
  return {
    nodeId: reader.id(slot),
    payloadType: reader.typeName(record),
    depth,
    label: labelOf(reader, record).slice(0, Math.min(200, bytes / 8)),
    breadcrumb: [],
    matched: [],
    $truncated: true,
    ...(projection && { payload: shortened(projection.pick(record.payload), bytes / 2) }),
  };
}

/** The longest breadcrumb: the nodes nearest to the hit. */
const maxBreadcrumb = 32;

/** The nodes above, from the top down. */
function breadcrumb(reader: Reader, parent: number): Output[] {
  const crumbs: Output[] = [];
  for (let slot = parent; slot >= 0 && crumbs.length < maxBreadcrumb;) {
    const record = reader.record(slot);
    crumbs.push({ nodeId: reader.id(slot), label: labelOf(reader, record).slice(0, 80) });
    slot = record.parent;
  }
  return crumbs.toReversed();
}

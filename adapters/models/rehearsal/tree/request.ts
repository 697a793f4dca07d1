/** What the rehearsal model does at a tree: looks nodes up by the names in the message, then changes them. */

import type { ActiveTool } from '../choose-tool.ts';
import type { Conversation, PastCall } from '../conversation.ts';
import type { Call } from '../explicit-calls.ts';
import { asList, own } from '../shape.ts';
import { requestIn, type TreeRequest } from './words.ts';

/** The next calls of a request, or the text of the answer. */
export type TreeStep =
  | { readonly calls: readonly Call[]; readonly text?: never }
  | { readonly text: string; readonly calls?: never };

/** The tools that make it a tree. */
const needed = ['search', 'get_view', 'add_child', 'move_node', 'undo'];

type Change = Exclude<TreeRequest, { kind: 'undo' | 'find' | 'open' }>;

/** Returns the next step of the request that the message names; `undefined` when it names none, or there is no tree. */
export function treeStep(conversation: Conversation, tools: readonly ActiveTool[]): TreeStep | undefined {
  const names = new Set(tools.map(({ name }) => name));
  const request = needed.every((name) => names.has(name)) ? requestIn(conversation.message) : undefined;
  if (!request) return undefined;
  const calls = conversation.steps.flat();
  if (calls.some(({ outcome }) => outcome?.kind === 'denial')) return undefined;
  if (request.kind === 'undo') return undoStep(conversation);
  if (request.kind === 'open') return openStep(request, { conversation, calls });
  const searches = calls.filter(({ toolName }) => toolName === 'search');
  if (searches.length === 0) return { calls: wantedOf(request).map((name) => searchFor(name, conversation.rootId)) };
  if (request.kind === 'find') return { text: sayFound(request.name, searches[0]) };
  return changeStep(request, { conversation, calls, searches });
}

/** The names that have to be looked up. */
function wantedOf(request: Exclude<TreeRequest, { kind: 'undo' | 'open' }>): readonly string[] {
  if (request.kind === 'add') return [request.place];
  return request.kind === 'move' ? [request.name, request.place] : [request.name];
}

function searchFor(value: string, rootNodeId: string): Call {
  const filters = [{ path: 'name', op: 'contains', value }];
  return { toolName: 'search', input: JSON.stringify({ rootNodeId, filters, limit: 20 }) };
}

const mostOpen = 10;

/** Lists the tasks that are not done. */
function openStep(
  { overdue }: Extract<TreeRequest, { kind: 'open' }>,
  { conversation: { rootId }, calls }: Pick<Progress, 'conversation' | 'calls'>,
): TreeStep | undefined {
  const [search] = calls;
  if (!search) {
    const filters = [{ path: 'done', op: 'eq', value: false }];
    return { calls: [{ toolName: 'search', input: JSON.stringify({ rootNodeId: rootId, filters, limit: mostOpen }) }] };
  }
  if (search.outcome?.kind !== 'value') return undefined;
  const found = foundBy(search);
  const lead = overdue ? 'Tasks have no due dates here. ' : '';
  if (found.length === 0) return { text: `${lead}Every task is done.` };
  const count = found.length < mostOpen ? `${found.length}` : `The first ${mostOpen}`;
  return { text: `${lead}${count} open:\n\n${linesOf(found)}` };
}

interface Found {
  readonly nodeId: string;
  readonly label: string;
  readonly path: string;
}

function foundBy(search: PastCall | undefined): readonly Found[] {
  const value = search?.outcome?.kind === 'value' ? search.outcome.value : undefined;
  return asList(own(value, 'hits')).map((hit) => ({
    nodeId: String(own(hit, 'nodeId')),
    label: String(own(hit, 'label')),
    path: asList(own(hit, 'breadcrumb')).slice(1).map((crumb) => String(own(crumb, 'label'))).join(' › '),
  }));
}

/** The one that is called exactly so, else the first. */
function best(found: readonly Found[], name: string): Found | undefined {
  return found.find(({ label }) => label.toLowerCase() === name.toLowerCase()) ?? found[0];
}

function sayFound(name: string, search: PastCall | undefined): string {
  const found = foundBy(search);
  if (found.length === 0) return `Nothing in the tree is called “${name}”.`;
  return `I found ${found.length} called “${name}”:\n\n${linesOf(found)}`;
}

function linesOf(found: readonly Found[]): string {
  return found.map(({ label, path }) => `- ${label}${path === '' ? '' : ` (${path})`}`).join('\n');
}

interface Progress {
  readonly conversation: Conversation;
  readonly calls: readonly PastCall[];
  readonly searches: readonly PastCall[];
}

function changeStep(
  request: Change,
  { conversation, calls, searches }: Progress,
): TreeStep | undefined {
  const nodes = wantedOf(request).map((name, at) => best(foundBy(searches[at]), name));
  const lacking = wantedOf(request).find((_, at) => !nodes[at]);
  if (lacking !== undefined) return { text: `Nothing in the tree is called “${lacking}”.` };
  const change = calls.findLast(({ toolName }) => toolName !== 'search');
  const [first, second] = nodes;
  if (!change && first) {
    const call = changeCall(request, { first, second });
    const versionToken = latestVersion(conversation);
    return { calls: [{ toolName: call.toolName, input: JSON.stringify({ ...call.input, versionToken }) }] };
  }
  return change?.outcome?.kind === 'value' ? { text: sayDone(request, { first, second }) } : undefined;
}

interface Nodes {
  readonly first: Found | undefined;
  readonly second: Found | undefined;
}

function changeCall(
  request: Change,
  { first, second }: { readonly first: Found; readonly second: Found | undefined },
): { readonly toolName: string; readonly input: object } {
  const { nodeId } = first;
  switch (request.kind) {
    case 'add': {
      const { name, type: payloadType } = request;
      return { toolName: 'add_child', input: { parentNodeId: nodeId, payloadType, payloadProps: { name } } };
    }
    case 'rename':
      return {
        toolName: 'update_payload_property',
        input: { nodeId, propertyName: 'name', newValue: request.newName },
      };
    case 'done':
      return { toolName: 'update_payload_property', input: { nodeId, propertyName: 'done', newValue: true } };
    case 'move':
      return { toolName: 'move_node', input: { nodeId, newParentId: second?.nodeId } };
    case 'remove':
      return { toolName: 'remove_node', input: { nodeId } };
    default:
      return request satisfies never;
  }
}

function sayDone(request: Change, { first, second }: Nodes): string {
  const label = first?.label ?? '';
  switch (request.kind) {
    case 'add':
      return `Added the ${request.type} “${request.name}” to “${label}”.`;
    case 'rename':
      return `“${label}” is now called “${request.newName}”.`;
    case 'done':
      return `“${label}” is done.`;
    case 'move':
      return `Moved “${label}” to “${second?.label ?? ''}”.`;
    case 'remove':
      return `Removed “${label}”.`;
    default:
      return request satisfies never;
  }
}

/** Undoes the latest change of this chat that is still in effect. */
function undoStep(conversation: Conversation): TreeStep | undefined {
  const { past, steps } = conversation;
  const now = steps.flat().findLast(({ toolName }) => toolName === 'undo');
  if (now) return now.outcome?.kind === 'value' ? { text: 'Taken back.' } : undefined;
  const undone = new Set(past.filter(({ toolName }) => toolName === 'undo').map(({ input }) => own(input, 'version')));
  const versions = past.flatMap(({ toolName, outcome }) =>
    isChange(toolName, outcome) ? [own(outcome.value, 'version')] : []
  );
  const version = versions.findLast((known) => !undone.has(known));
  if (version === undefined) return { text: 'There is nothing of mine in this chat to take back.' };
  const input = { version, versionToken: latestVersion(conversation) };
  return { calls: [{ toolName: 'undo', input: JSON.stringify(input) }] };
}

const changing = new Set(['add_child', 'update_payload_property', 'move_node', 'remove_node', 'batch', 'import_view']);

function isChange(
  toolName: string,
  outcome: PastCall['outcome'],
): outcome is Extract<PastCall['outcome'], { kind: 'value' }> {
  return changing.has(toolName) && outcome?.kind === 'value' && own(outcome.value, 'changed') === true;
}

function latestVersion({ results }: Pick<Conversation, 'results'>): unknown {
  return results.map((result) => own(result, 'version')).findLast((version) => typeof version === 'string');
}

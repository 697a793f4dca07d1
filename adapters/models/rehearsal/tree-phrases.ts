/** What the scripted model does at a tree: looks nodes up by the names in the message, then changes them. */

import type { ActiveTool } from './choose-tool.ts';
import { asList, type Call, callOf, type Conversation, own, type PastCall } from './conversation.ts';

/** The next calls, or the text of the answer. */
export type SceneStep = { readonly calls: readonly Call[] } | { readonly text: string };

/** How far a search is: what its latest page found, and the call that goes on with it. */
interface Search {
  readonly found: readonly Node[];
  readonly last: PastCall | undefined;
  readonly next?: Call;
}

interface Node {
  readonly nodeId: string;
  readonly label: string;
  readonly path: string;
}

/** A change of the nodes that its phrase names, by the names in it. */
interface Change {
  readonly phrase: RegExp;
  /** The groups that name nodes. */
  readonly nodes: readonly string[];
  readonly call: (nodes: readonly Node[], names: Names) => readonly [toolName: string, input: object];
  readonly done: (nodes: readonly Node[], names: Names) => string;
}
type Names = Readonly<Record<string, string>>;

const nameAs = (group: string): string => `(?<${group}>"[^"]+"|“[^”]+”|.+?)`;
const kind = '(?:the\\s+)?(?:task|area|job|node)?\\s*';
const place = `\\s+(?:to|under|below|in|into|inside)\\s+(?:the\\s+)?${nameAs('place')}`;
const phrase = (words: string): RegExp =>
  new RegExp(`^\\s*(?:please\\s+|can you\\s+|could you\\s+)?(?:${words})\\s*[.!?]?\\s*$`, 'iu');

const changes: readonly Change[] = [
  {
    phrase: phrase(
      `(?:add|plant|create)\\s+(?:an?\\s+)?(?:new\\s+)?(?<type>task|area|job)?:?\\s*${nameAs('name')}${place}`,
    ),
    nodes: ['place'],
    call: ([parent], { name = '', type = 'task' }) => [
      'add_child',
      { parentNodeId: parent?.nodeId, payloadType: type, payloadProps: { name } },
    ],
    done: ([parent], { name = '', type = 'task' }) => `Added the ${type} “${name}” to “${parent?.label}”.`,
  },
  {
    phrase: phrase(`rename\\s+${kind}${nameAs('node')}\\s+(?:to|as|into)\\s+${nameAs('name')}`),
    nodes: ['node'],
    call: ([node], { name }) => [
      'update_payload_property',
      { nodeId: node?.nodeId, propertyName: 'name', newValue: name },
    ],
    done: ([node], { name = '' }) => `“${node?.label}” is now called “${name}”.`,
  },
  {
    phrase: phrase(`move\\s+${kind}${nameAs('node')}${place}`),
    nodes: ['node', 'place'],
    call: ([node, parent]) => ['move_node', { nodeId: node?.nodeId, newParentId: parent?.nodeId }],
    done: ([node, parent]) => `Moved “${node?.label}” to “${parent?.label}”.`,
  },
  {
    phrase: phrase(`(?:remove|delete)\\s+${kind}${nameAs('node')}`),
    nodes: ['node'],
    call: ([node]) => ['remove_node', { nodeId: node?.nodeId }],
    done: ([node]) => `Removed “${node?.label}”.`,
  },
  {
    phrase: phrase(
      `(?:mark|tick off|check off|finish|complete)\\s+${kind}${nameAs('node')}(?:\\s+(?:as\\s+)?(?:done|finished))?`,
    ),
    nodes: ['node'],
    call: ([node]) => ['update_payload_property', { nodeId: node?.nodeId, propertyName: 'done', newValue: true }],
    done: ([node]) => `“${node?.label}” is done.`,
  },
];
const undoing = phrase('(?:undo|take (?:it|that|this) back)\\b.*');
const finding = phrase(`(?:find|search(?:\\s+for)?|look\\s+for|where\\s+(?:is|are))\\s+(?:the\\s+)?${nameAs('node')}`);
const asked = "(?:what(?:['’]?s|\\s+is|\\s+are)?|which|list|show(?:\\s+me)?)\\b.{0,40}";
const open = phrase(
  `${asked}\\b(?<late>overdue|late)\\b.{0,20}|${asked}\\b(?:open|left|undone|unfinished|pending|to\\s+do|todo)\\b.{0,20}|` +
    `what\\s+should\\s+(?:i|we)\\s+do\\b.{0,20}|what(?:['’]?s|\\s+is)\\s+next`,
);

/** Returns the next step of what the message asks of a tree; `undefined` when it asks nothing of one, or there is no tree. */
export function treeStep(conversation: Conversation, tools: readonly ActiveTool[]): SceneStep | undefined {
  const { message, steps, system } = conversation;
  const isTree = ['search', 'get_view', 'add_child', 'move_node', 'undo'].every((tool) =>
    tools.some((one) => one.name === tool)
  );
  const calls = steps.flat();
  if (!isTree || message.length > 500 || calls.some(({ outcome }) => outcome?.kind === 'denial')) return undefined;
  const rootNodeId = /\broot(?:['’]s)?(?:\s+(?:nodeId|node|id))*\s+is\s+["“`]([^"”`]+)["”`]/u.exec(system)?.[1] ??
    'root';
  const search = (path: string, op: string, value: unknown, limit = 20): Search => {
    const filters = [{ path, op, value }];
    const pages = calls.filter(({ toolName, input }) =>
      toolName === 'search' && JSON.stringify(own(input, 'filters')) === JSON.stringify(filters)
    );
    const last = pages.at(-1);
    const pageToken = last?.outcome?.kind === 'value' ? own(last.outcome.value, 'pageToken') : undefined;
    const found = nodesOf(last);
    const isOver = last !== undefined && (found.length > 0 || typeof pageToken !== 'string');
    // A page may be empty where the search takes long: it goes on there.
    const input = { rootNodeId, filters, limit, ...(typeof pageToken === 'string' && { pageToken }) };
    return { found, last, ...(!isOver && { next: callOf('search', input) }) };
  };
  if (undoing.test(message)) return undoStep(conversation);
  const todo = open.exec(message);
  if (todo) {
    const { next, last } = search('done', 'eq', false, mostOpen);
    return next ? { calls: [next] } : sayOpen(last, todo.groups?.['late'] !== undefined);
  }
  const change = changes.find((one) => one.phrase.test(message));
  const found = change ? undefined : finding.exec(message);
  const names: Names = unquoted((change?.phrase.exec(message) ?? found)?.groups ?? {});
  const wanted = (change?.nodes ?? ['node']).map((group) => names[group]).filter((one) => one !== undefined);
  if (wanted.length === 0) return undefined;
  const searches = wanted.map((value) => search('name', 'contains', value));
  const next = searches.flatMap((one) => one.next ?? []);
  if (next.length > 0) return { calls: next };
  if (!change) return { text: sayFound(wanted[0] ?? '', searches[0]?.found ?? []) };
  const best = wanted.flatMap((value, at) => bestOf(searches[at]?.found ?? [], value) ?? []);
  const lacking = wanted.find((value, at) => !bestOf(searches[at]?.found ?? [], value));
  if (lacking !== undefined) return { text: `Nothing in the tree is called “${lacking}”.` };
  const made = calls.findLast(({ toolName }) => toolName !== 'search');
  if (made) return made.outcome?.kind === 'value' ? { text: change.done(best, names) } : undefined;
  const [toolName, input] = change.call(best, names);
  return { calls: [callOf(toolName, { ...input, versionToken: latestVersion(conversation) })] };
}

function unquoted(groups: Names): Names {
  const named = Object.entries(groups).filter(([, value]) => value !== undefined);
  return Object.fromEntries(named.map(([group, value]) => [group, value.trim().replace(/^["“](.*)["”]$/u, '$1')]));
}

/** The one that is called exactly so, else the first. */
function bestOf(nodes: readonly Node[], value: string): Node | undefined {
  return nodes.find(({ label }) => label.toLowerCase() === value.toLowerCase()) ?? nodes[0];
}

function nodesOf(search: PastCall | undefined): readonly Node[] {
  const value = search?.outcome?.kind === 'value' ? search.outcome.value : undefined;
  return asList(own(value, 'hits')).map((hit) => ({
    nodeId: String(own(hit, 'nodeId')),
    label: String(own(hit, 'label')),
    path: asList(own(hit, 'breadcrumb')).slice(1).map((crumb) => String(own(crumb, 'label'))).join(' › '),
  }));
}

function sayFound(value: string, nodes: readonly Node[]): string {
  if (nodes.length === 0) return `Nothing in the tree is called “${value}”.`;
  return `I found ${nodes.length} called “${value}”:\n\n${linesOf(nodes)}`;
}

const mostOpen = 10;

function sayOpen(search: PastCall | undefined, isLate: boolean): SceneStep | undefined {
  if (search?.outcome?.kind !== 'value') return undefined;
  const nodes = nodesOf(search);
  const lead = isLate ? 'Tasks have no due dates here. ' : '';
  if (nodes.length === 0) return { text: `${lead}Every task is done.` };
  const count = nodes.length < mostOpen ? `${nodes.length}` : `The first ${mostOpen}`;
  return { text: `${lead}${count} open:\n\n${linesOf(nodes)}` };
}

function linesOf(nodes: readonly Node[]): string {
  return nodes.map(({ label, path }) => `- ${label}${path === '' ? '' : ` (${path})`}`).join('\n');
}

/** Undoes the latest change of this chat that is still in effect. */
function undoStep(conversation: Conversation): SceneStep | undefined {
  const { past, steps } = conversation;
  const now = steps.flat().findLast(({ toolName }) => toolName === 'undo');
  if (now) return now.outcome?.kind === 'value' ? { text: 'Taken back.' } : undefined;
  const undone = new Set(past.filter(({ toolName }) => toolName === 'undo').map(({ input }) => own(input, 'version')));
  const version = past.flatMap(({ toolName, outcome }) =>
    toolName !== 'undo' && outcome?.kind === 'value' && own(outcome.value, 'changed') === true
      ? [own(outcome.value, 'version')]
      : []
  ).findLast((one) => !undone.has(one));
  if (version === undefined) return { text: 'There is nothing of mine in this chat to take back.' };
  return { calls: [callOf('undo', { version, versionToken: latestVersion(conversation) })] };
}

function latestVersion({ results }: Conversation): unknown {
  return results.map((result) => own(result, 'version')).findLast((version) => typeof version === 'string');
}

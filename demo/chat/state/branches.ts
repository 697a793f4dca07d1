/** The versions of a chat: an edited message and a regenerated answer stand beside the earlier one, and each has what followed it. */

import type { Message } from './message.ts';

/** Where a message that starts a chat comes after. */
export const root = '';

/** A message among its versions. */
export interface Versions {
  /** The ids of all versions, the oldest first. */
  readonly ids: readonly string[];
  /** The index of this one. */
  readonly at: number;
}

/** The shown messages, and which of them have other versions. */
export interface Branch {
  readonly messages: readonly Message[];
  readonly versions: ReadonlyMap<string, Versions>;
}

/**
 * Returns what is shown of all messages of a chat. Messages without `after` follow each other in their order, as in a chat without
 * versions. Where messages have versions, the one is shown that leads to `leaf`, or else to the latest message.
 */
export function branchOf(all: readonly Message[], leaf: string | undefined): Branch {
  if (all.every(({ after }) => after === undefined)) return { messages: all, versions: new Map() };
  const tree = treeOf(all);
  const towards = new Set(pathTo(leaf, tree));
  const messages: Message[] = [];
  const versions = new Map<string, Versions>();
  for (let nexts = tree.nexts.get(root); nexts && nexts.length > 0; nexts = tree.nexts.get(messages.at(-1)?.id ?? '')) {
    const next = nexts.find(({ id }) => towards.has(id)) ?? latestOf(nexts, tree);
    if (nexts.length > 1) versions.set(next.id, { ids: nexts.map(({ id }) => id), at: nexts.indexOf(next) });
    messages.push(next);
  }
  return { messages, versions };
}

/** Returns the message after which this one comes. */
export function parentOf(all: readonly Message[], messageId: string): string {
  return treeOf(all).parents.get(messageId) ?? root;
}

interface Tree {
  readonly parents: ReadonlyMap<string, string>;
  /** What comes after each message. */
  readonly nexts: ReadonlyMap<string, readonly [Message, ...Message[]]>;
  /** The order of all messages. */
  readonly places: ReadonlyMap<string, number>;
}

function treeOf(all: readonly Message[]): Tree {
  const places = new Map(all.map(({ id }, i) => [id, i]));
  const parents = new Map<string, string>();
  const nexts = new Map<string, [Message, ...Message[]]>();
  let before = root;
  for (const message of all) {
    const { id, after } = message;
    // One that comes after a message that cannot be read comes after the one before.
    const isKnown = after !== undefined && (after === root || (places.get(after) ?? Infinity) < (places.get(id) ?? 0));
    const parent = isKnown ? after : before;
    if (after === undefined) before = id;
    parents.set(id, parent);
    const siblings = nexts.get(parent);
    if (siblings) siblings.push(message);
    else nexts.set(parent, [message]);
  }
  return { parents, nexts, places };
}

function pathTo(leaf: string | undefined, { parents }: Tree): readonly string[] {
  const path: string[] = [];
  for (let id = leaf; id !== undefined && id !== root; id = parents.get(id)) path.push(id);
  return path;
}

/** The one that leads to the latest message. */
function latestOf(siblings: readonly [Message, ...Message[]], tree: Tree): Message {
  if (siblings.length === 1) return siblings[0];
  const latest = (message: Message): number => {
    const open = [message];
    let last = 0;
    for (let next = open.pop(); next; next = open.pop()) {
      last = Math.max(last, tree.places.get(next.id) ?? 0);
      open.push(...tree.nexts.get(next.id) ?? []);
    }
    return last;
  };
  return siblings.map((message) => ({ message, last: latest(message) })).reduce((a, b) => b.last > a.last ? b : a)
    .message;
}

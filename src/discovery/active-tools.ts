/** Which tools of a run are active: those that were loaded, also by earlier requests, as far as they are allowed today. */

import { PinnaceError } from '../base/errors.ts';
import { parse } from '../base/parse.ts';
import type { Principal } from '../base/principal.ts';
import type { Storage } from '../contracts/storage.ts';
import { hexOf } from '../base/hash.ts';
import { owns } from '../permission/ownership.ts';
import type { IndexedTool } from './tool-fields.ts';
import type { ToolIndex } from './tool-index.ts';

/** Which tools are active, and how more become so. */
export interface ActiveTools {
  restore(): Promise<void>;
  has(name: string): boolean;
  /** What is active and allowed, in the order in which it became active. */
  names(): readonly string[];
  /** Activates all of these, or none if one is unknown, and returns them. Active tools stay active. */
  load(names: readonly string[]): Promise<readonly IndexedTool[]>;
  handle(): string | undefined;
}

interface ActiveToolsOptions extends LoadedToolsOptions {
  readonly active: Set<string>;
  readonly lookup: Lookup;
  readonly isAllowed: (name: string) => boolean;
  readonly mostActive: number;
}

/** Creates the active set of a run. */
export function createActiveTools(options: ActiveToolsOptions): ActiveTools {
  const { active, lookup, isAllowed, mostActive } = options;
  const loaded = openLoadedTools(options);
  const restore = onceDone(async () => {
    for (const name of await loaded.names()) {
      if (lookup.find(name) && active.size < mostActive) active.add(name);
    }
  });
  return {
    restore,
    has: (name) => active.has(name) && isAllowed(name),
    names: () => [...active].filter(isAllowed),
    handle: () => loaded.handle(),
    async load(names) {
      const tools = findAll([...new Set(names)], lookup);
      const added = tools.map(({ name }) => name).filter((name) => !active.has(name));
      if (active.size + added.length > mostActive) throw tooMany(added.length, { active, mostActive });
      if (added.length > 0) await loaded.add(added);
      for (const name of added) active.add(name);
      return tools;
    },
  };
}

/** Does the work once; when it fails, the next call tries again. */
function onceDone(work: () => Promise<void>): () => Promise<void> {
  let done: Promise<void> | undefined;
  return async () => {
    done ??= work();
    try {
      await done;
    } catch (error) {
      done = undefined;
      throw error;
    }
  };
}

function findAll(names: readonly string[], lookup: Lookup): IndexedTool[] {
  return names.map((name) => {
    const tool = lookup.find(name);
    if (!tool) throw lookup.notFound(name, 'load');
    return tool;
  });
}

function tooMany(
  count: number,
  { active, mostActive }: { active: ReadonlySet<string>; mostActive: number },
): PinnaceError {
  const message = `Cannot load ${count} more tools: ${active.size} are active and ${mostActive} may be; load fewer`;
  return new PinnaceError('budget_exceeded', message, { details: { reason: 'too_many_active_tools', mostActive } });
}

import * as v from 'valibot';

/** The storage of a loaded set, and its owner. */
interface LoadedToolsOptions {
  readonly storage?: Storage | undefined;
  readonly principal: Principal;
  /** The chat that the set belongs to. Without one, the caller must send the handle with each request. */
  readonly chatId?: string | undefined;
  /** A handle from an earlier request. */
  readonly handle?: string | undefined;
  /** Retention of the set after the last load. */
  readonly ttlMs: number;
}

/** The set of one principal and chat. */
interface LoadedTools {
  /**
   * The names that were loaded before, in that order; none when the chat has no set.
   *
   * @throws PinnaceError `not_found` when the handle is unknown, expired, or of another tenant, subject or chat.
   */
  names(): Promise<readonly string[]>;
  /** Adds names, also to what another instance has added meanwhile. */
  add(names: readonly string[]): Promise<void>;
  /** The handle of the set: 192 random bits. `undefined` before the first load. */
  handle(): string | undefined;
}

/** What is stored: under the chat's key, or under the handle where there is no chat. */
const Stored = v.strictObject({
  handle: v.string(),
  tenant: v.string(),
  subject: v.string(),
  names: v.array(v.string()),
});
type Stored = v.InferOutput<typeof Stored>;

/** The loaded set, and the version that was read. */
interface Found {
  readonly stored: Stored | undefined;
  readonly version: string | null;
}

/** Others may add at the same time; more often than this they hardly do. */
const mostAttempts = 8;

/** Opens the set that the handle names, or else the one of the chat. */
function openLoadedTools(options: LoadedToolsOptions): LoadedTools {
  let { handle } = options;
  return {
    async names() {
      const { stored } = await read(options, handle);
      handle = stored?.handle;
      return stored?.names ?? [];
    },
    async add(names) {
      if (!options.storage) return;
      for (let attempt = 0; attempt < mostAttempts; attempt++) {
        const { stored, version } = await read(options, handle);
        const next = { handle: stored?.handle ?? createHandle(), names: union(stored?.names, names) };
        if (!await write(options, next, version)) continue;
        ({ handle } = next);
        return;
      }
      throw new PinnaceError('conflict', 'Cannot remember the loaded tools: others change them too; load them again');
    },
    handle: () => handle,
  };
}

async function read(options: LoadedToolsOptions, handle: string | undefined): Promise<Found> {
  const { storage, principal, chatId } = options;
  if (!storage || (chatId === undefined && handle === undefined)) return { stored: undefined, version: null };
  const entry = await storage.get(keyOf(options, handle));
  const stored = entry && parse(Stored, entry.value, { what: 'the set of loaded tools' });
  const isOwn = stored && owns(principal, stored) && (handle ?? stored.handle) === stored.handle;
  if (isOwn) return { stored, version: entry?.version ?? null };
  if (handle !== undefined) throw unknownHandle();
  return { stored: undefined, version: null };
}

async function write(
  options: LoadedToolsOptions,
  { handle, names }: { handle: string; names: string[] },
  ifVersion: string | null,
): Promise<boolean> {
  const { principal: { tenant, subject }, ttlMs } = options;
  const value: Stored = { handle, tenant, subject, names };
  const written = await options.storage?.commit([{ key: keyOf(options, handle), value, ttlMs, ifVersion }]);
  return written?.ok ?? true;
}

function keyOf({ principal: { tenant, subject }, chatId }: LoadedToolsOptions, handle = ''): string[] {
  return chatId === undefined ? ['loaded-tools', handle] : ['loaded-tools-of-chat', tenant, subject, chatId];
}

function union(before: readonly string[] = [], added: readonly string[]): string[] {
  return [...new Set([...before, ...added])];
}

function createHandle(): string {
  return hexOf(crypto.getRandomValues(new Uint8Array(16)));
}

function unknownHandle(): PinnaceError {
  return new PinnaceError(
    'not_found',
    'Cannot go on with the loaded tools: the handle is unknown, has expired or is not yours; load them with tool_load',
    { details: { reason: 'unknown_toolset' } },
  );
}

/** Returns a tool by name. What is not allowed is as if it did not exist. */
export interface Lookup {
  find(name: string): IndexedTool | undefined;
  /** The error for a name that `find` does not know: the new name of a renamed tool, or the nearest names. */
  notFound(name: string, action: 'find' | 'describe' | 'load' | 'call'): PinnaceError;
}

const mostSuggestions = 3;

/** The names of the discovery tools, which are active in every run that has them. */
export const discoveryToolNames = ['tool_find', 'tool_describe', 'tool_load', 'tool_active'] as const;

const own: ReadonlySet<string> = new Set(discoveryToolNames);

/** Looks tools up in an index. */
export function createLookup(index: ToolIndex, isAllowed: (name: string) => boolean): Lookup {
  return {
    find(name) {
      const tool = isAllowed(name) ? index.get(name) : undefined;
      return tool?.readWith === undefined ? tool : undefined;
    },
    notFound(name, action) {
      const what = `Cannot ${action} tool "${printable(name)}"`;
      if (own.has(name)) return lookupError(`${what}: it is always active; call it directly`, 'always_active', [name]);
      const readWith = index.get(name)?.readWith;
      if (readWith !== undefined && isAllowed(readWith)) {
        return lookupError(`${what}: it is no tool; read it with ${readWith}`, 'unknown_tool', [readWith]);
      }
      const renamed = index.renamed(name).filter(isAllowed);
      if (renamed.length > 0) {
        return lookupError(
          `${what}: there is no tool of this name; it is now named ${list(renamed)}`,
          'tool_renamed',
          renamed,
        );
      }
      const hits = index.search(name, mostSuggestions, { accept: (tool) => isAllowed(tool.name) });
      const nearest = hits.map((hit) => hit.name);
      const meant = nearest.length > 0 ? `, or take one of the nearest: ${list(nearest)}` : '';
      return lookupError(
        `${what}: there is no tool of this name; look for one with tool_find${meant}`,
        'unknown_tool',
        nearest,
      );
    },
  };
}

function lookupError(message: string, reason: string, suggestions: readonly string[]): PinnaceError {
  return new PinnaceError('not_found', message, { details: { reason, suggestions } });
}

function list(names: readonly string[]): string {
  return names.map((name) => `"${printable(name)}"`).join(', ');
}

/** A name comes from a model or a server: it may hold anything, of any length. */
function printable(name: string): string {
  return name.replace(/[\p{C}"]/gu, '?').slice(0, 100);
}

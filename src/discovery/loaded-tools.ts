/** Remembers between requests which tools were loaded, so that any instance can continue where another stopped. */

import * as v from 'valibot';
import { PinnaceError } from '../base/errors.ts';
import { parse } from '../base/parse.ts';
import type { Principal } from '../base/principal.ts';
import type { Storage } from '../contracts/storage.ts';
import { hexOf } from '../base/hash.ts';
import { owns } from '../permission/ownership.ts';

/** The storage of a loaded set, and its owner. */
export interface LoadedToolsOptions {
  readonly storage: Storage;
  readonly principal: Principal;
  /** The chat that the set belongs to. Without one, the caller must send the handle with each request. */
  readonly chatId?: string | undefined;
  /** A handle from an earlier request. */
  readonly handle?: string | undefined;
  /** Retention of the set after the last load. */
  readonly ttlMs: number;
}

/** The set of one principal and chat. */
export interface LoadedTools {
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
export function openLoadedTools(options: LoadedToolsOptions): LoadedTools {
  let { handle } = options;
  return {
    async names() {
      const { stored } = await read(options, handle);
      handle = stored?.handle;
      return stored?.names ?? [];
    },
    async add(names) {
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
  if (chatId === undefined && handle === undefined) return { stored: undefined, version: null };
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
  const { storage, principal: { tenant, subject }, ttlMs } = options;
  const value: Stored = { handle, tenant, subject, names };
  const { ok } = await storage.commit([{ key: keyOf(options, handle), value, ttlMs, ifVersion }]);
  return ok;
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

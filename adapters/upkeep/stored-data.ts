/**
 * What a storage holds, and its upgrade: which version has written it, what this version reads, and what it would write anew.
 *
 * What must hold:
 * - This version reads what 0.1 and 0.2 have stored, without an upgrade. So an upgrade may be stopped at any entry, and be repeated.
 * - A check writes nothing. It counts kinds of data, and never shows keys or values: they name tenants and persons.
 * - An upgrade writes an entry only as it was read (`ifVersion`), so that instances may run meanwhile. The mark of the format comes last.
 * - Data of a later version is never written to.
 */

import { checkNames, optional } from '../../src/base/check-options.ts';
import { type ErrorData, PinnaceError, toData } from '../../src/base/errors.ts';
import { asRecord } from '../../src/base/is-record.ts';
import type { Key } from '../../src/base/key.ts';
import { requireRunning } from '../../src/base/turns.ts';
import type { Entry, Storage } from '../../src/contracts/storage.ts';
import { storageBlobs } from '../../src/log/blobs.ts';
import { readPages } from '../../src/log/commits.ts';
import type { MessageEntry } from '../../src/runtime/chat-record.ts';
import { defaultLimits } from '../../src/runtime/limits.ts';
import { storeInlineFiles } from '../../src/runtime/run-files.ts';

/** The format that this version writes: 1 and 2 are those of 0.1 and 0.2, which have not marked it. */
export const storedFormat = 3;

const formatKey: Key = ['format'];

/** How stored data is looked through. */
export interface StoredDataOptions {
  /** Ends the work. */
  readonly signal?: AbortSignal;
  /** Receives how many entries were looked through, after every page. */
  readonly onProgress?: (progress: { readonly entries: number }) => void;
  /** `limits.chatRetentionMs` of the deployment, which rewritten messages keep; 90 days when absent. */
  readonly chatRetentionMs?: number;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
}

/** What a storage holds. */
export interface StoredData {
  /** The format that the data is marked with; absent in data that was never upgraded. */
  readonly format?: number;
  /** `newer`: a later version has written it, and this one should not. `unreadable`: see `error`. */
  readonly state: 'empty' | 'current' | 'older' | 'newer' | 'unreadable';
  readonly entries: number;
  /** How many entries of each kind there are, by the first part of their keys. */
  readonly kinds: Readonly<Record<string, number>>;
  /** The entries whose kind this version does not know: of your own, or of a later version. */
  readonly unknown: number;
  /** The entries in forms of earlier versions: `reads` says what becomes of them. */
  readonly older: readonly { readonly form: string; readonly entries: number; readonly reads: string }[];
  /** What an upgrade writes anew. */
  readonly steps: readonly { readonly step: string; readonly entries: number }[];
  /** Why the storage could be read no further. */
  readonly error?: ErrorData;
}

/** What an upgrade has done. */
export interface UpgradedData {
  readonly format: number;
  readonly entries: number;
  /** The entries that were written anew, by the step. */
  readonly written: Readonly<Record<string, number>>;
}

/** What is stored under the first part of a key. */
const kinds: Readonly<Record<string, string>> = {
  'asks': 'approvals and questions',
  'audit': 'audit',
  'auth': 'sign-ins and revocations',
  'blob': 'files',
  'budget': 'budgets',
  'bulletin': 'signals',
  'bulletin-message': 'signals',
  'cache': 'caches',
  'chat': 'pointers of chats',
  'chats': 'stored chats',
  'delivery': 'webhooks',
  'delivery-off': 'webhooks',
  'due': 'due times',
  'embedding': 'embeddings',
  'event-blocks': 'events and audit',
  'event-log': 'events and audit',
  'events': 'events and audit',
  'fork': 'forks',
  'format': 'format',
  'grounding': 'data sources',
  'idempotency': 'idempotency keys',
  'ingest': 'progress of ingestions',
  'input-digest-key': 'audit',
  'instance': 'instances and their runs',
  'interruption': 'approvals and questions',
  'mcp-client': 'sign-ins to MCP servers',
  'mcp-consent': 'sign-ins to MCP servers',
  'mcp-continuation': 'sign-ins to MCP servers',
  'mcp-grant': 'sign-ins to MCP servers',
  'mcp-pending': 'questions of MCP servers',
  'mcp-question': 'questions of MCP servers',
  'mcp-question-key': 'questions of MCP servers',
  'mcp-sign-in': 'sign-ins to MCP servers',
  'mcp-step-ups': 'sign-ins to MCP servers',
  'loaded-tools': 'discovered tools',
  'loaded-tools-of-chat': 'discovered tools',
  'owned': 'instances and their runs',
  'plan': 'plans',
  'plan-due': 'plans',
  'plan-key': 'plans',
  'program': 'programs',
  'prompt': 'prompts',
  'rate': 'rates',
  'ready': 'readiness',
  'registry': 'registry',
  'run': 'runs',
  'schedule': 'schedules',
  'schedule-fire': 'schedules',
  'schedules': 'schedules',
  'snapshot-fixture': 'events and audit',
  'spent': 'budgets',
  'tape': 'recorded evals',
  'tools': 'discovered tools',
  'tree': 'trees',
  'waiting': 'approvals and questions',
  'waiting-bell': 'signals',
};

/** A form that an earlier version has written, and what this one makes of it. */
interface OlderForm {
  readonly form: string;
  readonly reads: string;
  is(key: Key, value: Readonly<Record<string, unknown>>): boolean;
}

const olderForms: readonly OlderForm[] = [
  {
    form: 'runs without an owner (0.1, 0.2)',
    reads: 'as their recorded person; expire 2 days after their end',
    is: ([kind, , ...rest], { state }) =>
      kind === 'run' && rest.length === 1 && rest[0] === 'head' && 'tenant' in asRecord(state) &&
      !('subject' in asRecord(state)),
  },
  {
    form: 'idempotency keys of all persons (0.1, 0.2)',
    reads: 'a retry starts nothing twice; expire within 2 days',
    is: ({ 0: kind, length }) => kind === 'idempotency' && length === 4,
  },
  {
    form: 'pointers of chats of all persons (0.1, 0.2)',
    reads: 'as the person of their run; expire within 2 days',
    is: ({ 0: kind, length }) => kind === 'chat' && length === 3,
  },
  {
    form: 'files of all persons of a tenant (0.2)',
    reads: 'by each of them, who gets a copy; expire 30 days after their last use',
    is: (key) => key[0] === 'blob' && (key.length === 3 || (key.length === 4 && typeof key[3] === 'number')),
  },
  {
    form: 'keys of plans of all persons (0.1, 0.2)',
    reads: 'a retry starts nothing twice; expire with their plan',
    is: ({ 0: kind, length }) => kind === 'plan-key' && length === 3,
  },
  {
    form: 'due times of plans (0.1, 0.2)',
    reads: 'by each sweep; written anew when their plan moves',
    is: ([kind]) => kind === 'plan-due',
  },
];

const storeFiles = 'inline files of stored chats become files';

/**
 * Looks through a storage. Writes nothing.
 *
 * @throws PinnaceError `cancelled` with the signal; what cannot be read is in `error`.
 * @example
 * const { state, older, steps } = await checkStored(postgresStorage({ connect }));
 */
export async function checkStored(storage: Storage, options: StoredDataOptions = {}): Promise<StoredData> {
  checkNames('check the stored data', options, dataOptions);
  const found = new Map<string, number>();
  const older = new Map<OlderForm, number>();
  let [entries, unknown, inline] = [0, 0, 0];
  let error: ErrorData | undefined;
  try {
    for await (const { key, value } of entriesOf(storage, options)) {
      entries++;
      const kind = kindOf(key);
      if (kind === undefined) unknown++;
      else found.set(kind, (found.get(kind) ?? 0) + 1);
      const form = olderForms.find((one) => one.is(key, asRecord(value)));
      if (form) older.set(form, (older.get(form) ?? 0) + 1);
      if (messageWithFiles(key, value)) inline++;
    }
  } catch (thrown) {
    if (options.signal?.aborted) throw thrown;
    error = toData(thrown);
  }
  const format = error ? undefined : await readFormat(storage);
  return {
    ...(format !== undefined && { format }),
    state: error ? 'unreadable' : stateOf(format, entries),
    entries,
    kinds: Object.fromEntries([...found].toSorted(([a], [b]) => a < b ? -1 : 1)),
    unknown,
    older: [...older].map(([{ form, reads }, count]) => ({ form, entries: count, reads })),
    steps: inline > 0 ? [{ step: storeFiles, entries: inline }] : [],
    ...(error && { error }),
  };
}

/**
 * Writes anew what an earlier version has stored in another form, and marks the format. Instances may run meanwhile, and an upgrade
 * that was stopped is repeated: an entry that is upgraded already is left as it is.
 *
 * @throws PinnaceError `invalid_argument` (`newer_format`) for data of a later version, `cancelled` with the signal, and what the storage throws.
 * @example
 * const { written } = await upgradeStored(storage, { onProgress: ({ entries }) => console.error(entries) });
 */
export async function upgradeStored(storage: Storage, options: StoredDataOptions = {}): Promise<UpgradedData> {
  checkNames('upgrade the stored data', options, dataOptions);
  const format = await readFormat(storage);
  if (format !== undefined && format > storedFormat) throw newer(format);
  const written: Record<string, number> = {};
  let entries = 0;
  for await (const entry of entriesOf(storage, options)) {
    entries++;
    if (await storeFilesOf(storage, entry, options)) written[storeFiles] = (written[storeFiles] ?? 0) + 1;
  }
  const at = (options.now ?? Date.now)();
  if (format !== storedFormat) await storage.commit([{ key: formatKey, value: { format: storedFormat, at } }]);
  return { format: storedFormat, entries, written };
}

const dataOptions = /* @__PURE__ */ optional('signal', 'onProgress', 'chatRetentionMs', 'now');

function stateOf(format: number | undefined, entries: number): StoredData['state'] {
  if (entries === 0) return 'empty';
  if (format !== undefined && format > storedFormat) return 'newer';
  return format === storedFormat ? 'current' : 'older';
}

function kindOf([first]: Key): string | undefined {
  return typeof first === 'string' && Object.hasOwn(kinds, first) ? kinds[first] : undefined;
}

async function readFormat(storage: Storage): Promise<number | undefined> {
  const { format } = asRecord((await storage.get(formatKey))?.value);
  return typeof format === 'number' ? format : undefined;
}

const never = new AbortController().signal;

/** Entries of one page: a value has up to 4 MiB. */
const perPage = 50;

async function* entriesOf(storage: Storage, { signal, onProgress }: StoredDataOptions): AsyncGenerator<Entry> {
  let entries = 0;
  requireRunning(signal ?? never);
  for await (const page of readPages(storage, { prefix: [], limit: perPage })) {
    yield* page;
    onProgress?.({ entries: entries += page.length });
    requireRunning(signal ?? never);
  }
}

/** The message of an entry of a stored chat that has inline files; an answer that is being written is left to its run. */
function messageWithFiles(key: Key, value: unknown): MessageEntry | undefined {
  if (key[0] !== 'chats' || key[3] !== 'message' || key.length !== 7) return undefined;
  const entry = value as MessageEntry; // only stored chats write there
  if (entry.pending || !entry.message) return undefined;
  const hasInline = entry.message.parts.some((part) => part.type === 'file' && /^data:[^,]*;base64,/i.test(part.url));
  return hasInline ? entry : undefined;
}

async function storeFilesOf(
  storage: Storage,
  { key, value, version }: Entry,
  options: StoredDataOptions,
): Promise<boolean> {
  const entry = messageWithFiles(key, value);
  if (!entry?.message) return false;
  const { now = Date.now, chatRetentionMs = defaultLimits.chatRetentionMs, signal = new AbortController().signal } =
    options;
  const [, tenant = '', subject = ''] = key;
  const left = Math.max(1, entry.at + chatRetentionMs - now());
  const scope = { tenant: String(tenant), subject: String(subject), signal, keepMs: Math.min(left, tenYears) };
  const blobs = storageBlobs({ storage, ttlMs: defaultLimits.attachmentRetentionMs, now });
  const { message, files } = await storeInlineFiles(entry.message, {
    blobs,
    limits: { attachmentLength: Infinity },
    scope,
  });
  if (files === 0) return false;
  const ttl = left === Infinity ? {} : { ttlMs: left };
  return (await storage.commit([{ key, value: { ...entry, message }, ifVersion: version, ...ttl }])).ok;
}

const tenYears = 315_360_000_000;

function newer(format: number): PinnaceError {
  return new PinnaceError(
    'invalid_argument',
    `Cannot upgrade the stored data: a later version has written it (format ${format}, this version writes ${storedFormat})`,
    { details: { reason: 'newer_format', format } },
  );
}

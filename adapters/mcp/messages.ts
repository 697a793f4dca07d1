/**
 * The messages of servers, by what they mean. Many servers are not exact about JSON-RPC and MCP, and the libraries are: what is absent,
 * null, or of a neighboring type becomes what the protocol says. Nothing is made up that a server would have to answer for.
 */

import { PinnaceError } from '../../src/base/errors.ts';
import { asRecord, isRecord, withoutNulls } from '../../src/base/is-record.ts';
import { checkJsonDepth } from '../../src/base/json.ts';
import { readForm } from '../../src/mcp/read-form.ts';
import { invalidAnswer } from './failures.ts';

export interface Message {
  readonly id?: unknown;
  readonly method?: unknown;
  readonly params?: unknown;
  readonly result?: unknown;
  readonly error?: unknown;
}

type JsonObject = Readonly<Record<string, unknown>>;

/**
 * Returns the messages in a text: one, or those of a batch.
 *
 * @throws PinnaceError `unavailable` with the reason `mcp_invalid_answer`.
 */
export function readMessages(text: string): readonly Message[] {
  try {
    checkJsonDepth(text);
    const data: unknown = JSON.parse(text);
    return [data].flat().filter(isRecord).map(toMessage);
  } catch (error) {
    throw invalidAnswer(error instanceof PinnaceError ? 'its answer is nested too deep' : 'its answer is not JSON');
  }
}

/** An error that is null, beside a result or alone, is none; a result beside an error is none either. Other fields are dropped. */
function toMessage({ id, method, params, error, result }: JsonObject): Message {
  const said = method === 'elicitation/create' ? toQuestion(params) : params;
  const message: Message & { readonly jsonrpc: string } = { id, method, params: said, jsonrpc: '2.0' };
  if (error) return { ...message, error: toError(error) };
  return result === undefined ? message : { ...message, result };
}

/** The libraries refuse forms that are not exact. */
function toQuestion(params: unknown): unknown {
  const { requestedSchema, ...question } = asRecord(withoutNulls(params));
  return isRecord(requestedSchema)
    ? { ...question, requestedSchema: readForm(requestedSchema) ?? requestedSchema }
    : question;
}

/** In the result of a call null says nothing; one that is no object is its content. */
export function toCallResult(message: Message): Message {
  const { result } = message;
  if (result === undefined) return message;
  const content = Array.isArray(result) || typeof result === 'string' ? result : JSON.stringify(result);
  const entries = Object.entries(isRecord(result) ? result : { content: result === null ? [] : content });
  return { ...message, result: Object.fromEntries(entries.filter(([, value]) => value !== null)) };
}

const internalError = -32_603;

/** Other codes than integers, and errors that are texts, say no more than that it failed. */
function toError(error: unknown): JsonObject {
  const { code, message, data } = asRecord(error);
  return {
    code: Number.isSafeInteger(code) ? code : internalError,
    message: typeof message === 'string' ? message : '',
    ...(data !== undefined && { data }),
  };
}

/** Whether a message is the response to the request with this id, which some servers return as a text. An error may have no id. */
export function answers(message: Message, id: unknown): boolean {
  if (message.method !== undefined) return false;
  const isSame = message.id === id || (typeof id === 'number' && message.id === String(id));
  return message.error === undefined ? isSame && message.result !== undefined : isSame || !hasId(message);
}

/** Whether the only message of a response answers its request without naming it. */
export function answersAlone(message: Message): boolean {
  return message.method === undefined && message.result !== undefined && !hasId(message);
}

function hasId({ id }: Message): boolean {
  return id !== undefined && id !== null;
}

export function errorCodeOf({ error }: Message): number | undefined {
  const { code } = asRecord(error);
  return typeof code === 'number' ? code : undefined; // as `toError` made it
}

/** The revision of servers that name none. */
const oldest = '2025-03-26';

/** Returns what a server says of itself in its answer to `initialize`. */
export function toGreeting(message: Message): Message {
  if (!isRecord(message.result)) return message;
  const { protocolVersion, capabilities, serverInfo, instructions, _meta, ...rest } = message.result;
  const { name, version, ...info } = asRecord(serverInfo);
  return {
    ...message,
    result: {
      ...rest,
      protocolVersion: protocolVersion ?? oldest,
      capabilities: toCapabilities(capabilities),
      serverInfo: { ...info, name: textOf(name), version: textOf(version) },
      ...(typeof instructions === 'string' && { instructions }),
      ...(isRecord(_meta) && { _meta }),
    },
  };
}

function textOf(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}

/** Lists are empty objects of PHP; what is null or false is not offered. */
function toCapabilities(given: unknown): JsonObject {
  const offered = Object.entries(asRecord(given)).filter(([, value]) =>
    value !== undefined && value !== null && value !== false
  );
  return Object.fromEntries(
    offered.map((
      [name, value],
    ) => [name, name === 'experimental' || name === 'extensions' ? toCapabilities(value) : toFlags(value)]),
  );
}

function toFlags(value: unknown): JsonObject {
  const flags = Object.entries(asRecord(value)).filter(([, flag]) => flag !== null);
  return Object.fromEntries(flags.map(([name, flag]) => [name, flag === 'true' || (flag !== 'false' && flag)]));
}

/** Known revisions before the newest one with sessions, the newest first. */
const olderRevisions = ['2025-06-18', '2025-03-26', '2024-11-05'];

/**
 * Returns the revision to try next where a server has refused the one of `initialize`, instead of answering with one that it knows;
 * `undefined` where its answer says something else.
 */
export function olderRevision(text: string): string | undefined {
  if (/"result"\s*:/.test(text) || !/protocol.?version/i.test(text)) return undefined;
  const named = olderRevisions.find((revision) => text.includes(revision));
  return named ?? (/unsupported|not supported|unknown|invalid/i.test(text) ? olderRevisions[0] : undefined);
}

/** Whether a flag of a result is set, whatever it is written as. */
export function isSet(flag: unknown): boolean {
  return flag === true || flag === 1 || (typeof flag === 'string' && /^(?:true|1)$/i.test(flag));
}

export interface HeldResults {
  /** Returns the response without its content. */
  readonly hold: (message: Message) => Message;
  readonly take: (frame: unknown) => unknown;
}

export function createHeldResults(): HeldResults {
  const held = new Map<unknown, unknown>();
  return {
    hold: (message) => {
      const { result } = message;
      if (!isRecord(result)) return message;
      const { structuredContent: _, isError, ...frame } = result;
      const key = crypto.randomUUID(); // a server cannot know it, so it cannot forge one
      held.set(key, result);
      for (const list of lists) if (list in frame) frame[list] = [];
      if ('completion' in frame) frame['completion'] = { values: [] };
      return { ...message, result: { ...frame, ...(isSet(isError) && { isError: true }), _meta: { [heldKey]: key } } };
    },
    take: (frame) => {
      const meta = isRecord(frame) ? frame['_meta'] : undefined;
      const key = isRecord(meta) ? meta[heldKey] : undefined;
      if (!held.has(key)) return frame;
      const result = held.get(key);
      held.delete(key);
      return result;
    },
  };
}

/** The fields of results that hold content. */
const lists = ['tools', 'content', 'prompts', 'messages', 'resources', 'resourceTemplates', 'contents'];

const heldKey = 'pinnace/held';

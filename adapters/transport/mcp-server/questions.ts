/**
 * Lets a tool ask the client that called it. The protocol has no open calls: a question ends the execution, and the call is executed
 * again with the answer.
 */

import * as v from 'valibot';
import { PinnaceError } from '../../../src/base/errors.ts';
import { sha256 } from '../../../src/base/hash.ts';
import { isRecord } from '../../../src/base/is-record.ts';
import { canonicalJson } from '../../../src/base/json.ts';
import type { Key } from '../../../src/base/key.ts';
import { loadOnce } from '../../../src/base/load-once.ts';
import type { Principal } from '../../../src/base/principal.ts';
import type { JsonSchema } from '../../../src/base/schema.ts';
import type { Storage } from '../../../src/contracts/storage.ts';
import { redactData } from '../../../src/permission/redaction/run-redaction.ts';
import { compileJsonSchema } from '../../../src/tools/json-schema/json-schema.ts';
import type {
  AnswersTo,
  CallingClient,
  ClientAnswers,
  ClientQuestion,
  ClientQuestions,
} from '../../../src/tools/tool.ts';
import { mcpServerLibrary, type RequestStateCodec, type ServerContext } from './sdk-2026.ts';

interface AskingOptions {
  readonly capabilities: ClientCapabilities;
  /** What was stored with the last question; `undefined` for a first request. */
  readonly record: QuestionRecord | undefined;
  readonly responses: unknown;
}

export interface Asking {
  readonly client: CallingClient;
  askApproval(message: string): void;
  decided(): boolean | undefined;
  /** From now on these secrets are taken out of questions. */
  redact: (text: string) => string;
  /** The questions that ended the execution; `undefined` when it asked nothing, or everything was answered. */
  pending(): Pending | undefined;
}

/** Questions to send, and what is to be stored with them. */
interface Pending {
  readonly requests: Readonly<Record<string, WireQuestion>>;
  readonly record: QuestionRecord | undefined;
}

const maxRounds = 8;
const maxQuestions = 10;
const maxAnswersLength = 65_536;

export function openAsking({ capabilities, record, responses }: AskingOptions): Asking {
  const given = isRecord(responses) ? responses : {};
  const answers: Record<string, unknown> = { ...record?.answers };
  let pending: Pending | undefined;
  const collect = async (questions: ClientQuestions, bound: boolean): Promise<Record<string, unknown> | undefined> => {
    const open: Record<string, WireQuestion> = {};
    const asked: Record<string, string> = {};
    const found: Record<string, unknown> = {};
    for (const [key, question] of entriesOf(questions)) {
      if (!canAnswer(question.kind, capabilities)) throw cannotAnswer(key, question);
      const wire = redactData(toWireQuestion(key, question), asking.redact);
      const digest = await sha256(canonicalJson(wire));
      const id = `${key} ${digest}`;
      const mayRead = record?.asked[key] === digest || !bound;
      answers[id] ??= mayRead ? readAnswer(question, given[key]) : undefined;
      if (answers[id] === undefined) [open[key], asked[key]] = [wire, digest];
      else found[key] = answers[id];
    }
    if (Object.keys(open).length === 0) return found;
    const needsState = bound || Object.keys(record?.answers ?? {}).length > 0;
    pending = { requests: open, record: needsState ? nextRecord(record, answers, asked) : undefined };
    return undefined;
  };
  const asking: Asking = {
    redact: (text) => text,
    pending: () => pending,
    askApproval(message) {
      const requests = { [approvalKey]: redactData(toWireQuestion(approvalKey, approvalForm(message)), asking.redact) };
      pending = { requests, record: nextRecord(record, answers, { [approvalKey]: approvalKey }) };
    },
    decided() {
      if (record?.asked[approvalKey] === undefined) return answers[approvalKey] as boolean | undefined; // written below
      const answer = readAnswer(approvalForm(''), given[approvalKey]);
      if (!answer || !('action' in answer)) return undefined;
      const decision = answer.action === 'accept' && 'content' in answer && answer.content?.['approve'] === true;
      answers[approvalKey] = decision;
      return decision;
    },
    client: {
      canAnswer: (kind) => canAnswer(kind, capabilities),
      async ask<const Questions extends ClientQuestions>(
        questions: Questions,
        { bound = true }: { readonly bound?: boolean } = {},
      ) {
        const found = await collect(questions, bound);
        if (!found) throw new QuestionOpen();
        return found as AnswersTo<Questions>; // each was read as the answer to its question
      },
    },
  };
  return asking;
}

/** The key of the question whether a call may be made. Tools cannot use it: the state is bound to the tool and its input. */
const approvalKey = 'pinnace.approval';

function approvalForm(message: string): ClientQuestion {
  const approve = { type: 'boolean', title: 'Allow this call' };
  const schema = { type: 'object', properties: { approve }, required: ['approve'] };
  return { kind: 'form', message: message.slice(0, 4096), schema };
}

/** Ends the execution of a tool that has asked. */
class QuestionOpen extends PinnaceError {
  constructor() {
    super('approval_required', 'The client has to answer first: the call is executed again with its answer', {
      details: { reason: 'question_open' },
    });
  }
}

function entriesOf(questions: ClientQuestions): readonly (readonly [string, ClientQuestion])[] {
  const entries = Object.entries(questions);
  const [first = ''] = Object.keys(questions);
  if (entries.length === 0 || entries.length > maxQuestions) {
    throw invalidQuestion(first, `a call asks 1 to ${maxQuestions} questions at once`);
  }
  const odd = entries.find(([key]) => !/^[\w-]{1,64}$/.test(key));
  if (odd) throw invalidQuestion(odd[0], 'its key must be 1 to 64 letters, digits, "_" or "-"');
  return entries;
}

function nextRecord(
  record: QuestionRecord | undefined,
  all: Readonly<Record<string, unknown>>,
  asked: Readonly<Record<string, string>>,
): QuestionRecord {
  const round = (record?.round ?? 0) + 1;
  const answers = Object.fromEntries(Object.entries(all).filter(([, answer]) => answer !== undefined));
  if (round > maxRounds || JSON.stringify(answers).length > maxAnswersLength) {
    throw new PinnaceError('budget_exceeded', `Cannot ask the client again: a call asks at most ${maxRounds} times`, {
      details: { reason: 'too_many_rounds', maxRounds, maxAnswersLength },
    });
  }
  return { round, answers, asked };
}

function cannotAnswer(key: string, { kind }: ClientQuestion): PinnaceError {
  return new PinnaceError('unavailable', `Cannot ask "${key}": the client does not declare that it answers "${kind}"`, {
    retryable: false,
    details: { reason: 'client_cannot_answer', kind },
  });
}

/** A request to the client, inside a result. */
interface WireQuestion {
  readonly method: 'elicitation/create' | 'sampling/createMessage' | 'roots/list';
  readonly params: Readonly<Record<string, unknown>>;
}

type ClientCapabilities = Readonly<Record<string, unknown>> | undefined;

function canAnswer(kind: ClientQuestion['kind'], capabilities: ClientCapabilities): boolean {
  const { elicitation, sampling, roots } = capabilities ?? {};
  switch (kind) {
    case 'form': // A client that names no mode has this one.
      return isRecord(elicitation) && (elicitation['form'] !== undefined || elicitation['url'] === undefined);
    case 'url':
      return isRecord(elicitation) && elicitation['url'] !== undefined;
    case 'sampling':
      return sampling !== undefined;
    default:
      return roots !== undefined;
  }
}

const maxMessageLength = 4096;
const maxFields = 20;
const secretName =
  /pass(word|phrase|wd)|secret|api[\s_-]?key|private[\s_-]?key|access[\s_-]?token|\bcvv\b|card[\s_-]?number/i;

/**
 * Returns the question in the form of MCP.
 * @throws PinnaceError `invalid_argument`: `secret_in_form` for a form that asks for a secret, `question_invalid` for another that
 * no client can show.
 */
function toWireQuestion(key: string, question: ClientQuestion): WireQuestion {
  switch (question.kind) {
    case 'form':
      checkMessage(key, question.message);
      checkForm(key, question.schema);
      return {
        method: 'elicitation/create',
        params: { mode: 'form', message: question.message, requestedSchema: question.schema },
      };
    case 'url':
      checkMessage(key, question.message);
      if (!isPage(question.url)) throw invalidQuestion(key, 'its URL is not https, or has user information');
      return { method: 'elicitation/create', params: { mode: 'url', message: question.message, url: question.url } };
    case 'sampling': {
      const { kind: _, ...params } = question;
      return { method: 'sampling/createMessage', params };
    }
    default:
      return { method: 'roots/list', params: {} };
  }
}

function checkMessage(key: string, message: string): void {
  if (message.length > maxMessageLength) throw invalidQuestion(key, `its message is longer than ${maxMessageLength}`);
}

function checkForm(key: string, schema: JsonSchema): void {
  const { type, properties } = schema;
  if (type !== 'object' || !isRecord(properties)) throw invalidQuestion(key, 'its schema is not of an object');
  const names = Object.keys(properties);
  if (names.length === 0 || names.length > maxFields) throw invalidQuestion(key, `it has not 1 to ${maxFields} fields`);
  if (names.some((name) => secretName.test(name))) {
    throw new PinnaceError('invalid_argument', `Cannot ask "${key}": a form must not ask for secrets; ask by URL`, {
      details: { reason: 'secret_in_form' },
    });
  }
}

function isPage(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password } = new URL(text);
  return protocol === 'https:' && username === '' && password === '';
}

function invalidQuestion(key: string, why: string): PinnaceError {
  return new PinnaceError('invalid_argument', `Cannot ask "${key.slice(0, 64)}": ${why}`, {
    details: { reason: 'question_invalid' },
  });
}

const Action = v.picklist(['accept', 'decline', 'cancel']);
const Value = v.union([v.string(), v.number(), v.boolean(), v.array(v.string())]);
const FormAnswer = v.object({ action: Action, content: v.optional(v.record(v.string(), Value)) });
const UrlAnswer = v.object({ action: Action });
const SamplingAnswer = v.object({ role: v.string(), content: v.unknown(), model: v.optional(v.string()) });
const RootsAnswer = v.object({
  roots: v.pipe(v.array(v.object({ uri: v.string(), name: v.optional(v.string()) })), v.maxLength(100)),
});

function readAnswer(
  question: ClientQuestion,
  given: unknown,
): ClientAnswers[ClientQuestion['kind']] | undefined {
  switch (question.kind) {
    case 'form':
      return readForm(question.schema, given);
    case 'url':
      return outputOf(UrlAnswer, given);
    case 'sampling':
      return outputOf(SamplingAnswer, given) as ClientAnswers['sampling'] | undefined;
    default:
      return outputOf(RootsAnswer, given) as ClientAnswers['roots'] | undefined;
  }
}

function readForm(schema: JsonSchema, given: unknown): ClientAnswers['form'] | undefined {
  const answer = outputOf(FormAnswer, given);
  if (!answer || answer.action !== 'accept') return answer && { action: answer.action };
  const { content } = answer;
  if (content === undefined || compileJsonSchema(schema)(content).length > 0) return undefined;
  return { action: 'accept', content };
}

function outputOf<S extends v.GenericSchema>(schema: S, given: unknown): v.InferOutput<S> | undefined {
  const result = v.safeParse(schema, given);
  return result.success ? result.output : undefined;
}

export interface QuestionRecord {
  readonly round: number;
  /** The answers so far, each under the key and the digest of its question. */
  readonly answers: Readonly<Record<string, unknown>>;
  /** The digests of the questions that are open, by key. */
  readonly asked: Readonly<Record<string, string>>;
}

export interface QuestionStates {
  /** Stores the record and returns the state for the client. */
  mint(record: QuestionRecord, context: ServerContext): Promise<string>;
  /**
   * Returns the record and removes it. Rejects for a state that was changed, is too old, was used before, or belongs to another
   * principal, method, name or input.
   */
  spend(state: string, context: ServerContext): Promise<QuestionRecord>;
}

const validMs = 3_600_000;
const signingKey: Key = ['mcp-question-key'];

/** Opens the states of a storage. `boundTo` returns the principal of a request, and a text that names the call. */
export function createQuestionStates(
  storage: Storage,
  boundTo: (context: ServerContext) => { readonly principal: Principal; readonly call: string },
): QuestionStates {
  const bind = (context: ServerContext): string => {
    const { principal: { tenant, subject }, call } = boundTo(context);
    return JSON.stringify([tenant, subject, context.mcpReq.method, call]);
  };
  const codec = loadOnce(async (): Promise<RequestStateCodec<{ readonly id: string }>> => {
    const { createRequestStateCodec } = await mcpServerLibrary();
    return createRequestStateCodec({ key: await keyOf(storage), ttlSeconds: validMs / 1000, bind });
  });
  return {
    async mint(record, context) {
      const id = crypto.randomUUID();
      const { principal } = boundTo(context);
      await storage.commit([{ key: recordKey(principal, id), value: record, ttlMs: validMs }]);
      return await (await codec()).mint({ id }, context);
    },
    async spend(state, context) {
      const { id } = await (await codec()).verify(state, context);
      const key = recordKey(boundTo(context).principal, id);
      const entry = await storage.get(key);
      if (!entry) throw new Error('spent');
      const spent = await storage.commit([{ key, ifVersion: entry.version }]);
      if (!spent.ok) throw new Error('spent');
      return entry.value as QuestionRecord; // only `mint` writes it
    },
  };
}

function recordKey({ tenant, subject }: Principal, id: string): Key {
  return ['mcp-question', tenant, subject, id];
}

/** The key that signs states: made by the first instance that asks. */
async function keyOf(storage: Storage): Promise<Uint8Array> {
  const own = crypto.getRandomValues(new Uint8Array(32));
  const made = await storage.commit([{ key: signingKey, value: own, ifVersion: null }]);
  if (made.ok) return own;
  const entry = await storage.get(signingKey);
  if (entry?.value instanceof Uint8Array) return entry.value;
  throw new Error('The key of questions cannot be read');
}

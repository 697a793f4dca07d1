/** Questions of servers: asked by an interruption, answered once by a person, and sent with the next call. */

import { PinnaceError } from '../base/errors.ts';
import { refusal } from '../permission/interruption.ts';
import { sha256 } from '../base/hash.ts';
import { canonicalJson } from '../base/json.ts';
import type { Key } from '../base/key.ts';
import type { Principal } from '../base/principal.ts';
import type { McpServer } from '../base/schema.ts';
import { waitAtMost } from '../base/until-aborted.ts';
import type {
  AnsweredQuestions,
  AskWhileOpen,
  Interaction,
  McpAnswer,
  McpAnswers,
  McpInputRequired,
  McpInputResponses,
} from '../contracts/mcp/answers.ts';
import type { Storage } from '../contracts/storage.ts';
import type { Report } from '../events/report.ts';
import { owns } from '../permission/ownership.ts';
import { type Ask, compile, readAsks } from './read-asks.ts';
import { continuationKey, hostOf, type Sealed, type Seals } from './sign-in-records.ts';

export interface AskingTool {
  readonly server: McpServer;
  readonly principal: Principal;
  readonly fingerprint: string;
  readonly input: unknown;
}

export interface QuestionContext {
  readonly storage: Storage;
  readonly seals: (tenant: string) => Seals;
  readonly now: () => number;
}

interface QuestionRecord {
  readonly kind: 'elicitation';
  readonly runId: string;
  readonly tenant: string;
  readonly subject: string;
  readonly serverId: string;
  /** SHA-256 over the call: server, pin, tool and input. */
  readonly call: string;
  readonly round: number;
  readonly expiresAt: number;
  readonly sealed: Sealed;
  /** The answers; the model never sees them. */
  readonly sealedAnswers?: Sealed;
}

interface Question extends McpInputRequired {
  readonly asks: readonly Ask[];
}

const maxRounds = 5;

/** Returns the interruption that asks. @throws PinnaceError as `readAsks`, and `budget_exceeded` after five rounds. */
export async function questionInteraction(
  tool: AskingTool,
  required: McpInputRequired,
  { round, context }: { readonly round: number; readonly context: QuestionContext },
): Promise<Interaction> {
  if (round > maxRounds) throw tooManyRounds();
  await requireRoomForQuestion(tool.principal, context);
  const asks = readAsks(required.inputRequests);
  const { server: { id: serverId, alias, url }, principal: { tenant, subject } } = tool;
  const call = await callDigest(tool);
  const question: Question = { ...required, asks };
  return {
    kind: 'elicitation',
    reason: `${alias} (${hostOf(url)}) asks you: ${asks.map(({ message }) => message).join(' ')}`.slice(0, 1000)
      .toWellFormed(),
    data: { server: { id: serverId, alias, host: hostOf(url) }, asks },
    async save({ id, runId, expiresAt }) {
      const sealed = await context.seals(tenant).seal(question, boundTo(id, { call, round }));
      const facts = { runId, tenant, subject, serverId };
      const value: QuestionRecord = { kind: 'elicitation', ...facts, call, round, expiresAt, sealed };
      const ttlMs = ttlOf(expiresAt, context);
      const pending = { key: pendingKey({ tenant, subject }, id), value: true, ttlMs };
      await context.storage.commit([{ key: continuationKey(id), value, ttlMs }, pending]);
    },
  };
}

/**
 * Stores the answers to an interruption.
 * @throws PinnaceError `not_found` for another run's or person's interruption, `invalid_argument` for answers that do not fit.
 */
export async function storeAnswers(
  { runId, id, principal, answers }: AnsweredQuestions,
  context: QuestionContext,
): Promise<void> {
  const { tenant } = principal;
  const { record, version, question } = await readQuestion({ id, principal }, context);
  if (record.runId !== runId) throw unknownQuestion();
  const checked = await checkAnswers(question.asks, answers);
  const sealedAnswers = await context.seals(tenant).seal(checked, [...boundTo(id, record), 'answers']);
  const change = {
    key: continuationKey(id),
    value: { ...record, sealedAnswers },
    ttlMs: ttlOf(record.expiresAt, context),
  };
  const answered = { key: pendingKey(record, id) };
  if (!(await context.storage.commit([{ ...change, ifVersion: version }, answered])).ok) throw answeredAlready();
}

async function isAnswered(id: string, { storage }: QuestionContext): Promise<boolean> {
  const record = (await storage.get(continuationKey(id)))?.value as QuestionRecord | undefined; // only this room writes it
  return record?.sealedAnswers !== undefined;
}

/** Returns the answers for a call that goes on, once. @throws PinnaceError `forbidden` for another call. */
export async function takeAnswers(
  id: string,
  tool: AskingTool,
  context: QuestionContext,
): Promise<{ readonly responses: McpInputResponses; readonly round: number }> {
  const { tenant } = tool.principal;
  const { record, version, question } = await readQuestion({ id, principal: tool.principal }, context);
  if (record.call !== await callDigest(tool) || record.serverId !== tool.server.id) throw otherCall();
  const { sealedAnswers, round } = record;
  const opened = sealedAnswers && await context.seals(tenant).open(sealedAnswers, [...boundTo(id, record), 'answers']);
  if (opened === undefined) throw otherCall();
  const { ok } = await context.storage.commit([{ key: continuationKey(id), ifVersion: version }]); // single use
  if (!ok) throw otherCall();
  const { requestState } = question;
  const inputResponses = opened as Readonly<Record<string, McpAnswer>>; // sealed by this module
  return { responses: { inputResponses, ...(requestState !== undefined && { requestState }) }, round };
}

async function readQuestion(
  { id, principal }: { readonly id: string; readonly principal: Principal },
  { storage, seals }: QuestionContext,
): Promise<{ readonly record: QuestionRecord; readonly version: string; readonly question: Question }> {
  const entry = id.length > 64 ? undefined : await storage.get(continuationKey(id));
  const record = entry?.value as QuestionRecord | undefined; // only this room writes it
  if (!entry || record?.kind !== 'elicitation' || !owns(principal, record)) throw unknownQuestion();
  const question = await seals(record.tenant).open(record.sealed, boundTo(id, record));
  if (question === undefined) throw unknownQuestion();
  return { record, version: entry.version, question: question as Question }; // sealed by this module
}

function boundTo(id: string, { call, round }: Pick<QuestionRecord, 'call' | 'round'>): readonly unknown[] {
  return ['mcp-question', id, call, round];
}

async function callDigest({ server, fingerprint, input, principal: { tenant } }: AskingTool): Promise<string> {
  return await sha256(canonicalJson(['mcp-question/v1', tenant, server.id, server.url, fingerprint, input]));
}

function ttlOf(expiresAt: number, { now }: QuestionContext): number {
  return Math.max(1, expiresAt - now());
}

/** Returns the answers as the server receives them: those of forms with the defaults of what is missing. */
async function checkAnswers(
  asks: readonly Ask[],
  answers: McpAnswers['answers'],
): Promise<Readonly<Record<string, McpAnswer>>> {
  const unknown = Object.keys(answers).find((key) => !asks.some((ask) => ask.key === key));
  const missing = asks.find(({ key }) => answers[key] === undefined);
  if (unknown !== undefined || missing) throw invalidAnswers('every question needs one answer');
  const checked = asks.map(async (ask): Promise<[string, McpAnswer]> => {
    const { action, content = {} } = answers[ask.key]!;
    if (action !== 'accept') return [ask.key, { action }];
    if (ask.mode === 'url') return [ask.key, { action }];
    const fields = ask.schema['properties'] as Readonly<Record<string, { readonly default?: unknown }>>;
    if (Object.keys(content).some((name) => !Object.hasOwn(fields, name))) {
      throw invalidAnswers('an answer has other fields');
    }
    const defaults = Object.entries(fields).filter(([, field]) => field.default !== undefined);
    const complete = { ...Object.fromEntries(defaults.map(([name, field]) => [name, field.default])), ...content };
    const [issue] = await compile(ask.schema).inTurns(complete);
    if (issue) throw invalidAnswers(`"${issue.path}" ${issue.message}`);
    return [ask.key, { action, content: complete }];
  });
  return Object.fromEntries(await Promise.all(checked));
}

function invalidAnswers(why: string): PinnaceError {
  return refusal('invalid_argument', `Cannot take the answers: ${why}`, 'invalid_answers');
}

function unknownQuestion(): PinnaceError {
  const message = 'Cannot take the answers: no question of this run has this id';
  return refusal('not_found', message, 'interruption_not_found');
}

function answeredAlready(): PinnaceError {
  return refusal('already_decided', 'The questions have been answered; the first answers count', 'approval_decided');
}

function otherCall(): PinnaceError {
  const message = 'Cannot continue the call: the answers were given to another call, or are used';
  return refusal('forbidden', message, 'mcp_answers_of_another_call');
}

function tooManyRounds(): PinnaceError {
  return new PinnaceError('budget_exceeded', `Cannot continue the call: its server has asked ${maxRounds} times`, {
    details: { reason: 'mcp_question_rounds', maxRounds },
  });
}

/** How long the call waits, within its own time. */
const elicitMs = 120_000;
const pollMs = 200;
const openKey = 'question';
const canceled: McpAnswer = { action: 'cancel' };

/** Asks, and waits for the answer in the storage, from whichever instance it comes. A question that may not be asked is canceled. */
export async function askOpenQuestion(
  tool: AskingTool,
  params: unknown,
  { ask, signal, report, context }: {
    readonly ask: AskWhileOpen;
    readonly signal: AbortSignal;
    readonly report: Report;
    readonly context: QuestionContext;
  },
): Promise<McpAnswer> {
  const inputRequests = { [openKey]: { method: 'elicitation/create', params } };
  const interaction = await questionInteraction(tool, { inputRequests }, { round: 1, context }).catch(
    (error: unknown) => {
      if (!(error instanceof PinnaceError)) throw error;
      report(error, { kind: 'mcp', id: tool.server.id }); // the server only learns that there is no answer
      return undefined;
    },
  );
  if (!interaction) return canceled;
  const id = await ask(interaction);
  const until = context.now() + elicitMs;
  while (!signal.aborted && context.now() < until) {
    if (await isAnswered(id, context)) {
      const { responses } = await takeAnswers(id, tool, context);
      return responses.inputResponses[openKey] ?? canceled;
    }
    await waitAtMost(pollMs, new Promise(() => {}));
  }
  await context.storage.commit([{ key: continuationKey(id) }]); // a late answer is refused
  return canceled;
}

interface Limited {
  readonly storage: Storage;
  readonly now: () => number;
}

const maxStepUps = 3;
const stepUpMs = 3_600_000;
const maxTries = 10;

/**
 * Counts a request of a server for further rights of a person.
 * @throws PinnaceError `rate_limited` (`mcp_step_up_limit`) for more than three in an hour.
 */
export async function countStepUp(
  serverId: string,
  { tenant, subject }: Principal,
  { storage, now }: Limited,
): Promise<void> {
  const key = ['mcp-step-ups', tenant, subject, serverId];
  for (let tries = 0; tries < maxTries; tries++) {
    const entry = await storage.get(key);
    const known = (entry?.value as readonly number[] | undefined) ?? []; // only written below
    const recent = known.filter((at) => now() - at < stepUpMs);
    if (recent.length >= maxStepUps) throw tooManyStepUps(stepUpMs - (now() - (recent[0] ?? 0)));
    const change = { key, value: [...recent, now()], ttlMs: stepUpMs, ifVersion: entry?.version ?? null };
    if ((await storage.commit([change])).ok) return;
  }
  throw tooManyStepUps(1000);
}

const maxPending = 50;

/** The key under which a question counts for its person until it is answered or expires. */
function pendingKey({ tenant, subject }: Pick<Principal, 'tenant' | 'subject'>, interruptionId: string): Key {
  return ['mcp-pending', tenant, subject, interruptionId];
}

/** @throws PinnaceError `rate_limited` (`mcp_too_many_questions`) when 50 questions wait for the person. */
async function requireRoomForQuestion({ tenant, subject }: Principal, { storage }: Limited): Promise<void> {
  const waiting = await storage.list({ prefix: ['mcp-pending', tenant, subject], limit: maxPending });
  if (waiting.length < maxPending) return;
  throw new PinnaceError(
    'rate_limited',
    `Cannot ask another question: ${maxPending} questions of MCP servers wait for this person`,
    { details: { reason: 'mcp_too_many_questions' } },
  );
}

function tooManyStepUps(retryAfterMs: number): PinnaceError {
  return new PinnaceError(
    'rate_limited',
    `Cannot ask for further rights: the MCP server has asked this person ${maxStepUps} times in an hour`,
    { retryAfterMs, details: { reason: 'mcp_step_up_limit' } },
  );
}

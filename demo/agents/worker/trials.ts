/** Calls tools that are being made, for the person who makes them. */

import { requireDestination } from '../../../src/base/origins.ts';
import { invalid, parse } from '../../../src/base/parse.ts';
import { readText } from '../../../src/base/read-text.ts';
import { ToolDefinition } from '../../../src/base/schema.ts';
import { createRecorder } from '../../../src/events/audit.ts';
import { createTraceId } from '../../../src/events/trace-ids.ts';
import {
  createAudit,
  createRedactor,
  type Egress,
  localPrincipal,
  PinnaceError,
  type Sandbox,
  Secret,
  type SecretSource,
  type Storage,
  type Tool,
  type ToolOutcome,
} from '../../../src/index.ts';
import { mayAct } from '../../../src/tools/call-ends.ts';
import { buildRequest } from '../../../src/tools/call-http.ts';
import { HttpToolConfig, needsApproval } from '../../../src/tools/http-config.ts';
import { createCodeTool } from '../../../src/tools/implement.ts';
import { createHttpTool, type HttpToolDefinition, invokeTool, prepareCall } from '../../../src/tools/index.ts';
import { answer } from '../../control/answer.ts';
import type { ToolRequest, ToolTrial, TrialControl } from '../../control/trial-control.ts';
import { reviewOf } from './review.ts';

export interface TrialOptions {
  readonly egress: Egress;
  readonly sandbox: Sandbox;
  readonly secrets: SecretSource;
  readonly storage: Storage;
}

/** Who calls, in the audit and to the source of secrets. */
const agentId = 'trial';
/** For a whole call, whatever the definition says. */
const longestMs = 60_000;
/** The longest beginning of an answer that is shown, in UTF-16 code units. */
const maxShown = 16_384;

export function createTrials(options: TrialOptions): TrialControl {
  return {
    previewTool: (data, input) =>
      answer(async () => {
        const definition = read(data);
        return await previewRequest(definition, toolOf(definition, options), input);
      }),
    reviewDocument: (data) => answer(() => reviewOf(data)),
    callTool: (data, input) => answer(async () => await call(read(data), input, options)),
  };
}

/** What has no id and no name yet can be tried all the same. */
function read(data: object): ToolDefinition {
  const given = data as { readonly id?: string; readonly name?: string; readonly description?: string };
  const name = given.name || 'new_tool';
  const named = { ...given, id: given.id || name, name, description: given.description || 'None yet' };
  return parse(ToolDefinition, named, { what: 'the tool' });
}

function toolOf(definition: ToolDefinition, { egress, sandbox }: Pick<TrialOptions, 'egress' | 'sandbox'>): Tool {
  if (definition.type === 'code') return createCodeTool(definition, { sandbox });
  // `createHttpTool` parses the config.
  if (definition.type === 'http') return createHttpTool(definition as HttpToolDefinition, { egress });
  throw new PinnaceError('invalid_argument', `Cannot test a tool of type "${definition.type}": only "http" and "code"`);
}

async function call(definition: ToolDefinition, input: unknown, options: TrialOptions): Promise<ToolTrial> {
  const { signal } = new AbortController();
  const principal = localPrincipal();
  const observed: Observed = {};
  const tool = toolOf(definition, {
    egress: observedEgress(options.egress, observed),
    sandbox: observedSandbox(options.sandbox, observed),
  });
  const secrets = await resolveAll(tool, { options, tenant: principal.tenant, signal });
  const redactor = createRedactor(
    Object.values(secrets).map((secret) => ({ id: secret.id, value: secret.reveal() })).filter(({ value }) =>
      value.length >= 8
    ),
  );
  const startedAt = performance.now();
  const audited = auditTrial(tool, options.storage);
  const caller = { toolCallId: 'trial', agentId, principal };
  const outcome = await invokeTool(tool, input, {
    ...caller,
    prepared: prepareCall(tool, input, { ...caller, authorize: () => ({ decision: 'allow' }), approved: true }),
    secrets,
    log: () => undefined,
    redact: redactor.text,
    start: audited.start,
    signal,
    timeoutMs: longestMs,
    maxOutputLength: 65_536,
  });
  const durationMs = Math.round(performance.now() - startedAt);
  await audited.end(outcome);
  const shown = await observed.answer;
  const clean = JSON.parse(redactor.text(JSON.stringify({ outcome, shown, thrown: observed.thrown }))) as { // as it went in
    readonly outcome: ToolTrial['outcome'];
    readonly shown?: NonNullable<ToolTrial['answer']>;
    readonly thrown?: string;
  };
  return {
    outcome: clean.outcome,
    durationMs,
    ...(clean.shown && { answer: clean.shown }),
    ...(clean.thrown !== undefined && { thrown: clean.thrown }),
  };
}

async function resolveAll(
  { definition: { id, secrets }, secretOrigin: origin }: Tool,
  { options, tenant, signal }: {
    readonly options: TrialOptions;
    readonly tenant: string;
    readonly signal: AbortSignal;
  },
): Promise<Readonly<Record<string, Secret>>> {
  const scope = { tenant, agentId, toolId: id, ...(origin !== undefined && { origin }) };
  return Object.fromEntries(
    await Promise.all(
      secrets.map(async (ref) => {
        const secret = await options.secrets.resolve(ref, { scope, signal });
        return [ref.id, requireDestination(secret, origin)] as const;
      }),
    ),
  );
}

/** What is observed besides the outcome. */
interface Observed {
  answer?: Promise<ToolTrial['answer']>;
  thrown?: string;
}

/** Keeps the beginning of the last answer. */
function observedEgress(egress: Egress, observed: Observed): Egress {
  return {
    async fetch(request, terms) {
      const response = await egress.fetch(request, terms);
      const copy = response.clone();
      observed.answer = readText(copy.body).catch(() => '').then((text) => ({
        status: response.status,
        type: response.headers.get('content-type') ?? '',
        text: text.slice(0, maxShown).toWellFormed(),
        isCut: text.length > maxShown,
      }));
      return response;
    },
  };
}

/** Keeps what the code threw. */
function observedSandbox(sandbox: Sandbox, observed: Observed): Sandbox {
  return {
    async run(code, options) {
      try {
        return await sandbox.run(code, options);
      } catch (error) {
        if (error instanceof PinnaceError && error.cause instanceof Error) observed.thrown = error.cause.message;
        throw error;
      }
    },
  };
}

/** Records a trial in the audit log. */
interface TrialAudit {
  /** Awaited before the tool runs. */
  readonly start: (() => Promise<void>) | undefined;
  readonly end: (outcome: ToolOutcome) => Promise<void>;
}

/** Records a tool with side effects before and after its trial, like the call of an agent. */
function auditTrial(
  { definition }: Tool,
  storage: Storage,
): TrialAudit {
  if (!mayAct(definition)) return { start: undefined, end: () => Promise.resolve() };
  const recorder = createRecorder({ audit: createAudit({ storage }), emit: () => undefined, now: Date.now });
  const { tenant, subject } = localPrincipal();
  let ended: Awaited<ReturnType<typeof recorder.start>> | undefined;
  return {
    async start() {
      ended = await recorder.start({
        traceId: createTraceId(),
        tenant,
        actor: { type: 'user', id: subject },
        action: 'tool.call',
        target: { type: 'tool', id: definition.id },
        payload: { agent: agentId, subject, approved: true },
      });
    },
    async end(outcome) {
      await ended?.({ status: outcome.ok ? 'ok' : 'error', error: outcome.ok ? null : outcome.error });
    },
  };
}

/**
 * Returns the request without resolving or including secrets.
 *
 * @throws PinnaceError `invalid_argument` for an input that does not fit, and for a template that is none.
 */
async function previewRequest(definition: ToolDefinition, tool: Tool, given: unknown): Promise<ToolRequest> {
  const checked = await tool.check(given);
  if (!checked.ok) throw invalid('the input', checked.issues);
  const config = parse(HttpToolConfig, definition.config, { what: 'the template' });
  // They stay closed: only their names are shown.
  const closed = definition.secrets.map(({ id }) => [id, new Secret({ id, version: '', value: '' })]);
  const input = checked.input as Readonly<Record<string, unknown>>; // an HTTP tool's is an object
  const { request, secretHeaders, secretFields } = buildRequest(config, {
    input,
    secrets: Object.fromEntries(closed),
  });
  const shown = (parts: readonly (string | Secret)[]): string => parts.map(String).join('');
  const fields = Object.entries(secretFields).map(([name, parts]) => [name, shown(parts)]);
  return {
    method: request.method,
    url: request.url,
    headers: [
      ...request.headers,
      ...Object.entries(secretHeaders).map(([name, parts]) => [name.toLowerCase(), shown(parts)] as const),
    ],
    ...(config.body && { body: withFields(await request.text(), fields, config.body.as) }),
    needsApproval: needsApproval(config),
  };
}

function withFields(body: string, fields: readonly (readonly string[])[], as: 'json' | 'form'): string {
  if (as === 'json') return JSON.stringify({ ...JSON.parse(body), ...Object.fromEntries(fields) }, null, 2);
  return [body, ...fields.map(([name = '', text]) => `${encodeURIComponent(name)}=${text}`)]
    .filter((part) => part !== '').join('&');
}

/** Calls tools that are being made, for the person who makes them. */

import { createHttpTool, type HttpToolDefinition, invokeTool, prepareCall } from '../../../src/tools/index.ts';
import {
  createRedactor,
  type Egress,
  localPrincipal,
  PinnaceError,
  type Sandbox,
  type Secret,
  type SecretSource,
  type Storage,
  type Tool,
} from '../../../src/index.ts';
import { parse } from '../../../src/base/parse.ts';
import { readText } from '../../../src/base/read-text.ts';
import { ToolDefinition } from '../../../src/base/schema.ts';
import { requireDestination } from '../../../src/base/origins.ts';
import { createCodeTool } from '../../../src/tools/implement.ts';
import { answer } from '../../control/answer.ts';
import type { ToolTrial, TrialControl } from '../../control/trial-control.ts';
import { previewRequest } from './request-preview.ts';
import { reviewOf } from './review.ts';
import { auditTrial } from './trial-audit.ts';

/** What trials work with. */
export interface TrialOptions {
  readonly egress: Egress;
  readonly sandbox: Sandbox;
  readonly secrets: SecretSource;
  /** The storage of the audit. */
  readonly storage: Storage;
}

/** Who calls, in the audit and to the source of secrets. */
const agentId = 'trial';
/** For a whole call, whatever the definition says. */
const longestMs = 60_000;
/** The longest beginning of an answer that is shown, in UTF-16 code units. */
const maxShown = 16_384;

/** Creates the control. */
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
  const audited = auditTrial(tool, { storage: options.storage, agentId });
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

/** The structured answer of one run: the instructions for the model, and the parsing of its answer. */

import type { OutputSpec } from '../base/model-settings.ts';
import { PinnaceError } from '../base/errors.ts';
import { parseRepairedJson } from '../base/json.ts';
import type { Report } from '../events/report.ts';
import type { Issue } from '../base/parse.ts';
import { asMeant } from '../tools/as-meant.ts';
import { compileJsonSchema } from '../tools/json-schema/json-schema.ts';
import type { OutputReading, RunOutput } from './run-context.ts';
import { jsonCandidates } from './read-output.ts';

/** What the answer must be. */
interface RunOutputOptions {
  readonly spec: OutputSpec;
  /** Checks what a JSON Schema cannot say. */
  readonly check: ((data: unknown) => Promise<readonly Issue[]>) | undefined;
  readonly runId: string;
  readonly report: Report;
}

/** Creates the structured answer. */
export function createRunOutput({ spec, check, runId, report }: RunOutputOptions): RunOutput {
  const { schema, name, description } = spec;
  const { inTurns } = compileJsonSchema(schema);
  return {
    isRepaired: false,
    responseFormat: {
      type: 'json',
      schema,
      ...(name !== undefined && { name }),
      ...(description !== undefined && { description }),
    },
    async read(text): Promise<OutputReading> {
      let wrong: OutputReading | undefined;
      let unread: OutputReading | undefined;
      let meant: Extract<OutputReading, { readonly ok: true }> | undefined;
      for (const candidate of jsonCandidates(text)) {
        const json = parsed(candidate);
        const issues = json.ok ? await inTurns(json.data) : json.issues;
        if (json.ok && issues.length === 0) return await withCheck(json, { check, report });
        if (!json.ok) {
          unread ??= json;
          continue;
        }
        wrong ??= { ok: false, issues };
        const data = meant ? undefined : asMeant(json.data, issues);
        if (data !== undefined && (await inTurns(data)).length === 0) meant = { ok: true, data };
      }
      if (meant) return await withCheck(meant, { check, report });
      return wrong ?? unread ?? notJson('it is empty');
    },
    chunk: (data) => ({ type: 'data-output', id: runId, data }),
    correction: (issues) => ({ role: 'user', content: [{ type: 'text', text: correctionOf(issues) }] }),
  };
}

async function withCheck(
  json: Extract<OutputReading, { readonly ok: true }>,
  { check, report }: Pick<RunOutputOptions, 'check' | 'report'>,
): Promise<OutputReading> {
  try {
    const issues = await check?.(json.data) ?? [];
    return issues.length > 0 ? { ok: false, issues } : json;
  } catch (cause) {
    report(cause, { kind: 'hook', id: 'output' });
    throw new PinnaceError('internal', 'Cannot check the answer by the schema of "output": its code threw an error', {
      cause,
      details: { reason: 'output_check' },
    });
  }
}

function parsed(text: string): OutputReading {
  try {
    return { ok: true, data: parseRepairedJson(text) };
  } catch (error) {
    if (!(error instanceof PinnaceError)) throw error;
    return notJson(error.message.replace(/^[^:]*: /, ''));
  }
}

function notJson(why: string): OutputReading {
  return { ok: false, issues: [{ path: '', message: `must be JSON: ${why}` }] };
}

/** The maximum number of issues that the model receives at once. */
const mostIssues = 20;

function correctionOf(issues: readonly Issue[]): string {
  const lines = issues.slice(0, mostIssues).map(({ path, message }) =>
    `- ${path === '' ? 'the value' : path}: ${message}`
  );
  return [
    'Your answer does not fit the JSON Schema of the answer:',
    ...lines,
    'Answer again, with one JSON value that fits, and with nothing else.',
  ].join('\n');
}

/** Makes a tool of an HTTP request described as data: its origin is fixed, and the input fills in only what the template names. */

import { isRecord } from '../../base/is-record.ts';
import type * as v from 'valibot';
import { PinnaceError } from '../../base/errors.ts';
import { parse } from '../../base/parse.ts';
import type { Egress } from '../../contracts/egress.ts';
import { ToolDefinition } from '../../base/schema.ts';
import { type HttpToolOutput, shapeAnswer } from './answer.ts';
import { buildRequest } from './request.ts';
import {
  HttpToolConfig,
  type HttpToolConfigInput,
  isIdempotent,
  isReadOnly,
  needsApproval,
  secretNames,
} from './config.ts';
import { checkBy } from '../json-schema/json-schema.ts';
import { withinRequest } from './request-span.ts';
import { type RetryOptions, withRetries } from '../retry.ts';
import type { TemplateValues } from './template.ts';
import type { Tool, ToolContext } from '../tool.ts';

/** The stored definition of a tool of type `http`. */
export type HttpToolDefinition =
  & Omit<v.InferInput<typeof ToolDefinition>, 'name' | 'type' | 'config'>
  & { readonly name?: string; readonly type?: 'http'; readonly config: HttpToolConfigInput };

/** What the tool works with. */
export interface HttpToolOptions extends Pick<RetryOptions, 'random' | 'wait'> {
  readonly egress: Egress;
}

/**
 * Creates the tool. Whether a call needs an approval is decided elsewhere: see `needsApproval`.
 *
 * @throws PinnaceError `invalid_argument` for a definition, a schema or a template that is none, and for a template that uses a
 * secret which the definition does not list.
 */
export function createHttpTool(definition: HttpToolDefinition, options: HttpToolOptions): Tool {
  const what = `the definition of tool "${definition.id}"`;
  const parsed = parse(ToolDefinition, { name: definition.id, type: 'http', ...definition }, { what });
  const config = parse(HttpToolConfig, definition.config, { what: `the template of tool "${definition.id}"` });
  checkSecrets(parsed, config);
  const check = checkBy(parsed.paramsSchema);
  return {
    definition: withPolicy(parsed, config),
    secretOrigin: new URL(config.origin).origin,
    describe: () => `${config.method} ${config.origin}${config.path}`,
    check: (value) =>
      isRecord(value) ? check(value) : { ok: false, issues: [{ path: '', message: 'must be an object' }] },
    // `check` has let nothing but objects through, and invokeTool calls nothing that was not checked.
    execute: async (input, context) =>
      await callHttp(config, input as TemplateValues['input'], { ...options, ...context }),
  };
}

/** The method decides what a call may do, whatever else the definition says. */
function withPolicy(definition: ToolDefinition, config: HttpToolConfig): ToolDefinition {
  const approval = needsApproval(config) ? 'always' : definition.approval ?? 'never';
  return { ...definition, approval, annotations: { ...definition.annotations, readOnlyHint: isReadOnly(config) } };
}

function checkSecrets({ id, secrets }: ToolDefinition, config: HttpToolConfig): void {
  const missing = secretNames(config).find((name) => !secrets.some((secret) => secret.id === name));
  if (missing === undefined) return;
  throw new PinnaceError(
    'invalid_argument',
    `Cannot define tool "${id}": its template uses the secret "${missing}", which its "secrets" must list`,
    { details: { reason: 'secret_not_listed' } },
  );
}

type HttpCallOptions =
  & HttpToolOptions
  & Pick<ToolContext, 'signal' | 'secrets' | 'redact' | 'span' | 'principal' | 'report'>;

async function callHttp(
  config: HttpToolConfig,
  input: TemplateValues['input'],
  { egress, signal, secrets, redact, span, report, principal: { tenant }, ...clock }: HttpCallOptions,
): Promise<HttpToolOutput> {
  const { method, origin, redirectOrigins, maxBytes, timeoutMs, retries } = config;
  const circuit = `${tenant} ${method} ${config.path}`; // one tenant's bad key or quota is no other's failure
  const terms = { origins: [origin, ...redirectOrigins], maxBytes, timeoutMs, signal, circuit };
  const send = async (): Promise<HttpToolOutput> => {
    const { request, ...secretParts } = buildRequest(config, { input, secrets });
    return await withinRequest(span, { origin, method }, async (trace) => {
      const answer = await egress.fetch(request, { ...terms, ...secretParts, ...trace.options });
      trace.note(answer);
      return await shapeAnswer(answer, config, { redact });
    });
  };
  if (isIdempotent(config)) {
    return await withRetries(send, { ...clock, retries, signal, ...(report && { onRetry: report }) });
  }
  try {
    return await send();
  } catch (error) {
    throw withDoubt(error);
  }
}

/** A request that changes something and whose answer is lost may have changed it: to try again is not for a machine. */
function withDoubt(error: unknown): unknown {
  if (!(error instanceof PinnaceError)) return error;
  const { code, message, details } = error;
  const isLost = code === 'deadline_exceeded' || details?.['reason'] === 'unreachable';
  const isServersFault = code === 'unavailable' && details?.['reason'] === 'http_status';
  if (!isLost && !isServersFault) return error;
  return new PinnaceError('outcome_unknown', `${message}; whether the request had its effect is not known`, {
    cause: error,
    details: { reason: 'answer_lost' },
  });
}

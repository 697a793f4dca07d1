/** Makes the request of an HTTP tool. */

import { narrowEgress } from '../../base/egress-list.ts';
import { PinnaceError } from '../../base/errors.ts';
import type { Egress } from '../../contracts/egress.ts';
import { type HttpToolOutput, shapeAnswer } from './answer.ts';
import { type HttpToolConfig, isIdempotent } from './config.ts';
import { buildRequest } from './request.ts';
import { withinRequest } from './request-span.ts';
import { type RetryOptions, withRetries } from '../retry.ts';
import type { TemplateValues } from './template.ts';
import type { ToolContext } from '../tool.ts';

/** What the tool works with. */
export interface HttpToolOptions extends Pick<RetryOptions, 'random' | 'wait'> {
  /** Sends the requests. */
  readonly egress: Egress;
}

type HttpCallOptions =
  & HttpToolOptions
  & Pick<ToolContext, 'signal' | 'secrets' | 'redact' | 'span' | 'principal' | 'report' | 'origins'>;

/** Calls the tool. */
export async function callHttp(
  config: HttpToolConfig,
  input: TemplateValues['input'],
  { egress, origins: within, signal, secrets, redact, span, report, principal: { tenant }, ...clock }: HttpCallOptions,
): Promise<HttpToolOutput> {
  const { method, origin, redirectOrigins, maxBytes, timeoutMs, retries } = config;
  const circuit = `${tenant} ${method} ${config.path}`; // one tenant's bad key or quota is no other's failure
  const origins = narrowEgress([origin, ...redirectOrigins], within) ?? [];
  const terms = { origins, maxBytes, timeoutMs, signal, circuit };
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

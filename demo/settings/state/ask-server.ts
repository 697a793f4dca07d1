/** Requests of the settings to a model server: its models, and whether it answers. */

import { asRecord } from '../../../src/base/is-record.ts';
import { providerText } from '../../../adapters/models/provider-text.ts';
import { pageFetch } from './page-fetch.ts';
import { hostOf } from '../../endpoint/state/endpoint.ts';

/** Where a server is, and the key for it. */
export interface ServerAccess {
  readonly baseUrl: string;
  readonly apiKey?: string;
}

/** What was asked for, or why not, in a person's words. */
export type ServerReply<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly text: string };

interface AskOptions {
  readonly fetch?: typeof fetch;
  readonly timeoutMs?: number;
}

/** Returns the names of the server's models, sorted. */
export async function listModels(
  access: ServerAccess,
  { fetch: send = pageFetch, timeoutMs = 15_000 }: AskOptions = {},
): Promise<ServerReply<readonly string[]>> {
  return await asked(access, async () => {
    const response = await send(`${access.baseUrl}/models`, {
      headers: headersOf(access),
      signal: AbortSignal.timeout(timeoutMs),
    });
    if (!response.ok) return await refusal(access, response);
    const models = readModels(await response.json());
    return models ? { ok: true, value: models } : { ok: false, text: notAModelServer };
  });
}

/** Has the model say one word, as a run would, and returns after how many milliseconds the answer began. */
export async function testModel(
  access: ServerAccess & { readonly model: string },
  { fetch: send = pageFetch, timeoutMs = 30_000 }: AskOptions = {},
): Promise<ServerReply<number>> {
  const body = { model: access.model, stream: true, messages: [{ role: 'user', content: 'Say OK.' }] };
  const startedAt = performance.now();
  return await asked(access, async () => {
    const response = await send(`${access.baseUrl}/chat/completions`, {
      method: 'POST',
      headers: { ...headersOf(access), 'content-type': 'application/json' },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(timeoutMs),
    });
    if (!response.ok) return await refusal(access, response, body);
    const reader = response.body?.getReader();
    const first = new TextDecoder().decode((await reader?.read())?.value);
    await reader?.cancel();
    if (!/^(data|event|id|:)/m.test(first)) return { ok: false, text: notAModelServer };
    const [, said] = /^data: *(\{.*)/m.exec(first) ?? [];
    const text = said?.includes('"error"') ? providerText({ responseBody: said, requestBodyValues: body }) : undefined;
    if (text !== undefined) return { ok: false, text: `${hostOf(access.baseUrl)} answered: “${text}”` };
    return { ok: true, value: performance.now() - startedAt };
  });
}

/** The ids in an answer of `/models`; `undefined`: it is another document. */
export function readModels(answer: unknown): readonly string[] | undefined {
  const { data } = asRecord(answer);
  if (!Array.isArray(data)) return undefined;
  const ids = data.map((one) => asRecord(one)['id']).filter((id) => typeof id === 'string');
  return ids.toSorted((a, b) => a.localeCompare(b));
}

const notAModelServer =
  'Unexpected response from the server. Check that the address is the one of an OpenAI-compatible API; it often ends with “/v1”.';

function headersOf({ apiKey }: ServerAccess): Record<string, string> {
  return apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` };
}

async function asked<T>({ baseUrl }: ServerAccess, work: () => Promise<ServerReply<T>>): Promise<ServerReply<T>> {
  try {
    return await work();
  } catch (error) {
    const isLate = error instanceof Error && error.name === 'TimeoutError';
    if (isLate) return { ok: false, text: `${hostOf(baseUrl)} did not answer in time.` };
    if (error instanceof SyntaxError) return { ok: false, text: notAModelServer };
    return {
      ok: false,
      text:
        `${hostOf(baseUrl)} cannot be reached from this page: the address is wrong, the server does not run, or it ` +
        'does not allow web pages (CORS). Some servers also answer a wrong key this way.',
    };
  }
}

const hints: Readonly<Record<number, string>> = {
  401: 'Check the key.',
  402: 'The account has no credit.',
  403: 'Check the key and what it may use.',
  404: 'Check the address and the name of the model.',
  429: 'The provider accepts no more requests for now.',
};

/** Returns the provider's own words, without keys. */
export async function refusal(
  { baseUrl }: ServerAccess,
  response: Response,
  requestBodyValues?: unknown,
): Promise<{ readonly ok: false; readonly text: string }> {
  const said = providerText({ responseBody: await response.text(), requestBodyValues });
  const words = said === undefined ? '' : `: “${said.replace(/\.$/, '')}”`;
  return {
    ok: false,
    text: `${hostOf(baseUrl)} answered ${response.status}${words}. ${hints[response.status] ?? ''}`.trim(),
  };
}

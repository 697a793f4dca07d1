/** Runs the AI SDK's loop over an endpoint on this machine. */

import { experimental_streamTextLowMemory as streamText, isStepCount, jsonSchema, type TextStreamPart, tool } from 'ai';
import { inject } from 'vitest';
import { openAiCompatible, type OpenAiCompatibleOptions } from '../../../adapters/models/openai-compatible.ts';

const { faults } = inject('peers');
/** A key that must show nowhere. */
export const secret = 'sk-live-0123456789';

const cities = jsonSchema<{ city: string }>({
  type: 'object',
  properties: { city: { type: 'string' } },
  required: ['city'],
});
const tools = {
  weather: tool({ description: 'Weather in a city', inputSchema: cities, execute: ({ city }) => `Sunny in ${city}` }),
};
type Part = TextStreamPart<typeof tools>;

interface Seen {
  readonly parts: readonly Part[];
  readonly thrown: unknown;
}

/** Runs the AI SDK's loop over the model and gives all that it shows. */
export async function run(
  options: OpenAiCompatibleOptions,
  { prompt = 'Hello', maxRetries = 0, signal, onPart }: {
    prompt?: string;
    maxRetries?: number;
    signal?: AbortSignal;
    onPart?: (part: Part) => void;
  } = {},
): Promise<Seen> {
  const parts: Part[] = [];
  try {
    const { stream } = streamText({
      model: openAiCompatible(options),
      prompt,
      tools,
      maxRetries,
      stopWhen: isStepCount(4),
      onError: () => undefined,
      ...(signal && { abortSignal: signal }),
    });
    const reader = stream.getReader();
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      parts.push(next.value);
      onPart?.(next.value);
    }
    return { parts, thrown: undefined };
  } catch (thrown) {
    return { parts, thrown };
  }
}

export function textOf({ parts }: Seen): string {
  return parts.map((part) => part.type === 'text-delta' ? part.text : '').join('');
}

export function only<T extends Part['type']>({ parts }: Seen, type: T): Extract<Part, { type: T }>[] {
  return parts.filter((part): part is Extract<Part, { type: T }> => part.type === type);
}

export function fault(model: string, scope = 'faults'): OpenAiCompatibleOptions {
  return { baseUrl: `${faults}/${scope}/v1`, model, apiKey: secret };
}

/** What the fault server counted under a scope, once it is at least this much. */
export async function statsOf(scope: string, { requests = 0, disconnects = 0 } = {}): Promise<unknown> {
  const response = await fetch(`${faults}/${scope}/v1/__stats?requests=${requests}&disconnects=${disconnects}`);
  return await response.json();
}

/** A fetch that keeps the headers it is given. */
export function spy(): { seen: Headers[]; fetch: typeof fetch } {
  const seen: Headers[] = [];
  return {
    seen,
    fetch: (input, init) => {
      seen.push(new Headers(init?.headers));
      return fetch(input, init);
    },
  };
}

/** The parts of UI messages that a chat's history consists of, as valibot schemas. What they are, the AI SDK defines. */

import * as v from 'valibot';

const metadata = v.optional(v.record(v.string(), v.record(v.string(), v.unknown())));
const facts = { providerMetadata: metadata };

const TextPart = v.looseObject({ type: v.literal('text'), text: v.string(), ...facts });
const FilePart = v.looseObject({
  type: v.literal('file'),
  mediaType: v.string(),
  url: v.string(),
  filename: v.optional(v.string()),
  ...facts,
});

const fixed = [
  TextPart,
  FilePart,
  v.looseObject({ type: v.literal('reasoning'), text: v.string(), ...facts }),
  v.looseObject({ type: v.literal('reasoning-file'), mediaType: v.string(), url: v.string(), ...facts }),
  v.looseObject({ type: v.literal('custom'), kind: v.string(), ...facts }),
  v.looseObject({ type: v.literal('source-url'), sourceId: v.string(), url: v.string() }),
  v.looseObject({
    type: v.literal('source-document'),
    sourceId: v.string(),
    mediaType: v.string(),
    title: v.string(),
  }),
  v.looseObject({
    type: v.literal('steering-message'),
    id: v.string(),
    parts: v.array(v.variant('type', [TextPart, FilePart])),
  }),
  v.looseObject({ type: v.literal('step-start') }),
] as const;

const FixedPart = v.variant('type', [...fixed]);
export type FixedPart = v.InferOutput<typeof FixedPart>;

const call = {
  toolCallId: v.string(),
  input: v.optional(v.unknown()),
  /** The AI SDK stores an input here that was not valid. */
  rawInput: v.optional(v.unknown()),
  providerExecuted: v.optional(v.boolean()),
  callProviderMetadata: metadata,
  resultProviderMetadata: metadata,
};

/** A tool call that has ended; `toHistory` leaves out every other one. */
const CallPart = v.variant('state', [
  v.looseObject({ type: v.string(), ...call, state: v.literal('output-available'), output: v.optional(v.unknown()) }),
  v.looseObject({ type: v.string(), ...call, state: v.literal('output-error'), errorText: v.string() }),
]);
export type CallPart = v.InferOutput<typeof CallPart> & { readonly toolName: string };

/** A part as the model's history needs it. */
export type HistoryPart =
  | { readonly kind: 'content'; readonly part: FixedPart }
  | { readonly kind: 'call'; readonly part: CallPart }
  | { readonly kind: 'data'; readonly type: string };

/** Reads a part of a client's message; `undefined` for a part that no AI SDK client sends. */
export function readPart(given: unknown): HistoryPart | undefined {
  const type: unknown = typeof given === 'object' && given !== null && 'type' in given ? given.type : undefined;
  if (typeof type !== 'string') return undefined;
  if (type.startsWith('data-')) return { kind: 'data', type };
  if (type !== 'dynamic-tool' && !type.startsWith('tool-')) {
    const part = v.safeParse(FixedPart, given);
    return part.success ? { kind: 'content', part: part.output } : undefined;
  }
  const part = v.safeParse(CallPart, given);
  if (!part.success) return undefined;
  const toolName = type === 'dynamic-tool' ? part.output['toolName'] : type.slice('tool-'.length);
  return typeof toolName === 'string' ? { kind: 'call', part: { ...part.output, toolName } } : undefined;
}

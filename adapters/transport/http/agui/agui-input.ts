/** What clients of AG-UI 1.0 send (`RunAgentInput`, https://docs.ag-ui.com), as far as runs use it. */

import * as v from 'valibot';

const Id = v.pipe(v.string(), v.minLength(1), v.maxLength(256));

const Source = v.looseObject({
  type: v.picklist(['data', 'url', 'file']),
  value: v.string(),
  mimeType: v.optional(v.string()),
});

const Content = v.variant('type', [
  v.looseObject({ type: v.literal('text'), text: v.string() }),
  v.looseObject({ type: v.picklist(['image', 'audio', 'video', 'document']), source: Source }),
], 'must be of the type text, image, audio, video or document');

const Message = v.looseObject({
  id: Id,
  role: v.string(),
  content: v.optional(v.unknown()),
  /** The calls of an answer, which the client has already. */
  toolCalls: v.optional(v.array(v.looseObject({ id: v.string() }))),
});

/** A message of a person. The endpoint has stored all others itself. */
export const AguiUserMessage = v.looseObject({
  id: Id,
  content: v.union([v.string(), v.pipe(v.array(Content), v.minLength(1), v.maxLength(50))]),
});
export type AguiUserMessage = v.InferOutput<typeof AguiUserMessage>;

/** The schema of the body. */
export const AguiInput = v.looseObject({
  /** The chat. */
  threadId: Id,
  /** Names the run for the client. Sending it again never starts a second run. */
  runId: Id,
  messages: v.array(Message),
  /** What the model should know: data, never instructions. */
  context: v.optional(v.pipe(v.array(v.looseObject({ description: v.string(), value: v.string() })), v.maxLength(40))),
  tools: v.optional(v.array(v.looseObject({ name: v.pipe(v.string(), v.maxLength(256)) }))),
  state: v.optional(v.unknown()),
  /** Fields of a run: `limits`, `budget`, `output`. Others are not used. */
  forwardedProps: v.optional(v.unknown()),
  /** Answers to the interrupts of the run before. */
  resume: v.optional(v.pipe(
    v.array(v.looseObject({
      interruptId: v.pipe(v.string(), v.maxLength(1024)),
      status: v.picklist(['resolved', 'cancelled']),
      payload: v.optional(v.unknown()),
    })),
    v.maxLength(64),
  )),
});
export type AguiInput = v.InferOutput<typeof AguiInput>;

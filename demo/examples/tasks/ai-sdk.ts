/** The same tasks with the AI SDK alone. */

import {
  convertToModelMessages,
  createUIMessageStreamResponse,
  generateText,
  isStepCount,
  type LanguageModel,
  type ModelMessage,
  Output,
  streamText,
  tool,
  toUIMessageStream,
  type UIMessage,
} from 'ai';
import { z } from 'zod';

// #region chat-route
export async function chatRoute(model: LanguageModel, request: Request) {
  const { messages } = (await request.json()) as { messages: UIMessage[] };
  const result = streamText({ model, instructions: 'Be brief.', messages: await convertToModelMessages(messages) });
  return createUIMessageStreamResponse({ stream: toUIMessageStream({ stream: result.stream }) });
}
// #endregion

// #region tool
export const weather = tool({
  description: 'Returns the weather of a city',
  inputSchema: z.object({ city: z.string() }),
  execute: ({ city }) => ({ city, degrees: 14 }),
});
// #endregion

// #region approval
export const sendMail = tool({
  description: 'Sends a mail',
  inputSchema: z.object({ to: z.string() }),
  execute: ({ to }) => ({ sentTo: to }),
});
export const toolApproval = { sendMail: 'user-approval' as const };
// #endregion

// #region fallback
export async function withFallback(models: LanguageModel[], messages: ModelMessage[]) {
  for (const [at, model] of models.entries()) {
    try {
      return await generateText({ model, messages });
    } catch (error) {
      if (at === models.length - 1) throw error;
    }
  }
  throw new Error('There is no model');
}
// #endregion

// #region sub-agent
export const askLibrarian = (model: LanguageModel) =>
  tool({
    description: 'Asks the librarian',
    inputSchema: z.object({ task: z.string() }),
    execute: async ({ task }, { abortSignal }) => {
      const { text } = await generateText({ model, prompt: task, ...(abortSignal && { abortSignal }) });
      return text;
    },
  });
// #endregion

// #region structured-output
export async function cityOf(model: LanguageModel, messages: ModelMessage[]) {
  const schema = z.object({ city: z.string() });
  return (await generateText({ model, messages, output: Output.object({ schema }) })).output;
}
// #endregion

// #region image
export async function describe(model: LanguageModel, data: string) {
  const content = [{ type: 'text' as const, text: 'What is this?' }, {
    type: 'file' as const,
    mediaType: 'image/png',
    data,
  }];
  return await generateText({ model, messages: [{ role: 'user', content }] });
}
// #endregion

// #region budget
export async function runWithin(model: LanguageModel, messages: ModelMessage[]) {
  return await generateText({
    model,
    messages,
    stopWhen: [
      isStepCount(20),
      ({ steps }) => steps.reduce((sum, { usage }) => sum + (usage.totalTokens ?? 0), 0) > 50_000,
    ],
  });
}
// #endregion

// #region threads
export async function continueChat(model: LanguageModel, chats: Map<string, UIMessage[]>, message: UIMessage) {
  const originalMessages = [...(chats.get('trip') ?? []), message];
  const result = streamText({ model, messages: await convertToModelMessages(originalMessages) });
  const onEnd = ({ messages }: { messages: UIMessage[] }) => void chats.set('trip', messages);
  const stream = toUIMessageStream({ stream: result.stream, originalMessages, onEnd });
  await createUIMessageStreamResponse({ stream }).text();
  return [...chats.keys()];
}
// #endregion

type Runs = Map<string, Promise<unknown>>;

// #region retry
export async function runOnce(model: LanguageModel, runs: Runs, messages: ModelMessage[], key: string) {
  const run = runs.get(key) ?? generateText({ model, messages });
  runs.set(key, run);
  return await run;
}
// #endregion

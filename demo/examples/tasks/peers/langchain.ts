/** The same tasks with LangChain and LangGraph. */

import { toBaseMessages, toUIMessageStream } from '@ai-sdk/langchain';
import type { BaseChatModel } from '@langchain/core/language_models/chat_models';
import { MemorySaver } from '@langchain/langgraph';
import { createUIMessageStreamResponse } from 'ai';
import {
  AIMessage,
  createAgent,
  createMiddleware,
  humanInTheLoopMiddleware,
  HumanMessage,
  modelFallbackMiddleware,
  tool,
} from 'langchain';
import { z } from 'zod';

// #region chat-route
export async function chatRoute(model: BaseChatModel, request: Request) {
  const { messages } = await request.json();
  const agent = createAgent({ model, tools: [], systemPrompt: 'Be brief.' });
  const input = { messages: await toBaseMessages(messages) };
  const stream = await agent.stream(input, { streamMode: ['values', 'messages'] });
  return createUIMessageStreamResponse({ stream: toUIMessageStream(stream) });
}
// #endregion

// #region tool
export const weather = tool(({ city }) => JSON.stringify({ city, degrees: 14 }), {
  name: 'weather',
  description: 'Returns the weather of a city',
  schema: z.object({ city: z.string() }),
});
// #endregion

// #region approval
export const sendMail = tool(({ to }) => JSON.stringify({ sentTo: to }), {
  name: 'send_mail',
  description: 'Sends a mail',
  schema: z.object({ to: z.string() }),
});
export const approvals = humanInTheLoopMiddleware({ interruptOn: { send_mail: true } });
export const checkpointer = new MemorySaver();
// #endregion

// #region fallback
export const helper = (main: BaseChatModel, other: BaseChatModel) =>
  createAgent({
    model: main,
    tools: [weather, sendMail],
    middleware: [modelFallbackMiddleware(other), approvals],
    checkpointer,
  });
// #endregion

// #region sub-agent
export function askLibrarian(model: BaseChatModel) {
  const librarian = createAgent({ model, tools: [], systemPrompt: 'Find it.' });
  return tool(async ({ task }) => {
    const { messages } = await librarian.invoke({ messages: [new HumanMessage(task)] });
    return messages.at(-1)?.text ?? '';
  }, { name: 'ask_librarian', description: 'Asks the librarian', schema: z.object({ task: z.string() }) });
}
// #endregion

// #region structured-output
export async function cityOf(model: BaseChatModel, question: string) {
  const responseFormat = z.object({ city: z.string() });
  const agent = createAgent({ model, tools: [], responseFormat });
  return (await agent.invoke({ messages: [new HumanMessage(question)] })).structuredResponse;
}
// #endregion

// #region image
export async function describe(model: BaseChatModel, data: string) {
  const content = [{ type: 'text' as const, text: 'What is this?' }, {
    type: 'image' as const,
    mimeType: 'image/png',
    data,
  }];
  return await createAgent({ model, tools: [] }).invoke({ messages: [new HumanMessage({ contentBlocks: content })] });
}
// #endregion

// #region budget
const budget = createMiddleware({
  name: 'Budget',
  beforeModel: {
    canJumpTo: ['end'],
    hook: ({ messages }) => {
      const answers = messages.filter((message) => AIMessage.isInstance(message));
      const used = answers.reduce((sum, { usage_metadata: usage }) => sum + (usage?.total_tokens ?? 0), 0);
      return used > 50_000 ? { jumpTo: 'end' as const } : undefined;
    },
  },
});
export async function runWithin(model: BaseChatModel, question: string) {
  const agent = createAgent({ model, tools: [weather], middleware: [budget] });
  return await agent.invoke({ messages: [new HumanMessage(question)] });
}
// #endregion

// #region threads
export async function continueChat(model: BaseChatModel, saver: MemorySaver, message: string) {
  const agent = createAgent({ model, tools: [], checkpointer: saver });
  await agent.invoke({ messages: [new HumanMessage(message)] }, { configurable: { thread_id: 'trip' } });
  const threads = new Set<string>();
  for await (const { config } of saver.list({})) threads.add(config.configurable?.['thread_id']);
  return [...threads];
}
// #endregion

type Helper = ReturnType<typeof helper>;
type Runs = Map<string, Promise<unknown>>;

// #region retry
export async function runOnce(agent: Helper, runs: Runs, question: string, key: string) {
  const input = { messages: [new HumanMessage(question)] };
  const run = runs.get(key) ?? agent.invoke(input, { configurable: { thread_id: key } });
  runs.set(key, run);
  return await run;
}
// #endregion

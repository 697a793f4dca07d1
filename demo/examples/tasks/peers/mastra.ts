/** The same tasks with Mastra. Models are those of the AI SDK. */

import { handleChatStream } from '@mastra/ai-sdk';
import { Mastra } from '@mastra/core';
import { Agent } from '@mastra/core/agent';
import type { MastraModelConfig } from '@mastra/core/llm';
import { createTool } from '@mastra/core/tools';
import { LibSQLStore } from '@mastra/libsql';
import { Memory } from '@mastra/memory';
import { createUIMessageStreamResponse } from 'ai';
import { z } from 'zod';

// #region chat-route
export async function chatRoute(model: MastraModelConfig, request: Request) {
  const helper = new Agent({ id: 'helper', name: 'Helper', instructions: 'Be brief.', model });
  const mastra = new Mastra({ agents: { helper }, logger: false });
  const stream = await handleChatStream({ mastra, agentId: 'helper', params: await request.json(), version: 'v7' });
  return createUIMessageStreamResponse({ stream });
}
// #endregion

// #region tool
export const weather = createTool({
  id: 'weather',
  description: 'Returns the weather of a city',
  inputSchema: z.object({ city: z.string() }),
  execute: async ({ city }) => ({ city, degrees: 14 }),
});
// #endregion

// #region approval
export const sendMail = createTool({
  id: 'send_mail',
  description: 'Sends a mail',
  inputSchema: z.object({ to: z.string() }),
  requireApproval: true,
  execute: async ({ to }) => ({ sentTo: to }),
});
// #endregion

// #region fallback
export const helper = (main: MastraModelConfig, other: MastraModelConfig) =>
  new Agent({
    id: 'helper',
    name: 'Helper',
    instructions: 'Be brief.',
    model: [{ model: main, maxRetries: 0 }, { model: other }],
    tools: { weather, sendMail },
  });
// #endregion

// #region sub-agent
export function withLibrarian(model: MastraModelConfig) {
  const librarian = new Agent({
    id: 'librarian',
    name: 'Librarian',
    description: 'Finds books',
    instructions: 'Find it.',
    model,
  });
  return new Agent({ id: 'helper', name: 'Helper', instructions: 'Be brief.', model, agents: { librarian } });
}
// #endregion

// #region structured-output
export async function cityOf(agent: Agent, question: string) {
  const schema = z.object({ city: z.string() });
  return (await agent.generate(question, { structuredOutput: { schema } })).object;
}
// #endregion

// #region image
export async function describe(agent: Agent, image: string) {
  const content = [{ type: 'text' as const, text: 'What is this?' }, {
    type: 'image' as const,
    mediaType: 'image/png',
    image,
  }];
  return await agent.generate([{ role: 'user', content }]);
}
// #endregion

// #region budget
export async function runWithin(agent: Agent, question: string) {
  return await agent.generate(question, {
    stopWhen: ({ steps }: { steps: { usage?: { totalTokens?: number } }[] }) =>
      steps.reduce((sum, { usage }) => sum + (usage?.totalTokens ?? 0), 0) > 50_000,
  });
}
// #endregion

// #region threads
export async function continueChat(model: MastraModelConfig, url: string, message: string) {
  const storage = new LibSQLStore({ id: 'chats', url });
  const memory = new Memory({ storage });
  const agent = new Agent({ id: 'helper', name: 'Helper', instructions: 'Be brief.', model, memory });
  await agent.generate(message, { memory: { thread: 'trip', resource: 'ada' } });
  return (await memory.listThreads({ filter: { resourceId: 'ada' } })).threads;
}
// #endregion

type Runs = Map<string, Promise<unknown>>;

// #region retry
export async function runOnce(agent: Agent, runs: Runs, question: string, key: string) {
  const run = runs.get(key) ?? agent.generate(question);
  runs.set(key, run);
  return await run;
}
// #endregion

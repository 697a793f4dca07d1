/** The same tasks with the OpenAI Agents SDK. */

import { Agent, MemorySession, type Model, run, tool, user } from '@openai/agents';
import { createAiSdkUiMessageStreamResponse } from '@openai/agents-extensions/ai-sdk-ui';
import type { UIMessage } from 'ai';
import { z } from 'zod';

// #region chat-route
export async function chatRoute(model: Model, request: Request) {
  const { messages } = (await request.json()) as { messages: UIMessage[] };
  const agent = new Agent({ name: 'Helper', instructions: 'Be brief.', model });
  const input = messages.map(({ role, parts }) => {
    const text = parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
    return role === 'assistant'
      ? { role, status: 'completed' as const, content: [{ type: 'output_text' as const, text }] }
      : user(text);
  });
  return createAiSdkUiMessageStreamResponse(await run(agent, input, { stream: true }));
}
// #endregion

// #region tool
export const weather = tool({
  name: 'weather',
  description: 'Returns the weather of a city',
  parameters: z.object({ city: z.string() }),
  execute: ({ city }) => ({ city, degrees: 14 }),
});
// #endregion

// #region approval
export const sendMail = tool({
  name: 'send_mail',
  description: 'Sends a mail',
  parameters: z.object({ to: z.string() }),
  needsApproval: true,
  execute: ({ to }) => ({ sentTo: to }),
});
// #endregion

// #region fallback
export async function withFallback(models: readonly Model[], question: string) {
  for (const [at, model] of models.entries()) {
    try {
      return await run(new Agent({ name: 'Helper', model, tools: [weather, sendMail] }), question);
    } catch (error) {
      if (at === models.length - 1) throw error;
    }
  }
  throw new Error('There is no model');
}
// #endregion

// #region sub-agent
export const askLibrarian = (model: Model) =>
  new Agent({ name: 'Librarian', instructions: 'Find it.', model }).asTool({
    toolName: 'ask_librarian',
    toolDescription: 'Asks the librarian',
  });
// #endregion

// #region structured-output
export async function cityOf(model: Model, question: string) {
  const outputType = z.object({ city: z.string() });
  return (await run(new Agent({ name: 'Helper', model, outputType }), question)).finalOutput;
}
// #endregion

// #region image
export async function describe(model: Model, image: string) {
  const content = [{ type: 'input_text' as const, text: 'What is this?' }, { type: 'input_image' as const, image }];
  return await run(new Agent({ name: 'Helper', model }), [{ role: 'user', content }]);
}
// #endregion

// #region budget
export async function runWithin(model: Model, question: string) {
  const agent = new Agent({ name: 'Helper', model, tools: [weather] });
  agent.on('agent_tool_end', ({ usage }) => {
    if (usage.totalTokens > 50_000) stop.abort(new Error('The budget is spent'));
  });
  const stop = new AbortController();
  return await run(agent, question, { signal: stop.signal });
}
// #endregion

// #region threads
export async function continueChat(model: Model, sessions: Map<string, MemorySession>, message: string) {
  const session = sessions.get('trip') ?? new MemorySession({ sessionId: 'trip' });
  sessions.set('trip', session);
  await run(new Agent({ name: 'Helper', model }), message, { session });
  return [...sessions.keys()];
}
// #endregion

type Runs = Map<string, Promise<unknown>>;

// #region retry
export async function runOnce(agent: Agent, runs: Runs, question: string, key: string) {
  const known = runs.get(key) ?? run(agent, question);
  runs.set(key, known);
  return await known;
}
// #endregion

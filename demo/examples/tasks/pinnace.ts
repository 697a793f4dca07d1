/** Ten tasks with Pinnace. Each region is what a developer writes, without imports. */

import {
  type AgentInput,
  createRuntime,
  defineTool,
  type LanguageModel,
  localPrincipal,
  readOutput,
  type ToolDefinitionInput,
  type UIMessage,
} from 'pinnace';
import { staticCatalog } from 'pinnace/catalog/static';
import { memoryStorage } from 'pinnace/storage/memory';
import { developmentAuthenticator } from 'pinnace/transport/development-authenticator';
import { createHandler } from 'pinnace/transport/http';
import { z } from 'zod';

const me = localPrincipal();

// #region chat-route
export function chatRoute(model: LanguageModel, token: string) {
  const catalog = staticCatalog({
    agents: [{ id: 'helper', name: 'Helper', providerId: 'main', instructions: 'Be brief.' }],
    providers: [{ id: 'main', kind: 'custom' }],
  });
  const runtime = createRuntime({ catalog, models: { model: () => model }, storage: memoryStorage() });
  return createHandler(runtime, { authenticator: developmentAuthenticator({ token }) });
}
// #endregion

// #region tool
export const weather = defineTool({
  id: 'weather',
  description: 'Returns the weather of a city',
  input: z.object({ city: z.string() }),
  execute: ({ city }) => ({ city, degrees: 14 }),
});
// #endregion

// #region approval
export const sendMail = defineTool({
  id: 'send_mail',
  description: 'Sends a mail',
  input: z.object({ to: z.string() }),
  approval: 'always',
  execute: ({ to }) => ({ sentTo: to }),
});
// #endregion

// #region fallback
export const helper: AgentInput = {
  id: 'helper',
  name: 'Helper',
  providerId: 'main',
  entryTools: ['*'],
  fallbacks: [{ providerId: 'other' }],
};
// #endregion

// #region sub-agent
export const askLibrarian: ToolDefinitionInput = {
  id: 'ask_librarian',
  name: 'ask_librarian',
  type: 'agent',
  description: 'Asks the librarian',
  paramsSchema: { type: 'object' },
  config: { agentId: 'librarian' },
};
// #endregion

/** The runtime of the tasks below. */
export function compose(main: LanguageModel, other: LanguageModel) {
  return createRuntime({
    catalog: staticCatalog({
      agents: [helper, { id: 'librarian', name: 'Librarian', providerId: 'other' }],
      providers: [{ id: 'main', kind: 'custom' }, { id: 'other', kind: 'custom' }],
      tools: [askLibrarian],
    }),
    models: { model: ({ id }: { id: string }) => (id === 'main' ? main : other) },
    storage: memoryStorage(),
    tools: [weather, sendMail],
    limits: { modelRetries: 0 },
  });
}
type Runtime = ReturnType<typeof compose>;

// #region structured-output
export async function cityOf(runtime: Runtime, messages: UIMessage[]) {
  const schema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
  return await readOutput(
    await runtime.run({ agentId: 'helper', chat: { id: 'c1', messages }, output: { schema } }, me),
  );
}
// #endregion

// #region image
export async function describe(runtime: Runtime, url: string) {
  const parts = [{ type: 'text' as const, text: 'What is this?' }, {
    type: 'file' as const,
    mediaType: 'image/png',
    url,
  }];
  return await runtime.run(
    { agentId: 'helper', chat: { id: 'c2', messages: [{ id: 'm1', role: 'user', parts }] } },
    me,
  );
}
// #endregion

// #region budget
export async function runWithin(runtime: Runtime, messages: UIMessage[]) {
  return await runtime.run({ agentId: 'helper', chat: { id: 'c3', messages }, budget: { tokens: 50_000 } }, me);
}
// #endregion

// #region threads
export async function continueChat(runtime: Runtime, message: UIMessage) {
  await runtime.run({ agentId: 'helper', chat: { id: 'trip', store: true, messages: [message] } }, me);
  return (await runtime.chats.list(me)).items;
}
// #endregion

// #region retry
export async function runOnce(runtime: Runtime, messages: UIMessage[], idempotencyKey: string) {
  return await runtime.run({ agentId: 'helper', chat: { id: 'c4', messages } }, me, { idempotencyKey });
}
// #endregion

/** What MCP servers need of people: sign-ins, and what a refused call asks for. Loaded when a server first needs it. */

import type { Principal } from '../base/principal.ts';
import type { McpServer, SecretRef } from '../base/schema.ts';
import type { Secret } from '../base/secret.ts';
import type { Catalog } from '../contracts/catalog.ts';
import type {
  AskWhileOpen,
  Interaction,
  McpAnswer,
  McpInputRequired,
  McpInputResponses,
} from '../contracts/mcp/answers.ts';
import type { McpAuthorization } from '../contracts/mcp/mcp-connector.ts';
import type { McpSignIn, McpSignIns } from '../contracts/mcp/sign-in.ts';
import type { SecretSource } from '../contracts/egress.ts';
import type { Storage } from '../contracts/storage.ts';
import type { Emit } from '../events/events.ts';
import { type Report, unreported } from '../events/report.ts';
import {
  type AskingTool,
  askOpenQuestion,
  countStepUp,
  type QuestionContext,
  questionInteraction,
  storeAnswers,
  takeAnswers,
} from './questions.ts';
import { noSignIn, scopeRefused } from './sign-in-failures.ts';
import { authorizationFor, createSignIns, wantedSignIn } from './sign-in-flow.ts';
import { type LookAtAuth, lookAtAuth, type LookedAtAuth } from './sign-in-grants.ts';
import { createSeals, readContinuation, type SignInContext, signInInteraction } from './sign-in-records.ts';

export interface McpPeopleOptions {
  /** Where the records come from, and where approvals go. */
  readonly catalog: Catalog;
  readonly storage: Storage;
  readonly secrets: SecretSource | undefined;
  /** Without it, sign-ins are not possible. */
  readonly signIn: McpSignIn | undefined;
  readonly sealKey: SecretRef;
  readonly emit: Emit;
  readonly report?: Report;
  readonly now: () => number;
}

interface PeopleCall {
  readonly server: McpServer;
  readonly principal: Principal;
  readonly signal: AbortSignal;
  readonly protect: (token: Secret) => void;
  readonly interruptionId: string | undefined;
}

export interface McpPeople {
  readonly signIns: McpSignIns;
  authorization(call: Omit<PeopleCall, 'interruptionId'>): McpAuthorization;
  /** Returns what a person must do before the call can be made again. Rejects for what a person has done in vain. */
  interactionFor(error: unknown, call: PeopleCall): Promise<Interaction | undefined>;
  /** Returns the interruption by which a person answers the server's questions. */
  ask(
    tool: AskingTool,
    required: McpInputRequired,
    options: { readonly round: number } & Signaled,
  ): Promise<Interaction>;
  /** Returns the answers with which a call goes on; `undefined` when the interruption was about something else. */
  answersFor(
    interruptionId: string,
    tool: AskingTool,
    options: Signaled,
  ): Promise<{ readonly responses: McpInputResponses; readonly round: number } | undefined>;
  /** Asks while the call is open. Resolves with `cancel` when no answer arrives in time. */
  askWhileOpen(
    tool: AskingTool,
    params: unknown,
    options: Signaled & { readonly ask: AskWhileOpen },
  ): Promise<McpAnswer>;
  answer(answering: Parameters<typeof storeAnswers>[0], options: Signaled): Promise<void>;
  look(options: Omit<LookAtAuth, 'context' | 'report'> & { readonly signal: AbortSignal }): Promise<LookedAtAuth>;
}

interface Signaled {
  readonly signal: AbortSignal;
}

export function createMcpPeople(options: McpPeopleOptions): McpPeople {
  const { storage, secrets, signIn, sealKey, emit, report = unreported, now } = options;
  const contextOf = (signal: AbortSignal): SignInContext => {
    if (!signIn) throw noSignIn();
    return { oauth: signIn, secrets, ...asking(signal), signal };
  };
  const asking = (signal: AbortSignal): QuestionContext => {
    return { storage, seals: (tenant) => createSeals({ secrets, sealKey, tenant, signal }), now };
  };
  return {
    signIns: createSignIns({ ...options, contextOf }),
    authorization: ({ signal, ...of }) => authorizationFor(of, contextOf(signal), emit),
    async interactionFor(error, { server, principal, interruptionId }) {
      const wanted = wantedSignIn(error);
      if (!wanted) return undefined;
      const earlier = interruptionId === undefined ? undefined : await readContinuation(storage, interruptionId);
      if (wanted.isStepUp && earlier?.kind === 'sign_in' && earlier.isStepUp) throw scopeRefused(); // one for each call
      if (wanted.isStepUp) await countStepUp(server.id, principal, { storage, now });
      return signInInteraction({ server, principal, wanted }, { storage, now });
    },
    ask: (tool, required, { round, signal }) => questionInteraction(tool, required, { round, context: asking(signal) }),
    async answersFor(interruptionId, tool, { signal }) {
      if (await readContinuation(storage, interruptionId)) return undefined; // a sign-in
      return await takeAnswers(interruptionId, tool, asking(signal));
    },
    askWhileOpen: (tool, params, { ask, signal }) =>
      askOpenQuestion(tool, params, { ask, signal, report, context: asking(signal) }),
    answer: (answering, { signal }) => storeAnswers(answering, asking(signal)),
    look: ({ signal, ...look }) => lookAtAuth({ ...look, report, context: contextOf(signal) }),
  };
}

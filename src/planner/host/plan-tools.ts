/** The primitives of plans as tools that a model is shown, and its calls of them as what a step wants done. */

import * as v from 'valibot';
import { jsonSchemaOf } from '../../base/json-schema-of.ts';
import { parse } from '../../base/parse.ts';
import type { JsonSchema } from '../../base/schema.ts';
import { type Action, AskAction, CreateAction, ReviseAction, SendAction } from '../model/action.ts';

/** A tool as a model is shown it. */
export interface PlanTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonSchema;
}

/** What a call of such a tool means: something to do, or the end of the agent. */
export type PlanCall =
  | { readonly type: 'action'; readonly action: Action }
  | { readonly type: 'finish'; readonly result: unknown; readonly cites?: readonly string[] };

/** A model gets the fields that are about its work; budgets, effects and retries belong to the composition. */
const CreateInput = v.pick(CreateAction, [
  'key',
  'goal',
  'agentId',
  'role',
  'context',
  'constraints',
  'tools',
  'after',
  'onFailure',
]);
const SendInput = v.omit(SendAction, ['type', 'callId', 'timeoutMs']);
const AskInput = v.omit(AskAction, ['type', 'callId', 'timeoutMs', 'onTimeout']);
const ReviseInput = v.omit(ReviseAction, ['type', 'callId']);
const FinishInput = v.strictObject({
  result: v.unknown(),
  /** Addresses of the agents whose work the result rests on. */
  cites: v.optional(v.pipe(v.array(v.string()), v.maxLength(1000))),
});

const inputs = {
  create: CreateInput,
  send: SendInput,
  ask_human: AskInput,
  plan_revise: ReviseInput,
  finish: FinishInput,
} as const;

const descriptions: Readonly<Record<keyof typeof inputs, string>> = {
  create:
    'Makes a sub-agent for a part of the goal and answers its address. Sub-agents run at the same time, unless "after" names ' +
    'siblings whose results one needs; you receive their results when all have ended. State goal, bounds and form of the result: ' +
    'a sub-agent knows nothing else. The same "key" is the same sub-agent.',
  send:
    'Sends a message to "parent", or to a child or sibling by key or address. With "expectReply" you wait for the answer; ' +
    'answer a message by its id in "replyTo".',
  ask_human: 'Asks a person, where only a person can decide, and waits for the answer.',
  plan_revise:
    'Writes down how the plan stands: the outline of what is to be done, the facts that are known, and in "drop" the ' +
    'sub-agents that are no longer needed.',
  finish: 'Ends your work with its result.',
};

/** The tools, in the order in which a model is shown them. Sub-agents at the greatest depth need no `create`. */
export const planTools: readonly PlanTool[] = Object.entries(inputs).map(([name, schema]) => ({
  name,
  description: descriptions[name as keyof typeof inputs], // the keys of one table
  inputSchema: jsonSchemaOf(schema),
}));

/**
 * Reads a model's call; `undefined` for a name that is none of these tools.
 *
 * @throws PinnaceError `invalid_argument` for an input that breaks the tool's schema: the message is for the model.
 */
export function readPlanCall(
  name: string,
  input: unknown,
  { callId }: { readonly callId?: string } = {},
): PlanCall | undefined {
  const what = { what: `the input of tool "${name}"` };
  const facts = callId === undefined ? {} : { callId };
  switch (name) {
    case 'create':
      return {
        type: 'action',
        action: { type: 'create', ...facts, effect: 'pure', ...parse(CreateInput, input, what) },
      };
    case 'send':
      return { type: 'action', action: { type: 'send', ...facts, ...parse(SendInput, input, what) } };
    case 'ask_human':
      return {
        type: 'action',
        action: { type: 'ask_human', ...facts, onTimeout: 'fail', ...parse(AskInput, input, what) },
      };
    case 'plan_revise':
      return { type: 'action', action: { type: 'plan_revise', ...facts, ...parse(ReviseInput, input, what) } };
    case 'finish': {
      const { result, cites } = parse(FinishInput, input, what);
      return { type: 'finish', result, ...(cites && { cites }) };
    }
    default:
      return undefined;
  }
}

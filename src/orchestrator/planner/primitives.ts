/** The planner's primitives as tools that a model can call. */

import * as v from 'valibot';
import { type ErrorData, toData } from '../../errors.ts';
import { jsonSchemaOf } from '../../json-schema-of.ts';
import { parse } from '../../parse.ts';
import type { JsonSchema } from '../../schema.ts';
import { Action, type ActionInput } from './action.ts';

/** A primitive as a model sees it. */
export interface Primitive {
  readonly name: string;
  readonly description: string;
  readonly paramsSchema: JsonSchema;
}

const Text = (description: string) => v.pipe(v.string(), v.description(description));
const Texts = (description: string) => v.pipe(v.array(v.string()), v.description(description));

const create = primitive(
  'create',
  'Creates a sub-agent that works on a part of the goal, beside all others. Its result comes to you when it has ended.',
  v.strictObject({
    goal: Text('What it has to find out or do, complete in itself: it knows nothing of your conversation'),
    key: v.optional(Text('A short name; the same name again is the same sub-agent')),
    agentId: v.optional(Text('Which agent does it; without it, one like you')),
    tools: v.optional(Texts('The only tools that it may use')),
    after: v.optional(Texts('Keys of sub-agents that must have ended before; it is given their results')),
    onFailure: v.optional(v.picklist(['fail', 'collect', 'ignore'])),
  }),
);
const send = primitive(
  'send',
  'Sends a message to "parent", or to a sub-agent or sibling by its key or address.',
  v.strictObject({
    to: Text('"parent", a key, or an address such as "1-3"'),
    body: Text('The message'),
    expectReply: v.optional(v.boolean()),
    replyTo: v.optional(Text('The id of the message that this one answers')),
  }),
);
const ask = primitive(
  'ask_human',
  'Asks a person, where only a person can know or decide. You go on when there is an answer.',
  v.strictObject({
    question: Text('The question, with all that is needed to answer it'),
    options: v.optional(Texts('The answers to choose from')),
  }),
);
const revise = primitive(
  'plan_revise',
  'Writes down how the plan stands now, and drops sub-agents that are no longer needed.',
  v.strictObject({
    outline: v.optional(Texts('What is to be done, one line each')),
    facts: v.optional(Texts('What is known by now')),
    drop: v.optional(Texts('Keys or addresses of sub-agents to stop')),
  }),
);
const finish = primitive(
  'finish',
  'Ends your work with its result.',
  v.strictObject({
    result: Text('The result'),
    cites: v.optional(Texts('The addresses of the sub-agents whose work it rests on')),
  }),
);

/** What every agent of a plan can do, and what those can that may still create others. */
export function primitivesFor({ mayCreate }: { readonly mayCreate: boolean }): readonly Primitive[] {
  return mayCreate ? [create, send, ask, revise, finish] : [send, ask, finish];
}

/** What a call of `finish` says. */
const Finish = v.object({ result: v.string(), cites: v.optional(v.array(v.string())) });

/** What a call of a primitive comes to. */
export type Called =
  | { readonly type: 'action'; readonly action: ActionInput }
  | { readonly type: 'finish'; readonly result: string; readonly cites?: readonly string[] | undefined }
  | { readonly type: 'refused'; readonly error: ErrorData };

/** Reads the call of a primitive. What the model got wrong is told to it, and ends nothing. */
export function readPrimitive(
  { name, callId, input }: { readonly name: string; readonly callId: string; readonly input: unknown },
  { agentId }: { readonly agentId: string },
): Called {
  try {
    const what = `the input of "${name}"`;
    if (name === 'finish') return { type: 'finish', ...parse(Finish, input, { what }) };
    const given = typeof input === 'object' ? input : {};
    const inherited = name === 'create' ? { agentId } : {}; // who is not told whom to make, makes its like
    const action = { ...inherited, ...given, type: name, callId };
    parse(Action, action, { what });
    return { type: 'action', action: action as ActionInput }; // parsed just now
  } catch (error) {
    return { type: 'refused', error: toData(error) };
  }
}

function primitive(name: string, description: string, input: v.GenericSchema): Primitive {
  return { name, description, paramsSchema: jsonSchemaOf(input) };
}

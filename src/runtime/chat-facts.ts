/**
 * What the runs of a chat have read, beside what its models were sent.
 *
 * What must hold:
 *
 * 1. The record of the chat says it, never a message: what a client sends as a label is not read.
 * 2. A chat has one label for all its answers, so that no part can be moved to where it has less. It only grows.
 * 3. An answer that the record does not name may be anybody's. A message of the user is the caller's; the files in it are not.
 */

import { quickHash } from '../base/hash.ts';
import type { UIMessage } from '../contracts/ai-types.ts';
import { join, type Label, labelOf, parseLabel, trusted, unlabelled } from '../permission/label.ts';
import { RunFacts } from '../permission/run-facts.ts';
import { resourceOf } from './message-files.ts';
import type { ChatFacts } from './prompt-chain.ts';
import type { Resolution } from './run-context.ts';
import { isNoteOf } from './tool-sets.ts';

/** So many answers are named; those before count as anybody's. */
const mostMessages = 1_000;

/** Returns what a run starts with. `onGrown` receives what has to be recorded before the model knows it. */
export function openFacts(
  { request: { chat, context }, toolSet, continues, resumed }: Resolution,
  known: ChatFacts | undefined,
  onGrown: (facts: RunFacts) => void,
): RunFacts {
  const given = context.every((item) => isNoteOf(toolSet, item)) ? trusted : labelOf(['*'], 'tenant');
  // The record of a run that goes on after its instance was lost is about its own answer.
  const others = known && resumed?.recovered ? chat.messages.slice(0, -1) : chat.messages;
  const read = [given, labelOfAnswers(others, known), ...filesIn(chat.messages)];
  const isSame = resumed !== undefined || continues !== undefined;
  const said = chat.messages.findLast(({ role }) => role === 'user')?.parts ?? [];
  return new RunFacts({
    read: read.reduce(join),
    asked: isKnown(chat.messages, known) ? (known?.asked ?? []).map(([id, label]) => [id, parseLabel(label)]) : [],
    calls: isSame ? callsIn(chat.messages.at(-1), toolSet, known) : [],
    said: said.map((part) => part.type === 'text' ? part.text : '').join('\n'),
    onGrown,
  });
}

/** The calls that an answer shows: of those that a program has made, the record says what was there at its last growth. */
function callsIn(
  answer: UIMessage | undefined,
  { tools }: Resolution['toolSet'],
  known: ChatFacts | undefined,
): ReadonlyMap<string, number> {
  const shown = new Map<string, number>();
  for (const part of answer?.role === 'assistant' ? answer.parts : []) {
    if (!('toolCallId' in part) || part.state === 'approval-requested') continue;
    const name = part.type === 'dynamic-tool' ? part.toolName : part.type.slice('tool-'.length);
    const id = tools.find(({ definition }) => definition.name === name)?.definition.id ?? name;
    shown.set(id, (shown.get(id) ?? 0) + 1);
  }
  for (const [id, count] of known?.calls ?? []) shown.set(id, Math.max(count, shown.get(id) ?? 0));
  return shown;
}

/** A run that goes on in the middle has read what its record says, also before it has an answer. */
function labelOfAnswers(messages: readonly UIMessage[], known: ChatFacts | undefined): Label {
  const read = known ? parseLabel(known.read) : trusted;
  return isKnown(messages, known) ? read : join(read, unlabelled);
}

/** Whether the record names all answers. */
function isKnown(messages: readonly UIMessage[], known: ChatFacts | undefined): boolean {
  return messages.every(({ id, role }) => role === 'user' || known?.messages.includes(id) === true);
}

function filesIn(messages: readonly UIMessage[]): readonly Label[] {
  return messages.flatMap(({ role, parts }) =>
    role !== 'user' ? [] : parts.flatMap((part) => {
      if (part.type !== 'file') return [];
      const resource = resourceOf(part.url);
      return [labelOf([resource ? `mcp:${resource.server}` : `file:${quickHash(part.url).toString(36)}`], 'principal')];
    })
  );
}

/** Returns what is stored of a chat after a run, which writes the answer of this id. */
export function chatFactsOf(
  { read, calls, asked }: RunFacts,
  messages: readonly UIMessage[],
  answerId: string,
): ChatFacts {
  const ids = new Set([...messages.flatMap(({ id, role }) => role === 'user' ? [] : [id]), answerId]);
  return {
    read,
    calls: [...calls],
    ...(asked.size > 0 && { asked: [...asked] }),
    messages: [...ids].slice(-mostMessages),
  };
}

/** What the rehearsal model says when no tool is to be called: who it is, and text by the yard. */

import type { ActiveTool } from './choose-tool.ts';
import { hashOf, pickerOf } from './random.ts';

/** Whether the message asks who or what it speaks to. */
export function asksWhoItIs(message: string): boolean {
  return /\b(?:who|what)\s+are\s+you\b|\bare\s+you\s+(?:an?\s+|the\s+)?(?:\w+\s+)?(?:ai|model|human|person|bot|real|robot|llm|gpt|claude)\b|\b(?:introduce|describe)\s+yourself\b|\bwhat\s+(?:can|do)\s+you\s+do\b|\bwhat(?:'s| is)\s+your\s+name\b/iu
    .test(message);
}

/** Says what the model is and what it can do here. */
export function introduction(tools: readonly ActiveTool[]): string {
  const what =
    'I am the rehearsal model: plain code, no intelligence. I match the words of your message against the tools that are ' +
    'active, fill their inputs by their schemas, and report what they return.';
  if (tools.length === 0) {
    return `${what} No tool is active here, so I have nothing to call. I can still write: ask me for a long answer.`;
  }
  const listed = tools.slice(0, 12).map(({ name, description }) => {
    const [first = ''] = description.split(/(?<=[.!?])\s|\n/u);
    return `- \`${name}\`${first === '' ? '' : `: ${first.slice(0, 160)}`}`;
  });
  const rest = tools.length > 12 ? [`- … and ${tools.length - 12} more`] : [];
  const example = `call ${tools[0]?.name} with {…}`;
  return [
    `${what} Active now:`,
    '',
    ...listed,
    ...rest,
    '',
    `Ask for one of them in your words, or write \`${example}\`.`,
  ].join('\n');
}

/** Names the files of a message. */
export function receipt(files: readonly string[]): string {
  return `I received ${files.map((name) => `\`${name.replaceAll('`', "'")}\``).join(', ')}.`;
}

/** What is said to files without a question that can be answered. */
export const cannotRead =
  'I am the rehearsal model: plain code, no intelligence. I cannot read files; connect a model to have them read.';

/** Returns the text after "say" or "repeat", if the message asks for nothing else. */
export function echoOf(message: string): string | undefined {
  const found = /^\s*(?:please\s+)?(?:say|repeat(?:\s+after\s+me)?|echo)(?:\s*:\s*|\s+)(.+)$/isu.exec(message)?.[1];
  return found?.trim().replace(/^(["'“])(.*)["'”]$/su, '$2');
}

/** Returns how many words of text the message requests; `undefined` if it requests none. */
export function wordsAskedFor(message: string): number | undefined {
  const text = message.slice(0, 2000);
  const counted = /\b(\d{2,5})[\s-]words?\b/iu.exec(text)?.[1];
  const isRequested =
    /\b(?:write|tell|give|compose|draft|generate|make|produce|answer|explain|i(?:'d| would) like|i want)\b/iu
      .test(text);
  if (counted !== undefined && isRequested) return Math.min(20_000, Number(counted));
  const genre = 'answer|story|tale|text|essay|article|poem|report|explanation|reply|response|speech|letter|description';
  return isRequested &&
      new RegExp(
        `\\b(?:very\\s+)?(?:long|lengthy|detailed|extensive)(?:\\s+\\w+)?\\s+(?:${genre})\\b|\\bat\\s+length\\b`,
        'iu',
      ).test(text)
    ? 400
    : undefined;
}

/** Returns text about the topic that the message names, with the requested number of words. The same seed returns the same text. */
export function longText(message: string, { words, seed }: { words: number; seed: string }): string {
  const pick = pickerOf(hashOf(`${seed}\n${message}`));
  const topic = /\b(?:about|on|of)\s+(.{2,80}?)\s*(?:[.!?,;\n]|\bin\s+\d|$)/iu.exec(message)?.[1] ??
    'nothing in particular';
  const paragraphs = [
    `This is text by the rehearsal model: plain code put it together, and nobody meant it. It is about ${topic}.`,
  ];
  let count = lengthOf(paragraphs[0] ?? '');
  while (count < words) {
    const sentences = Array.from({ length: 4 }, () => sentence(topic, pick));
    const paragraph = sentences.join(' ');
    paragraphs.push(paragraph);
    count += lengthOf(paragraph);
  }
  return cutTo(paragraphs.join('\n\n'), words);
}

type Pick = ReturnType<typeof pickerOf>;

type Texts = readonly [string, ...string[]];

const people: Texts = ['the keeper', 'an old sailor', 'the younger of the two', 'a clerk from the harbour', 'the cook'];
const times: Texts = ['At dawn', 'By noon', 'Late in the evening', 'On the third day', 'When the wind turned'];
const ends: Texts = [
  'and nothing was lost',
  'because somebody had to',
  'though no one had asked',
  'as the rules require',
];
const deeds: Texts = [
  'counted the hours',
  'wrote a careful note',
  'lit the lamp again',
  'asked for a second opinion',
  'waited for the tide',
  'read the log aloud',
];

function sentence(topic: string, pick: Pick): string {
  const [who, did, when, end] = [pick(people), pick(deeds), pick(times), pick(ends)];
  return pick([
    `${when}, ${who} ${did}, ${end}.`,
    `${when}, ${who} spoke of ${topic} and ${did}.`,
    `There was more to say about ${topic}, so ${who} ${did}.`,
    `Nobody forgot ${topic}: ${who} ${did}, ${end}.`,
  ]);
}

function lengthOf(text: string): number {
  return text.split(/\s+/u).length;
}

/** Cuts a text behind a number of words. */
export function cutTo(text: string, words: number): string {
  let count = 0;
  for (const { index } of text.matchAll(/\S+/gu)) {
    if (++count > words) return text.slice(0, index).trimEnd();
  }
  return text;
}

/** Whether the message asks to think before the answer. */
export function asksToThink(message: string): boolean {
  return /\bthink(?:ing)?\s+(?:about|first|hard|it\s+through|step|carefully|before|through|aloud|out\s+loud)\b/iu.test(
    message,
  );
}

/** Text that the rehearsal model makes up, and what a message asks it to say. */

import { hashOf, pickerOf } from './random.ts';

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
    `This is filler text by a scripted demo, not by an AI model. Its topic is ${topic}.`,
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
  'because it had to be done',
  'although it was not required',
  'as the rules require',
];
const actions: Texts = [
  'counted the hours',
  'wrote a careful note',
  'lit the lamp again',
  'asked for a second opinion',
  'waited for the tide',
  'read the log aloud',
];

function sentence(topic: string, pick: Pick): string {
  const [who, did, when, end] = [pick(people), pick(actions), pick(times), pick(ends)];
  return pick([
    `${when}, ${who} ${did}, ${end}.`,
    `${when}, ${who} spoke of ${topic} and ${did}.`,
    `There was more to say about ${topic}, so ${who} ${did}.`,
    `Everyone remembered ${topic}: ${who} ${did}, ${end}.`,
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

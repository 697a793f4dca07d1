/** What the scripted model says without a tool: greetings, what it can do, repeated words and filler text. */

import { type ActiveTool, relativesOf, stem, wordsOf } from './choose-tool.ts';

/** A scripted demo says so wherever a visitor might take it for a model. */
const script = 'I am a scripted demo, not an AI model';

/** Messages that want words and no tool, with the start of the answer; `can` says what can be asked for. */
const talk: readonly (readonly [phrase: RegExp, answer: (can: string) => string])[] = [
  [
    /^(?:hi|hello|hey|hallo|howdy|greetings|good\s+(?:morning|afternoon|evening|day)|hola|bonjour|salut|ciao|hej)(?:\s+(?:there|all|everyone))?$/iu,
    (can) => `Hello! ${script}, but the tools that I call are real. ${can}`,
  ],
  [
    /^(?:many\s+)?(?:thanks|thank\s+you|thx|cheers|great|nice|cool|perfect|awesome|wow)\b(?:\s+\S+){0,3}$/iu,
    () => 'You’re welcome.',
  ],
  [
    /^(?:(?:hi|hello|hey)\W+)?(?:how\s+are\s+you|how(?:'|’)?s\s+it\s+going|how\s+do\s+you\s+do|what(?:'|’)?s\s+up)\b/iu,
    (can) => `Always the same: ${script.replace('I am', 'I’m')}. ${can}`,
  ],
  [
    /^(?:ok(?:ay)?|yes|no|yep|nope|sure|stop|test(?:ing)?|continue|go\s+on|next|hm+)$/iu,
    (can) => `Tell me what to do. ${can}`,
  ],
  [
    new RegExp(
      '^(?:please\\s+)?/?help(?:\\s+me)?$|\\bwhat\\s+(?:can|do)\\s+you\\s+do\\b|\\bwhat\\s+are\\s+you\\s+able\\s+to\\b|\\bhow\\s+does\\s+this\\s+work\\b|' +
        '\\btools\\s+(?:do|can)\\s+you\\b|\\b(?:who|what|which)(?:\\s+(?:ai|llm|model))?\\s+are\\s+you\\b|\\bhow\\s+old\\s+are\\s+you\\b|' +
        '\\bare\\s+you\\s+(?:an?\\s+|the\\s+)?(?:\\w+\\s+)?(?:ai|model|human|person|bot|real|robot|llm|gpt|chatgpt|claude)\\b|' +
        "\\b(?:introduce|describe)\\s+yourself\\b|\\babout\\s+yourself\\b|\\bwhat(?:'|’)?s?(?:\\s+is)?\\s+your\\s+name\\b",
      'iu',
    ),
    (can) =>
      `${script}: I match your words with tools, fill in their inputs and report the results. The tools are real. ${can}`,
  ],
];

function talkOf(message: string): (typeof talk)[number] | undefined {
  const text = message.slice(0, 200).trim().replace(/[\s.!?…]+$/u, '');
  return talk.find(([phrase]) => phrase.test(text));
}

const writing =
  /^(?:(?:please|can you|could you|would you)\s+)*(?:(?:summari[sz]e|translate|explain|rewrite|rephrase|paraphrase|proofread|brainstorm|compose|sing)\b|(?:write|draft|tell|give|make|create|generate)\s+(?:me\s+)?(?:us\s+)?(?:an?\s+|some\s+|the\s+)?(?:\S+\s+){0,2}?(?:haiku|poem|limerick|joke|story|song|rap|essay|paragraph|sentence|tweet|blog|letter|speech|recipe|code|function|program|script|regex|ideas?)\b)/iu;

/** What a person may look for that no tool has: how it is named in the answer. */
const topics: readonly (readonly [RegExp, string])[] = [
  [/\b(?:weather|forecast|rain(?:y|ing)?|snow(?:ing)?|sunny|temperature)\b/iu, 'the weather'],
  [/\b(?:news|headlines?)\b/iu, 'the news'],
  [/\b(?:stocks?|shares|bitcoin|crypto|exchange\s+rate)\b/iu, 'prices'],
];

/** Whether a text wants words and no tool: conversation, writing that no tool does, and topics that no tool knows. */
export function wantsWords(text: string, tools: readonly ActiveTool[]): boolean {
  const topic = topics.find(([pattern]) => pattern.test(text))?.[0];
  if (topic && !tools.some(({ name, description }) => topic.test(`${name} ${description}`))) return true;
  if (wordsAskedFor(text) !== undefined || talkOf(text)) return true;
  const asked = writing.exec(text.slice(0, 400).trim())?.[0];
  return asked !== undefined &&
    !wordsOf(asked).some((word) => relativesOf(stem(word)).some((like) => tools.some(({ verbs }) => verbs.has(like))));
}

/** Returns the answer to a message that calls for no tool. */
export function smallTalk(
  message: string,
  speaker: { readonly tools: readonly ActiveTool[]; readonly discovers: boolean },
): string {
  const can = abilities(speaker);
  const known = talkOf(message);
  if (known) return known[1](can);
  if (writing.test(message.slice(0, 400).trim())) {
    return `Writing needs an AI model, and I am only a scripted demo. Connect a model to try it. ${can}`;
  }
  const topic = topics.find(([pattern]) => pattern.test(message))?.[1];
  if (topic !== undefined) return `No tool here knows ${topic}. ${can}`;
  if (isForeign(message)) return `I read English only: ${script}. Connect a model to use other languages. ${can}`;
  const isQuestion = /\?\s*$|^\s*(?:who|what|when|where|why|which|how|is|are|does|did|was|were)\b/iu.test(message);
  return isQuestion
    ? `I cannot answer that: ${script}. Connect a model, or ask for something that a tool can do. ${can}`
    : `I found no tool for that. ${can}`;
}

/** Little words that German, French, Spanish and Italian have, and English has not. */
const foreignWords =
  /(?<!\p{L})(?:und|ist|wie|wird|das|der|ein|eine|ich|mir|mein|bitte|nicht|les?|est|je|une|quel|quelle|dans|pour|il|che|sono|per|es|el|los|una|qué|cómo|cuál|hace|por)(?!\p{L})/giu;

function isForeign(message: string): boolean {
  const text = message.slice(0, 400);
  return /[\p{L}--[\p{Script=Latin}]]{2}/v.test(text) || new Set(text.toLowerCase().match(foreignWords)).size > 1;
}

function abilities(
  { tools, discovers }: { readonly tools: readonly ActiveTool[]; readonly discovers: boolean },
): string {
  if (discovers) return 'Tell me what you want done, and I look for a tool that can do it.';
  if (tools.length === 0) {
    return 'No tool is active here. I can repeat words (“say ahoy”) or write filler text (“400 words about tides”).';
  }
  const names = tools.slice(0, 5).map(({ name }) => name.replaceAll(/[_-]+/gu, ' '));
  const listed = tools.length > names.length ? [...names, `${tools.length - names.length} more`] : names;
  const list = listed.length < 2 ? listed.join('') : `${listed.slice(0, -1).join(', ')} and ${listed.at(-1)}`;
  return `I can use: ${list}. Ask in your own words.`;
}

/** Names the files of a message, before the answer to its text or what is to be said without one. */
export function withFiles(files: readonly string[], text: string | undefined): string {
  const names = files.map((name) => `\`${name.replaceAll('`', "'")}\``).join(', ');
  return `I received ${names}.\n\n${text ?? `${script}, so I cannot read files. Connect a model to have them read.`}`;
}

/** Returns the text after "say" or "repeat", if the message asks for nothing else. */
export function echoOf(message: string): string | undefined {
  const said = /^\s*(?:please\s+)?(?:say|repeat(?:\s+after\s+me)?|echo)(?:\s*:\s*|\s+)(.+)$/isu.exec(message)?.[1];
  return said?.trim().replace(/^(["'“])(.*)["'”]$/su, '$2');
}

/** Returns how many words of text the message requests; `undefined` if it requests none. */
export function wordsAskedFor(message: string): number | undefined {
  const text = message.slice(0, 2000);
  const counted = /\b(\d{2,5})[\s-]words?\b/iu.exec(text)?.[1];
  const asks = /\b(?:write|tell|give|compose|draft|generate|make|produce|answer|explain|i(?:'d| would) like|i want)\b/iu
    .test(text);
  if (!asks) return undefined;
  if (counted !== undefined) return Math.min(20_000, Number(counted));
  const long =
    /\b(?:very\s+)?(?:long|lengthy|detailed|extensive)(?:\s+\w+)?\s+(?:answer|story|tale|text|essay|article|poem|report|explanation|reply|response|speech|letter|description)\b|\bat\s+length\b/iu;
  return long.test(text) ? 400 : undefined;
}

const people = ['the keeper', 'an old sailor', 'the younger of the two', 'a clerk from the harbour', 'the cook'];
const times = ['At dawn', 'By noon', 'Late in the evening', 'On the third day', 'When the wind turned'];
const ends = [
  'and nothing was lost',
  'because it had to be done',
  'although it was not required',
  'as the rules require',
];
const actions = [
  'counted the hours',
  'wrote a careful note',
  'lit the lamp again',
  'asked for a second opinion',
  'waited for the tide',
  'read the log aloud',
];

/** Returns text about the topic that the message names, with so many words. The same seed returns the same text. */
export function longText(message: string, { words, seed }: { readonly words: number; readonly seed: string }): string {
  let state = hashOf(`${seed}\n${message}`);
  const pick = (items: readonly string[]): string => { // mulberry32
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return items[((mixed ^ (mixed >>> 14)) >>> 0) % items.length] ?? '';
  };
  const topic = /\b(?:about|on|of)\s+(.{2,80}?)\s*(?:[.!?,;\n]|\bin\s+\d|$)/iu.exec(message)?.[1] ??
    'nothing in particular';
  const paragraphs = [`This is filler text by a scripted demo, not by an AI model. Its topic is ${topic}.`];
  for (let count = 0; count < words; count += 30) {
    paragraphs.push(
      Array.from({ length: 4 }, () => {
        const [who, did, when, end] = [pick(people), pick(actions), pick(times), pick(ends)];
        return pick([
          `${when}, ${who} ${did}, ${end}.`,
          `${when}, ${who} spoke of ${topic} and ${did}.`,
          `There was more to say about ${topic}, so ${who} ${did}.`,
          `Everyone remembered ${topic}: ${who} ${did}, ${end}.`,
        ]);
      }).join(' '),
    );
  }
  return cutTo(paragraphs.join('\n\n'), words);
}

export function cutTo(text: string, words: number): string {
  let count = 0;
  for (const { index } of text.matchAll(/\S+/gu)) if (++count > words) return text.slice(0, index).trimEnd();
  return text;
}

/** Returns a 32-bit hash of a text (FNV-1a). */
export function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return hash >>> 0;
}

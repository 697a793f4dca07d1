/** What the rehearsal model says to messages for which it calls no tool: greetings, thanks, and what needs an AI model. */

import type { ActiveTool } from './choose-tool.ts';
import { relativesOf, stem, wordsOf } from './words.ts';

/** A scripted demo says so wherever a visitor might take it for a model. */
const script = 'I am a scripted demo, not an AI model';

type Kind = 'greeting' | 'identity' | 'abilities' | 'thanks' | 'wellbeing' | 'filler';

const kinds: readonly (readonly [Kind, RegExp])[] = [
  [
    'greeting',
    /^(?:hi|hello|hey|hallo|howdy|greetings|good\s+(?:morning|afternoon|evening|day)|hola|bonjour|salut|ciao|hej)(?:\s+(?:there|all|everyone))?$/iu,
  ],
  ['thanks', /^(?:many\s+)?(?:thanks|thank\s+you|thx|cheers|great|nice|cool|perfect|awesome|wow)\b(?:\s+\S+){0,3}$/iu],
  [
    'wellbeing',
    /^(?:(?:hi|hello|hey)\W+)?(?:how\s+are\s+you|how(?:'|’)?s\s+it\s+going|how\s+do\s+you\s+do|what(?:'|’)?s\s+up)\b/iu,
  ],
  ['filler', /^(?:ok(?:ay)?|yes|no|yep|nope|sure|stop|test(?:ing)?|continue|go\s+on|next|hm+)$/iu],
  [
    'abilities',
    /^(?:please\s+)?\/?help(?:\s+me)?$|\bwhat\s+(?:can|do)\s+you\s+do\b|\bwhat\s+are\s+you\s+able\s+to\b|\bhow\s+does\s+this\s+work\b|\btools\s+(?:do|can)\s+you\b/iu,
  ],
  [
    'identity',
    /\b(?:who|what|which)(?:\s+(?:ai|llm|model))?\s+are\s+you\b|\bare\s+you\s+(?:an?\s+|the\s+)?(?:\w+\s+)?(?:ai|model|human|person|bot|real|robot|llm|gpt|chatgpt|claude)\b|\b(?:introduce|describe)\s+yourself\b|\babout\s+yourself\b|\bhow\s+old\s+are\s+you\b|\bwhat(?:'|’)?s?(?:\s+is)?\s+your\s+name\b/iu,
  ],
];

function kindOf(message: string): Kind | undefined {
  const text = message.slice(0, 200).trim().replace(/[\s.!?…]+$/u, '');
  return kinds.find(([, pattern]) => pattern.test(text))?.[0];
}

/** Whether the message is conversation: it wants words and no tool. */
export function isConversation(message: string): boolean {
  return kindOf(message) !== undefined;
}

const writing = new RegExp(
  `^(?:(?:please|can you|could you|would you)\\s+)*(?:` +
    `(?:summari[sz]e|translate|explain|rewrite|rephrase|paraphrase|proofread|brainstorm|compose|sing)\\b` +
    `|(?:write|draft|tell|give|make|create|generate)\\s+(?:me\\s+)?(?:us\\s+)?(?:an?\\s+|some\\s+|the\\s+)?(?:\\S+\\s+){0,2}?` +
    `(?:haiku|poem|limerick|joke|story|song|rap|essay|paragraph|sentence|tweet|blog|letter|speech|recipe|code|function|program|script|regex|ideas?)\\b)`,
  'iu',
);

/** Whether the message asks for writing, which needs a model. A tool whose name says the same goes first. */
export function asksForWriting(message: string, tools: readonly ActiveTool[]): boolean {
  const found = writing.exec(message.slice(0, 400).trim())?.[0];
  if (found === undefined) return false;
  const verbs = new Set(tools.flatMap((tool) => [...tool.verbs]));
  return !wordsOf(found).some((word) => [...relativesOf(stem(word))].some((like) => verbs.has(like)));
}

/** What a person may look for that no tool has: how it is named in the answer. */
const topics: readonly (readonly [RegExp, string])[] = [
  [/\b(?:weather|forecast|rain(?:y|ing)?|snow(?:ing)?|sunny|temperature)\b/iu, 'the weather'],
  [/\b(?:news|headlines?)\b/iu, 'the news'],
  [/\b(?:stocks?|shares|bitcoin|crypto|exchange\s+rate)\b/iu, 'prices'],
];

function topicOf(message: string): (typeof topics)[number] | undefined {
  return topics.find(([pattern]) => pattern.test(message));
}

/** Whether the message is about something that no tool speaks of. */
export function isBeyondTools(message: string, tools: readonly ActiveTool[]): boolean {
  const topic = topicOf(message);
  return topic !== undefined && !tools.some(({ name, description }) => topic[0].test(`${name} ${description}`));
}

/** Who speaks, and with which tools. */
export interface Speaker {
  readonly tools: readonly ActiveTool[];
  /** Whether it can look for more tools. */
  readonly discovers: boolean;
}

/** Returns the answer to a message that calls for no tool. */
export function smallTalk(message: string, speaker: Speaker): string {
  const can = abilities(speaker);
  const kind = kindOf(message);
  switch (kind) {
    case 'greeting':
      return `Hello! ${script}, but the tools that I call are real. ${can}`;
    case 'identity':
    case 'abilities':
      return `${script}: I match your words with tools, fill in their inputs and report the results. The tools are real. ${can}`;
    case 'thanks':
      return 'You’re welcome.';
    case 'wellbeing':
      return `Always the same: ${script.replace('I am', 'I’m')}. ${can}`;
    case 'filler':
      return `Tell me what to do. ${can}`;
    case undefined:
      return withoutAnswer(message, speaker);
    default:
      return kind satisfies never;
  }
}

function withoutAnswer(message: string, speaker: Speaker): string {
  const can = abilities(speaker);
  if (asksForWriting(message, [])) {
    return `Writing needs an AI model, and I am only a scripted demo. Connect a model to try it. ${can}`;
  }
  const [, topic] = topicOf(message) ?? [];
  if (topic !== undefined) return `No tool here knows ${topic}. ${can}`;
  const isQuestion = /\?\s*$|^\s*(?:who|what|when|where|why|which|how|is|are|does|did|was|were)\b/iu.test(message);
  return isQuestion
    ? `I cannot answer that: ${script}. Connect a model, or ask for something that a tool can do. ${can}`
    : `I found no tool for that. ${can}`;
}

const mostNamed = 5;

/** Says in one or two sentences what can be asked for. */
function abilities({ tools, discovers }: Speaker): string {
  if (discovers) return 'Tell me what you want done, and I look for a tool that can do it.';
  if (tools.length === 0) {
    return 'No tool is active here. I can repeat words (“say ahoy”) or write filler text (“400 words about tides”).';
  }
  const names = tools.slice(0, mostNamed).map(({ name }) => name.replaceAll(/[_-]+/gu, ' '));
  const rest = tools.length - names.length;
  const listed = rest > 0 ? [...names, `${rest} more`] : names;
  return `I can use: ${listOf(listed)}. Ask in your own words.`;
}

function listOf(names: readonly string[]): string {
  return names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
}

/** Names the files of a message. */
export function receipt(files: readonly string[]): string {
  return `I received ${files.map((name) => `\`${name.replaceAll('`', "'")}\``).join(', ')}.`;
}

/** The answer to files without a question that can be answered. */
export const cannotRead = `${script}, so I cannot read files. Connect a model to have them read.`;

/** Lets the rehearsal model query data sources with the words of the message, and answer with the words of the hits. */

import { type ActiveTool, chooserOf, isPlain } from './choose-tool.ts';
import { type Conversation, type PastCall, stringify } from './conversation.ts';
import { type Call, explicitCallsOf } from './explicit-calls.ts';
import { echoOf, wordsAskedFor } from './prose.ts';
import { sayFailure } from './report/report.ts';
import { asList, own } from './shape.ts';
import { isConversation } from './small-talk.ts';
import { stemsOf } from './words.ts';

/** The next call, or what there is to say. */
export type SourcesStep =
  | { readonly calls: readonly Call[]; readonly text?: never }
  | { readonly text: string; readonly calls?: never };

/** The tool that queries the sources. */
const retrieve = 'retrieve';

/**
 * Returns the call that queries the sources if no other tool clearly fits the message, and after that call the answer.
 * Returns `undefined` if the message is about other tools.
 */
export function sourcesStep(
  { message, steps }: Pick<Conversation, 'message' | 'steps'>,
  tools: readonly ActiveTool[],
): SourcesStep | undefined {
  const calls = steps.flat();
  if (calls.length > 0) {
    const queried = calls.every(({ toolName }) => toolName === retrieve) ? calls : [];
    return queried.some(({ outcome }) => outcome?.kind === 'value')
      ? { text: answerFrom(queried, message) }
      : undefined;
  }
  const tool = tools.find(({ name, shape }) =>
    name === retrieve && shape.fields().some((field) => field.name === 'query')
  );
  const others = chooserOf(tools.filter((other) => other !== tool));
  if (!tool || isForWords(message) || explicitCallsOf(message).length > 0 || others(message).some(isPlain)) {
    return undefined;
  }
  const query = message.replace(/\s+/gu, ' ').trim().slice(0, 400);
  return query === '' ? undefined : { calls: [{ toolName: retrieve, input: JSON.stringify({ query, topK: 6 }) }] };
}

function isForWords(message: string): boolean {
  return wordsAskedFor(message) !== undefined || isConversation(message) || echoOf(message) !== undefined;
}

/** One numbered hit. */
interface Block {
  readonly n: number;
  readonly confidence: number;
  readonly content: string;
}

/** Below this confidence, a hit is presented as a guess. */
const doubtful = 0.25;
const mostSentences = 3;

function answerFrom(calls: readonly PastCall[], message: string): string {
  const outputs = calls.flatMap(({ outcome }) => outcome?.kind === 'value' ? [outcome.value] : []);
  const blocks = outputs.flatMap((output) => {
    const text = own(output, 'text');
    return typeof text === 'string' ? blocksIn(text) : [];
  });
  const said = sentencesFor(blocks, stemsOf(message));
  const lead = said.some(({ confidence }) => confidence >= doubtful) ? [] : [
    said.length === 0
      ? 'I found nothing about that in the sources.'
      : 'The sources say little about that. The closest:',
  ];
  const failed = [
    ...calls.flatMap(({ outcome }) => outcome && outcome.kind !== 'value' ? [sayFailure(retrieve, outcome)] : []),
    ...outputs.flatMap((output) => asList(own(output, 'sources')).flatMap(failureOf)),
  ];
  return [...lead, ...cited(said), ...failed].join('\n\n');
}

/** The text of one hit stays together. */
function cited(said: readonly Sentence[]): readonly string[] {
  const byHit = Map.groupBy(said, ({ n }) => n);
  return [...byHit].map(([n, sentences]) => `${sentences.map(({ text }) => text).join(' ')} [${n}]`);
}

function failureOf(source: unknown): readonly string[] {
  const error = own(source, 'error');
  if (error === undefined) return [];
  const why = own(error, 'message');
  return [
    `\`${String(own(source, 'dataSourceId'))}\` did not answer: ${typeof why === 'string' ? why : stringify(error)}`,
  ];
}

/** Reads `[1] place conf=0.72` and the lines below it. */
function blocksIn(text: string): readonly Block[] {
  const blocks: { n: number; confidence: number; lines: string[] }[] = [];
  for (const line of text.split('\n')) {
    const head = line.startsWith('[') ? /^\[(\d{1,6})\] .{1,400} conf=([01]\.\d\d)$/u.exec(line) : null;
    if (head) blocks.push({ n: Number(head[1]), confidence: Number(head[2]), lines: [] });
    else if (!/^<\/?data [0-9a-f]+>$/.test(line)) blocks.at(-1)?.lines.push(line);
  }
  return blocks.map(({ lines, ...block }) => ({ ...block, content: lines.join('\n') }));
}

interface Sentence {
  readonly text: string;
  readonly n: number;
  readonly confidence: number;
  readonly score: number;
}

/** The sentences that share most with the question, in the order of the hits. A heading counts for the text below it. */
function sentencesFor(blocks: readonly Block[], wanted: ReadonlySet<string>): readonly Sentence[] {
  const all = blocks.flatMap(({ n, confidence, content }) =>
    paragraphsOf(content).flatMap(({ heading, sentences }) =>
      sentences.map((text, at): Sentence => {
        const shared = stemsOf(text).intersection(wanted).size;
        const score = shared + 0.6 * stemsOf(heading).intersection(wanted).size - 0.05 * at;
        return { text, n, confidence, score: score * (0.2 + confidence) };
      })
    )
  );
  const least = Math.max(...all.map(({ score }) => score)) / 2;
  const best = all.filter(({ score }) => score > 0 && score >= least).toSorted((a, b) => b.score - a.score);
  const chosen = new Map<string, Sentence>();
  for (const sentence of best) if (chosen.size < mostSentences) chosen.set(sentence.text, sentence);
  return all.filter((sentence) => chosen.get(sentence.text) === sentence);
}

interface Paragraph {
  readonly heading: string;
  readonly sentences: readonly string[];
}

function paragraphsOf(content: string): readonly Paragraph[] {
  let heading = '';
  return content.split(/\n{2,}|\n(?=#)|(?<=^#.*)\n/mu).flatMap((part) => {
    const text = part.replace(/\s+/gu, ' ').trim();
    if (text.startsWith('#')) heading = text.replace(/^#+\s*/u, '');
    if (text === '' || text.startsWith('#') || text.startsWith('|') || text.startsWith('```')) return [];
    return [{ heading, sentences: text.split(/(?<=[.!?])\s+(?=\p{Lu}|\p{N}|["“`])|(?<=[。！？])/u) }];
  });
}

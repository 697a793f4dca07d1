/** Scenes with tools that the scripted model knows by name: plans, the search for tools, sources of data, and programs. */

import { type ActiveTool, chooserOf, isPlain, stem, stemsOf } from './choose-tool.ts';
import {
  asList,
  type Call,
  callOf,
  type Conversation,
  type ModelCallOptions,
  own,
  parseJson,
  type PastCall,
  stringify,
} from './conversation.ts';
import { sayFailure } from './report.ts';
import type { SceneStep } from './tree-phrases.ts';

/** Whether the instructions make the model a part of a plan. */
export function isInPlan({ system }: Conversation, tools: readonly ActiveTool[]): boolean {
  return ['finish', 'send'].every((name) => tools.some((tool) => tool.name === name)) &&
    /^You (?:lead a plan|are sub-agent [\d-]+ of a plan)\./.test(system);
}

/** The tools of plans: without them, a part of a plan is a task like any other. */
export const planTools: ReadonlySet<string> = new Set(['create', 'send', 'ask_human', 'plan_revise', 'finish']);

/** The next calls of a plan's leader: sub-agents and questions, then the sum; `undefined` for a goal with one part, which it does itself. */
export function leaderCalls({ prompt, tools = [] }: ModelCallOptions): readonly Call[] | undefined {
  const texts = prompt.flatMap((message) =>
    message.role === 'user'
      ? [message.content.flatMap((part) => part.type === 'text' ? [part.text] : []).join('\n')]
      : []
  );
  const goal = texts[0]?.split('\n\n', 1)[0] ?? ''; // the text after an empty line is context
  const pieces = goal.split(
    /\s*((?:[;\n](?:\s*(?:and\s+)?then\s+(?=\p{L}))?|,?\s+(?:and\s+then|and|then)\s+(?=\p{L})))\s*/u,
  );
  const parts = pieces.flatMap((piece, at) => {
    const text = at % 2 === 0 ? piece.replace(/[\s.,]+$/u, '') : '';
    return text === '' ? [] : [{ text, isNext: /then/u.test(pieces[at - 1] ?? '') }];
  });
  if (parts.length < 2 || !tools.some(({ name }) => name === 'create')) return undefined;
  if (!prompt.some(({ role }) => role === 'assistant')) {
    return parts.map(({ text, isNext }, at) => {
      const question = questionIn(text);
      if (question !== undefined) return callOf('ask_human', { question });
      const before = parts[at - 1];
      const after = isNext && before && questionIn(before.text) === undefined ? [`part-${at}`] : [];
      return callOf('create', {
        goal: text,
        key: `part-${at + 1}`,
        onFailure: 'collect',
        ...(after.length > 0 && { after }),
      });
    });
  }
  const [results, cites]: [string[], string[]] = [[], []];
  for (const text of texts.flatMap((one) => one.split(/\n\n(?=The result of |Sub-agent )/))) {
    const [, kind, address = '', key = address, data = ''] =
      /^(The result of sub-agent|Sub-agent) ([\d-]+)(?: \("([^"]+)"\))?[^\n]*\n([^]*)$/.exec(text) ?? [];
    if (kind === undefined) continue;
    results.push(`**${key}** ${kind === 'Sub-agent' ? `failed: ${data}` : data}`);
    if (kind !== 'Sub-agent') cites.push(address);
  }
  const answers = prompt.flatMap((message) => message.role === 'tool' ? message.content : []).flatMap((part) =>
    part.type === 'tool-result' && part.toolName === 'ask_human' && part.output.type === 'text'
      ? [`You said: **${part.output.value}**`]
      : []
  );
  return [callOf('finish', { result: [...results, ...answers].join('\n\n'), cites })];
}

/** "Ask me which port we sail for" is the question "Which port do we sail for?". */
function questionIn(text: string): string | undefined {
  const question = /^ask\s+(?:me|us|a\s+person|somebody|someone):?\s+(.+)$/iu.exec(text)?.[1];
  const auxiliary = '\\b(?:are|were|can|could|will|would|should|may|must|have|had|do|did)\\b';
  const indirect = new RegExp(
    `^((?:what|which|who|where|when|why|how)\\b(?:(?!${auxiliary}).)*?) (I|we|you|they) (?!${auxiliary})`,
    'iu',
  );
  const asked = question?.replace(indirect, '$1 do $2 ');
  return asked && `${asked.charAt(0).toUpperCase()}${asked.slice(1)}?`;
}

const discoveryTools: ReadonlySet<string> = new Set(['tool_find', 'tool_load', 'tool_describe', 'tool_active']);

/** Whether a step only looked for tools. */
export function isDiscovery(calls: readonly { readonly toolName: string }[]): boolean {
  return calls.every(({ toolName }) => discoveryTools.has(toolName));
}

/** Whether the model looks for tools by itself: if `tool_find` says to load what is needed, and the message names none of these tools. */
export function discovers(tools: readonly ActiveTool[], message: string): boolean {
  const find = tools.find(({ name }) => name === 'tool_find');
  return tools.some(({ name }) => name === 'tool_load') && find?.description.includes('tool_load') === true &&
    ![...discoveryTools].some((name) => message.includes(name));
}

/** The next call that finds a tool for a stage, or the name of the one that was found; `null` when none fits. */
export function discoveryFor(stage: string, steps: readonly (readonly PastCall[])[]): Call | string | null {
  const recent = steps.slice(steps.findLastIndex((calls) => !isDiscovery(calls)) + 1).flat();
  const find = recent.findLast(({ toolName }) => toolName === 'tool_find');
  const query = stage.replace(/"[^"]*"/g, '').replace(/\s+/g, ' ').trim().slice(0, 200); // quoted text is input for the tool
  if (!find) return callOf('tool_find', { query, limit: 5 });
  const value = find.outcome?.kind === 'value' && own(find.outcome.value, 'message') === undefined
    ? find.outcome.value
    : undefined;
  const [first] = asList(own(value, 'tools'));
  const name = own(first, 'name');
  if (typeof name !== 'string') return null;
  const load = recent.findLast(({ toolName }) => toolName === 'tool_load');
  if (own(first, 'active') !== true && !load) return callOf('tool_load', { names: [name] });
  return own(first, 'active') === true || load?.outcome?.kind === 'value' ? name : null;
}

/** Queries the sources with the words of the message where no other tool clearly fits, then answers with the words of the hits. */
export function sourcesStep({ message, steps }: Conversation, tools: readonly ActiveTool[]): SceneStep | undefined {
  const calls = steps.flat();
  if (calls.length > 0) {
    const isAnswered = calls.every(({ toolName }) => toolName === 'retrieve') &&
      calls.some(({ outcome }) => outcome?.kind === 'value');
    return isAnswered ? { text: answerFrom(calls, message) } : undefined;
  }
  const tool = tools.find(({ name, fields }) => name === 'retrieve' && fields.some((field) => field.name === 'query'));
  const query = message.replace(/\s+/gu, ' ').trim().slice(0, 400);
  if (!tool || query === '' || chooserOf(tools.filter((other) => other !== tool))(message).some(isPlain)) {
    return undefined;
  }
  return { calls: [callOf('retrieve', { query, topK: 6 })] };
}

/** Below this confidence, a hit is presented as a guess. */
const doubtful = 0.25;
const mostSentences = 3;

function answerFrom(calls: readonly PastCall[], message: string): string {
  const outputs = calls.flatMap(({ outcome }) => outcome?.kind === 'value' ? [outcome.value] : []);
  const sentences = outputs.flatMap((output) => sentencesIn(own(output, 'text'), stemsOf(message)));
  const least = Math.max(...sentences.map(({ score }) => score)) / 2;
  const best = sentences.filter(({ score }) => score > 0 && score >= least).toSorted((a, b) => b.score - a.score);
  const chosen = new Set(
    [...new Map(best.toReversed().map((one) => [one.text, one])).values()].toReversed().slice(0, mostSentences),
  );
  const said = sentences.filter((sentence) => chosen.has(sentence));
  const lead = said.length === 0
    ? ['I found nothing about that in the sources.']
    : ['The sources say little about that. The closest:'];
  const cited = [...Map.groupBy(said, ({ n }) => n)].map(([n, some]) =>
    `${some.map(({ text }) => text).join(' ')} [${n}]`
  );
  const failed = [
    ...calls.flatMap((call) => call.outcome?.kind === 'value' ? [] : [sayFailure(call)]),
    ...outputs.flatMap((output) => asList(own(output, 'sources'))).flatMap((source) => {
      const error = own(source, 'error');
      return error === undefined ? [] : [
        `\`${String(own(source, 'dataSourceId'))}\` did not answer: ${
          stringify(own(error, 'message') ?? error).replace(/^"(.*)"$/su, '$1')
        }`,
      ];
    }),
  ];
  return [...(said.some(({ confidence }) => confidence >= doubtful) ? [] : lead), ...cited, ...failed].join('\n\n');
}

interface Sentence {
  readonly text: string;
  readonly n: number;
  readonly confidence: number;
  readonly score: number;
}

/** Reads `[1] place conf=0.72` and the paragraphs below it. A heading counts for the text below it. */
function sentencesIn(text: unknown, wanted: ReadonlySet<string>): readonly Sentence[] {
  if (typeof text !== 'string') return [];
  const shared = (words: string): number => stemsOf(words).intersection(wanted).size;
  const blocks = text.replaceAll(/^<\/?data [0-9a-f]+>$\n?/gm, '').split(
    /^(?=\[\d{1,6}\] .{1,400} conf=[01]\.\d\d$)/mu,
  );
  return blocks.flatMap((block) => {
    const [head = '', n, confidence] = /^\[(\d+)\] .* conf=([\d.]+)\n?/u.exec(block) ?? [];
    let heading = '';
    return n === undefined
      ? []
      : block.slice(head.length).split(/\n{2,}|\n(?=#)|(?<=^#.*)\n/mu).flatMap((part): Sentence[] => {
        const paragraph = part.replace(/\s+/gu, ' ').trim();
        if (paragraph.startsWith('#')) heading = paragraph.replace(/^#+\s*/u, '');
        if (/^(?:$|[#|]|```)/u.test(paragraph)) return [];
        return paragraph.split(/(?<=[.!?])\s+(?=\p{Lu}|\p{N}|["“`])|(?<=[。！？])/u).map((sentence, at) => {
          const score = (shared(sentence) + 0.6 * shared(heading) - 0.05 * at) * (0.2 + Number(confidence));
          return { text: sentence, n: Number(n), confidence: Number(confidence), score };
        });
      });
  });
}

/** A program for `code_run` that makes several calls at once. */
export function programOf(calls: readonly Call[]): string | undefined {
  if (calls.length < 2 || calls.some(({ toolName, input }) => !isName(toolName) || parseJson(input) === undefined)) {
    return undefined;
  }
  return [
    `// ${calls.length} calls that do not need each other run at once.`,
    'const calls = await Promise.allSettled([',
    ...calls.map(({ toolName, input }) => `  tools.${toolName}(${input}),`),
    ']);',
    'return { results: calls.map(({ value, reason }) => reason ? `failed: ${reason.message}` : value?.text ?? value) };',
  ].join('\n');
}

/** A program that makes a call for each item of a list: "Count the words of every note". */
export function loopOver(message: string, tools: readonly ActiveTool[]): string | undefined {
  const noun = /\b(?:every|each|all)\s+(?:of\s+)?(?:(?:the|my)\s+)?(\p{L}+)/iu.exec(message)?.[1];
  const list = tools.find(({ name }) => name.endsWith('_list') && stem(name.slice(0, -5)) === stem(noun ?? ''));
  const kind = list?.name.slice(0, -5);
  const onlyRequired = (tool: ActiveTool | undefined): string | undefined => {
    const [first, second] = tool?.fields.filter(({ required }) => required) ?? [];
    return first && !second && isName(first.name) ? first.name : undefined;
  };
  const query = /["“]([^"”]{1,200})["”]/u.exec(message)?.[1];
  const isFound = query !== undefined && tools.some(({ name }) => name === `${kind}_search`);
  const removes = /\b(?:delete|remove|erase)\b/iu.test(message);
  const item = tools.find(({ name }) => name === `${kind}_${removes ? 'delete' : 'read'}`);
  const id = onlyRequired(item);
  if (!list || !item || id === undefined) return undefined;
  const measure = /\b(?:count|words?|long|length)\b/iu.test(message)
    ? tools.find((tool) => !tool.name.startsWith(`${kind}_`) && onlyRequired(tool) === 'text')?.name
    : undefined;
  const call = `  return await tools.${item.name}({ ${id} });`;
  return [
    `// One call finds the ${kind}, then there is one for each.`,
    `const page = await ${
      isFound ? `tools.${kind}_search(${JSON.stringify({ query, limit: 50 })})` : `tools.${list.name}({"limit":50})`
    };`,
    'const items = Object.values(page).find(Array.isArray) ?? [];',
    `const ${kind} = await Promise.all(items.map(async ({ ${id} }) => {`,
    ...(removes
      ? ['  try {', `  ${call}`, '  } catch (error) {', `    return { ${id}, failed: error.code };`, '  }']
      : measure === undefined
      ? [call]
      : [
        `  const { title, text } = await tools.${item.name}({ ${id} });`,
        `  const { words, sentences } = await tools.${measure}({ text });`,
        '  return { title, words, sentences };',
      ]),
    '}));',
    `return { ${kind} };`,
  ].join('\n');
}

function isName(text: string): boolean {
  return /^[A-Za-z_]\w*$/u.test(text);
}

/** Writes programs for `code_run`: several calls at once, and one call for each item of a list. */

import { type Answer, answer } from './answer.ts';
import { type ModelCallOptions, readConversation } from './conversation.ts';
import { hashOf } from './random.ts';
import { stem } from './words.ts';

const programTool = 'code_run';

/**
 * Decides on the answer of a model that may write programs. A message about every item of a list becomes a loop over its tools; of
 * other messages, the calls that the model would make in one step become one program. A message that names `code_run` calls it as any
 * other tool.
 */
export function answerWithPrograms(options: ModelCallOptions, seed: number): Answer {
  const { message, steps, callIds } = readConversation(options.prompt);
  if (message.includes(programTool)) return answer(options, seed);
  const tools = options.tools?.filter(({ name }) => name !== programTool) ?? [];
  const direct = (): Answer => answer({ ...options, tools }, seed);
  const loop = steps.length === 0 ? loopOver(message, tools) : undefined;
  const plain = loop === undefined ? direct() : undefined;
  const code = loop ?? (plain && together(plain));
  if (code === undefined) return plain ?? direct();
  const toolCallId = `program-${hashOf(message).toString(36)}-${callIds.size + 1}`;
  return { reasoning: '', text: '', calls: [{ toolCallId, toolName: programTool, input: JSON.stringify({ code }) }] };
}

/** A program of calls that do not need each other. */
function together({ calls }: Answer): string | undefined {
  if (calls.length < 2 || calls.some(({ toolName, input }) => !isName(toolName) || !isJson(input))) return undefined;
  return [
    `// ${calls.length} calls that do not need each other run at once.`,
    'const calls = await Promise.allSettled([',
    ...calls.map(({ toolName, input }) => `  tools.${toolName}(${input}),`),
    ']);',
    'return { results: calls.map(({ value, reason }) => reason ? `failed: ${reason.message}` : value?.text ?? value) };',
  ].join('\n');
}

type Tools = NonNullable<ModelCallOptions['tools']>;

/** A program that makes a call for each item of a list. */
function loopOver(message: string, tools: Tools): string | undefined {
  const noun = /\b(?:every|each|all)\s+(?:of\s+)?(?:(?:the|my)\s+)?(\p{L}+)/iu.exec(message)?.[1];
  const list = tools.find(({ name }) => name.endsWith('_list') && stem(name.slice(0, -5)) === stem(noun ?? ''));
  if (!list) return undefined;
  const kind = list.name.slice(0, -5);
  const query = /["“]([^"”]{1,200})["”]/u.exec(message)?.[1];
  const isFound = query !== undefined && tools.some(({ name }) => name === `${kind}_search`);
  const finds = isFound
    ? `tools.${kind}_search(${JSON.stringify({ query, limit: 50 })})`
    : `tools.${list.name}(${JSON.stringify({ limit: 50 })})`;
  const removes = /\b(?:delete|remove|erase)\b/iu.test(message);
  const item = tools.find(({ name }) => name === `${kind}_${removes ? 'delete' : 'read'}`);
  const id = onlyRequired(item);
  if (!item || id === undefined) return undefined;
  const measure = /\b(?:count|words?|long|length)\b/iu.test(message)
    ? tools.find((tool) => !tool.name.startsWith(`${kind}_`) && onlyRequired(tool) === 'text')
    : undefined;
  return [
    `// One call finds the ${kind}, then there is one for each.`,
    `const page = await ${finds};`,
    'const items = Object.values(page).find(Array.isArray) ?? [];',
    `const ${kind} = await Promise.all(items.map(async ({ ${id} }) => {`,
    ...(removes
      ? [
        '  try {',
        `    return await tools.${item.name}({ ${id} });`,
        '  } catch (error) {',
        `    return { ${id}, failed: error.code };`,
        '  }',
      ]
      : bodyOf(item.name, { id, measure: measure?.name })),
    '}));',
    `return { ${kind} };`,
  ].join('\n');
}

function bodyOf(
  name: string,
  { id, measure }: { readonly id: string; readonly measure: string | undefined },
): readonly string[] {
  if (measure === undefined) return [`  return await tools.${name}({ ${id} });`];
  return [
    `  const { title, text } = await tools.${name}({ ${id} });`,
    `  const { words, sentences } = await tools.${measure}({ text });`,
    '  return { title, words, sentences };',
  ];
}

/** The name of the one field that a call must have. */
function onlyRequired(tool: Tools[number] | undefined): string | undefined {
  const { required = [] } = tool?.type === 'function' ? tool.inputSchema : {};
  const [name] = required;
  return required.length === 1 && name !== undefined && isName(name) ? name : undefined;
}

function isName(text: string): boolean {
  return /^[A-Za-z_]\w*$/u.test(text);
}

function isJson(text: string): boolean {
  try {
    return typeof JSON.parse(text) === 'object';
  } catch {
    return false;
  }
}

/** Counts the lines of ten tasks in `demo/examples/tasks`, and writes the table of `docs/ten-tasks.md`: `node test/tools/ten-tasks.ts`. */

import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';

const root = join(import.meta.dirname, '../..');
const page = join(root, 'docs/ten-tasks.md');

/** The tasks by their regions. */
const tasks: Readonly<Record<string, string>> = {
  'chat-route': 'Serve a chat to `useChat`',
  'tool': 'A tool with a Zod schema',
  'approval': 'A tool that a person must allow',
  'structured-output': 'An answer as data',
  'image': 'A question about an image',
  'fallback': 'Another model when the first fails',
  'budget': 'Stop at a number of tokens',
  'threads': "Store a person's chats",
  'sub-agent': 'An agent as a tool',
  'retry': 'A retry without a second run',
};
/** The columns of the table, with the files that have the code. */
const columns: Readonly<Record<string, string>> = {
  'Pinnace': 'pinnace.ts',
  'AI SDK': 'ai-sdk.ts',
  'Mastra': 'peers/mastra.ts',
  'LangChain': 'peers/langchain.ts',
  'OpenAI Agents': 'peers/openai-agents.ts',
};

/** Returns the lines of each region: those that are not blank. Imports stand outside of regions. */
async function countLines(file: string): Promise<ReadonlyMap<string, number>> {
  const text = await readFile(join(root, 'demo/examples/tasks', file), 'utf8');
  const regions = text.matchAll(/^\/\/ #region (\S+)\n([^]*?)^\/\/ #endregion$/gm);
  return new Map([...regions].map(([, name = '', code = '']) => [
    name,
    code.split('\n').filter((line) => line.trim() !== '').length,
  ]));
}

/** Returns the page with the table of today's files. */
export async function withTable(): Promise<{ readonly before: string; readonly after: string }> {
  const counts = await Promise.all(Object.values(columns).map(countLines));
  const rows = Object.entries(tasks).map(([name, task]) => {
    const cells = counts.map((count) => count.get(name));
    if (cells.includes(undefined)) throw new Error(`A file lacks the region ${name}`);
    return `| ${[task, ...cells].join(' | ')} |`;
  });
  const names = Object.keys(columns);
  const head = [`| task | ${names.join(' | ')} |`, `| --- |${names.map(() => ' --- |').join('')}`];
  const before = await readFile(page, 'utf8');
  const table = `<!-- ten-tasks -->\n\n${[...head, ...rows].join('\n')}\n\n<!-- /ten-tasks -->`;
  return { before, after: before.replace(/<!-- ten-tasks -->[^]*<!-- \/ten-tasks -->/, () => table) };
}

if (process.argv[1] === import.meta.filename) await writeFile(page, (await withTable()).after);

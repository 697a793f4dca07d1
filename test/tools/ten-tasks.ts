/** Counts the lines of ten tasks in `demo/examples/tasks`, and writes the table of `docs/ten-tasks.md`: `node test/tools/ten-tasks.ts`. */

import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';

const root = join(import.meta.dirname, '../..');
const page = join(root, 'docs/ten-tasks.md');

/** The tasks by their regions, with what the code of the AI SDK does not do. */
const tasks: Readonly<Record<string, readonly [task: string, without: string]>> = {
  'chat-route': ['Serve a chat to `useChat`', 'callers, a stored run, resume'],
  'tool': ['A tool with a Zod schema', ''],
  'approval': ['A tool that a person must allow', 'a decision that counts once'],
  'structured-output': ['An answer as data', ''],
  'image': ['A question about an image', ''],
  'fallback': ['Another model when the first fails', 'a streamed answer'],
  'budget': ['Stop at a number of tokens', 'the tokens of tools and sub-agents'],
  'threads': ["Store a person's chats", 'a database, concurrent requests'],
  'sub-agent': ['An agent as a tool', 'approvals and limits inside it'],
  'retry': ['A retry without a second run', 'other instances, a restart'],
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
  const [ours, theirs] = await Promise.all([countLines('pinnace.ts'), countLines('ai-sdk.ts')]);
  const rows = Object.entries(tasks).map(([name, [task, without]]) => {
    const [own, other] = [ours.get(name), theirs.get(name)];
    if (own === undefined || other === undefined) throw new Error(`A file lacks the region ${name}`);
    return `| ${task} | ${own} | ${other} | ${without} |`;
  });
  const head = ["| task | Pinnace | AI SDK | not in the AI SDK's lines |", '| --- | --- | --- | --- |'];
  const before = await readFile(page, 'utf8');
  const table = `<!-- ten-tasks -->\n\n${[...head, ...rows].join('\n')}\n\n<!-- /ten-tasks -->`;
  return { before, after: before.replace(/<!-- ten-tasks -->[^]*<!-- \/ten-tasks -->/, () => table) };
}

if (process.argv[1] === import.meta.filename) await writeFile(page, (await withTable()).after);

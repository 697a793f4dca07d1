import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { textSource } from '../../../adapters/grounding/text.ts';
import { memoryStorage } from '../../../adapters/storage/memory.ts';
import { sampleAgents } from '../../../demo/samples/agents.ts';
import { createGrounding, groundingTools, ingest } from '../../../src/grounding/index.ts';
import type { Tool } from '../../../src/tools/tool.ts';
import { callTool } from '../../fixtures/tools/tool-call.ts';

const docs = join(import.meta.dirname, '../../../docs');

const answered: readonly (readonly [question: string, page: string])[] = [
  ['How do I continue a stream after the connection broke?', 'runs.md'],
  ['Which header makes a repeated request safe?', 'runs.md'],
  ['How do I stop a run that is still going?', 'runs.md'],
  ['How can a person approve a tool call before it happens?', 'approvals.md'],
  ['How do I keep an API key away from the model?', 'secrets.md'],
  ['Can a run continue with another model when the first one fails?', 'models.md'],
  ['How do I connect an MCP server?', 'mcp.md'],
  ['How do I limit what a run may spend?', 'budgets.md'],
  ['What happens when a conversation gets too long for the model?', 'context.md'],
  ['How do I get JSON that follows a schema?', 'output.md'],
  ['How do I deploy the endpoint with Docker?', 'deploy.md'],
  ['How can users attach images to a message?', 'attachments.md'],
  ['How do I search a code repository?', 'grounding.md'],
  ['How do I send metrics to Prometheus?', 'watching.md'],
  ['Can I send a message to an agent while it is running?', 'steering.md'],
];

/** Questions that no page answers. */
const unanswerable: readonly string[] = [
  'What is the capital of Burkina Faso?',
  'How do I bake sourdough bread at home?',
  'Which vaccines do I need before a trip to Kenya?',
  'How do I train a neural network on my own photos?',
  'What does a commercial support contract cost?',
  'How do I write a WordPress plugin?',
  'When was the French Revolution?',
  'How do I compile the runtime for iOS with Swift?',
  'Who won the football world cup in 2014?',
  'Which Helm chart installs it on Kubernetes?',
  'How do I tune the garbage collector of the JVM?',
  'How do I sell my used car?',
  'Can it render 3D scenes with WebGPU shaders?',
  'How do I file my income taxes in Germany?',
  'What is the best time to prune roses?',
];

interface Found {
  readonly text: string;
  readonly answered: number;
  readonly citations: readonly { readonly uri: string; readonly confidence: number }[];
}

describe('Almanac, asked about these docs', () => {
  let retrieve: Tool;
  const ask = async (query: string): Promise<Found> => {
    const outcome = await callTool(retrieve, { query });
    if (!outcome.ok) throw new Error(outcome.error.message);
    return outcome.output as Found; // safe: what the tool returns
  };

  beforeAll(async () => {
    const { dataSources } = sampleAgents.find(({ id }) => id === 'almanac')!;
    const [id] = dataSources!;
    const storage = memoryStorage();
    const grounding = createGrounding({ sources: [textSource({ id: id!, storage })] });
    const names = (await readdir(docs)).filter((name) => name.endsWith('.md'));
    const files = names.map((name) => ({ name, text: () => readFile(join(docs, name), 'utf8') }));
    await ingest(grounding, { dataSourceId: id!, files, storage });
    [retrieve] = groundingTools(grounding, { dataSources: [id!] }) as [Tool];
  });

  it('reads a page that has the answer for at least 13 of 15 questions, and takes them for answered', async () => {
    const found = await Promise.all(answered.map(async ([question, page]) => ({ page, ...await ask(question) })));
    const read = found.filter(({ page, citations }) => citations.some(({ uri }) => uri === page));
    expect(read.length).toBeGreaterThanOrEqual(13);
    const believed = found.filter(({ text }) => !text.startsWith('Probably not in the sources'));
    expect(believed.length).toBeGreaterThanOrEqual(14);
  });

  it('reports for at least 13 of 15 questions that the sources probably do not answer them', async () => {
    const found = await Promise.all(unanswerable.map(ask));
    const told = found.filter(({ text }) => /^(Probably not in the sources|Nothing was found)/.test(text));
    expect(told.length).toBeGreaterThanOrEqual(13);
    for (const { answered: chance, text } of told) {
      if (text.startsWith('Probably')) expect(chance).toBeLessThanOrEqual(0.5);
    }
  });
});

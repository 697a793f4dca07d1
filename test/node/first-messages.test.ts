/** What a visitor types first, at the sample agents with their tools and the scripted model. */

import { describe, expect, it } from 'vitest';
import { staticCatalog } from '../../adapters/catalog/static.ts';
import { modelSource } from '../../adapters/models/source.ts';
import { memoryStorage } from '../../adapters/storage/memory.ts';
import { sampleAgents, sampleProviders } from '../../demo/samples/agents.ts';
import { sampleTools } from '../../demo/tools/index.ts';
import { storedTrees } from '../../demo/tree/worker/stored-trees.ts';
import { treeAgentId } from '../../demo/tree/worker/tools.ts';
import { createGrounding, createRuntime, localPrincipal } from '../../src/index.ts';
import { fakeSource } from '../fixtures/grounding-source.ts';
import { readAll } from '../fixtures/runtime.ts';

/** 1 December 2026, 12:00 UTC. */
const now = (): number => Date.UTC(2026, 11, 1, 12) + passedMs;
/** What a look at the clock takes: on a busy machine a search of the tree ends a page before it has found anything. */
let lookMs = 0;
let passedMs = 0;
const storage = memoryStorage();
const runtime = createRuntime({
  catalog: staticCatalog({ agents: sampleAgents, providers: sampleProviders }),
  models: modelSource(),
  storage,
  tools: sampleTools({ storage, now, callTree: storedTrees(storage, treeAgentId, () => (passedMs += lookMs, now())) }),
  grounding: createGrounding({ sources: [fakeSource('knowledge', [])] }),
});

let chats = 0;

async function ask(
  agentId: string,
  text: string,
): Promise<{ readonly said: string; readonly called: readonly string[] }> {
  const messages = [{ id: 'm1', role: 'user' as const, parts: [{ type: 'text' as const, text }] }];
  const chunks = await readAll(
    await runtime.run({ agentId, chat: { id: `first-${++chats}`, messages } }, localPrincipal()),
  );
  return {
    said: chunks.map((chunk) => chunk.type === 'text-delta' ? chunk.delta : '').join(''),
    called: chunks.flatMap((chunk) => chunk.type === 'tool-input-available' ? [chunk.toolName] : []),
  };
}

const greets = /^Hello! I am a scripted demo/;
const introduces = /I am a scripted demo, not an AI model.*I can use: calculator/;
const needsModel = /needs an AI model.*Connect a model/;
const cannotAnswer = /I cannot answer that.*Connect a model/;
const readsEnglish = /^I read English only.*Connect a model/;
const noTool = /^I found no tool for that/;

const inWords: readonly (readonly [message: string, said: RegExp])[] = [
  ['hello', greets],
  ['Hi!', greets],
  ['hey there', greets],
  ['good morning', greets],
  ['what can you do', introduces],
  ['help', introduces],
  ['who are you?', introduces],
  ['Are you ChatGPT?', introduces],
  ['tell me about yourself', introduces],
  ['how are you?', /^Always the same/],
  ['thanks!', /welcome/],
  ['Thank you very much', /welcome/],
  ['ok', /^Tell me what to do/],
  ['test', /^Tell me what to do/],
  ['Write a haiku about the sea', needsModel],
  ['tell me a joke', needsModel],
  ['Write me a short poem', needsModel],
  ['Write a python function to reverse a string', needsModel],
  ['explain quantum computing', needsModel],
  ['translate hello to French', needsModel],
  ['Summarize this text: The quick brown fox jumps over the lazy dog. It was a sunny day.', needsModel],
  ['Summarise this text: Pinnaces were small boats that ships carried.', needsModel],
  ['What is the weather in Paris?', /No tool here knows the weather/],
  ['weather', /No tool here knows the weather/],
  ['is it going to rain tomorrow?', /No tool here knows the weather/],
  ['any news today', /No tool here knows the news/],
  ['What is the capital of France?', cannotAnswer],
  ['who won the world cup', cannotAnswer],
  ['what is the meaning of life', cannotAnswer],
  ['Wie wird das Wetter in Berlin?', readsEnglish],
  ['Erkläre mir bitte, was ein Vektor ist', readsEnglish],
  ['Quelle est la capitale de la France ?', readsEnglish],
  ['¿Cuál es la capital de Francia?', readsEnglish],
  ['Какая сегодня погода?', readsEnglish],
  ['東京の天気は？', readsEnglish],
  ['What does “c’est la vie” mean?', cannotAnswer],
  ['asdf', noTool],
  ['add a note buy milk', noTool],
  ['give me 5!', noTool],
  ['Plan a day trip to Bergen', noTool],
];

const byTool: readonly (readonly [message: string, tool: string, said: RegExp])[] = [
  ['what time is it', 'current_time', /^It is \d\d:\d\d.* on Tuesday, 2026-12-01/],
  ['what is the time', 'current_time', /^It is .*Tuesday/],
  ['What day is it today?', 'current_time', /^It is .*Tuesday/],
  ['What time is it in Tokyo?', 'current_time', /^It is 21:00 on Tuesday, 2026-12-01 in Tokyo/],
  ['hello, what time is it?', 'current_time', /^It is .*Tuesday/],
  ["what is today's date", 'date_math', /2026-12-01 is a Tuesday/],
  ['How many days until 24 December?', 'date_math', /23 days/],
  ['how many days until Dec 24', 'date_math', /23 days/],
  ['how many days until Christmas', 'date_math', /24 days/],
  ['How many days between 2026-11-20 and 2026-12-24?', 'date_math', /34 days/],
  ['what weekday is 24 December', 'date_math', /Thursday/],
  ['what is 2+2', 'calculator', /2\+2 = 4/],
  ['6*7', 'calculator', /6\*7 = 42/],
  ['what is 15% of 80', 'calculator', /= 12/],
  ['What is the square root of 144?', 'calculator', /sqrt\(144\) = 12/],
  ['sqrt(2)^2 + 3!', 'calculator', /= 8\.$/],
  ['what is 5!', 'calculator', /^5! = 120/],
  ['2 to the power of 10', 'calculator', /= 1024/],
  ['12 squared', 'calculator', /= 144/],
  ['12x12', 'calculator', /= 144/],
  ['1,250 + 3,400', 'calculator', /= 4650/],
  ['tip of 20% on 54', 'calculator', /= 10\.8/],
  ['what date is in 3 weeks', 'date_math', /Tuesday, 2026-12-22/],
  ['what day was 1 january 2000', 'date_math', /Saturday/],
  ['days between 1 may and 3 june 2026', 'date_math', /33 days/],
  ['convert 5 miles to km', 'convert_units', /5 miles = 8\.04672 kilometers/],
  ['how many km are 10 miles', 'convert_units', /16\.09344/],
  ['How many words are in "to be or not to be"?', 'text_stats', /^6 words/],
  ['How many words in: one two three four', 'text_stats', /^4 words/],
  ['how many words in this: the cat sat on the mat', 'text_stats', /^6 words/],
];

describe('the first message to the scripted demo', () => {
  it.each(inWords)('“%s” is answered in a few plain words', async (message, expected) => {
    const { said, called } = await ask('navigator', message);
    expect(called).toEqual([]);
    expect(said.replaceAll('\n', ' ')).toMatch(expected);
    expect(said.split(/\s+/).length).toBeLessThan(60);
  });

  it.each(byTool)('“%s” calls %s and answers in one sentence', async (message, tool, expected) => {
    const { said, called } = await ask('navigator', message);
    expect(called).toEqual([tool]);
    expect(said).toMatch(expected);
    expect(said.split(/\s+/).length).toBeLessThan(30);
  });

  it.each([
    ['What time is it in Tokyo and New York?', /in Tokyo[^]*in New York/],
    ['what time is it in new york and london', /in New York[^]*in London/],
    ['time in sydney & berlin', /in Sydney[^]*in Berlin/],
    ['convert 5 kg and 3 stone to pounds', /5 kilograms = 11[^]*3 stone = 42 pounds/],
  ])('makes two calls for “%s”', async (message, expected) => {
    const { said, called } = await ask('navigator', message);
    expect(called).toHaveLength(2);
    expect(said).toMatch(expected);
  });

  it('says what it made, shows it, and asks which one to delete', async () => {
    expect((await ask('logbook', 'Add a note: buy milk')).said).toBe('Done: **buy milk** (`note-1`).');
    expect((await ask('logbook', 'show my notes')).called).toEqual(['notes_list']);
    const { said, called } = await ask('logbook', 'delete the note buy milk');
    expect([said, called]).toEqual([expect.stringMatching(/^To call `notes_delete` I need `noteId`/), []]);
  });

  it('lists the open tasks of the tree, and says that tasks have no due dates', async () => {
    const next = await ask('bosun', 'What should I do next?');
    expect(next.called).toEqual(['search']);
    expect(next.said).toMatch(/^The first 10 open:\n\n- .+ \(.+\)/);
    expect((await ask('bosun', 'What is overdue?')).said).toMatch(/^Tasks have no due dates here\. The first 10 open:/);
  });

  it('goes on with a search of the tree that takes long', async () => {
    lookMs = 60;
    expect((await ask('bosun', 'Rename "Purchasing" to "Stores"')).said).toBe('“Purchasing” is now called “Stores”.');
    const { said, called } = await ask('bosun', 'Find "Stores"');
    expect(said).toMatch(/^I found 1 called “Stores”/);
    expect(called.length).toBeGreaterThan(1);
    lookMs = 0;
  });

  it('does not search documents for a greeting', async () => {
    const { said, called } = await ask('almanac', 'hello');
    expect(called).toEqual([]);
    expect(said).toMatch(greets);
  });
});

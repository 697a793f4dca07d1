/** The data sources of the knowledge, as records and as descriptions for agents. */

import type { DataSourceInput } from '../../../src/index.ts';

/** Documents by their words: there is one of this id on every endpoint, too. */
export const knowledge = {
  id: 'knowledge',
  name: 'Knowledge',
  kind: 'text',
  description:
    'What Pinnace is and does: runs and retries, approvals, secrets, budgets, knowledge; and what was added since',
  tags: ['sample'],
} as const satisfies DataSourceInput;

/** The same documents by their likeness, in the page. */
const likeness = {
  id: 'knowledge-likeness',
  name: 'Knowledge by similarity',
  kind: 'vector',
  description: 'The same documents, found by similar words: misspelled words, other forms',
  tags: ['sample'],
} as const satisfies DataSourceInput;

/** The code that a person has added, in the page. */
const code = {
  id: 'knowledge-code',
  name: 'Code',
  kind: 'code',
  description: 'Code that was added: symbols, words, "exact text", /expressions/',
  tags: ['sample'],
} as const satisfies DataSourceInput;

/** Those that only the page has. */
export const pageDataSources: readonly DataSourceInput[] = [likeness, code];

/** Their ids, by how they search. */
export const sourceIds = { words: knowledge.id, likeness: likeness.id, code: code.id } as const;

/** Their descriptions for agents, by id. */
export const descriptions: Readonly<Record<string, string>> = Object.fromEntries(
  [knowledge, likeness, code].map(({ id, description }) => [id, description]),
);

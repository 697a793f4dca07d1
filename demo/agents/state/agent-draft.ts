/** What the editor of an agent offers beside its fields: tools by search, whole tool sets, servers, files, and templates. */

import { batch, computed, type ReadonlySignal, type Signal, signal } from '@preact/signals';
import type { RecordKind } from '../../../src/registry/index.ts';
import type { AnyRecord, RegistryControl } from '../../control/registry-control.ts';
import type { RecordForm } from './record-form.ts';
import { type Template, templates } from './templates.ts';

/** Tools with a common id prefix; the agent finds them by search. */
export interface ToolSet {
  /** The allowlist entry: `desk_*`. */
  readonly pattern: string;
  readonly count: number;
}

/** An agent while it is made or changed. */
export interface AgentDraft {
  readonly id: string | undefined;
  readonly form: RecordForm;
  readonly control: RegistryControl;
  /** The agent as it is written now. */
  readonly written: ReadonlySignal<object>;
  /** The message to the preview that is being written. */
  readonly message: Signal<string>;
  readonly query: ReadonlySignal<string>;
  /** The first tools that match. */
  readonly tools: ReadonlySignal<readonly AnyRecord[]>;
  readonly hasMore: ReadonlySignal<boolean>;
  /** The largest first. */
  readonly sets: ReadonlySignal<readonly ToolSet[]>;
  /** How many tools there are. */
  readonly total: ReadonlySignal<number>;
  readonly servers: ReadonlySignal<readonly AnyRecord[]>;
  readonly sources: ReadonlySignal<readonly AnyRecord[]>;
  /** The template that was chosen last. */
  readonly template: ReadonlySignal<Template | undefined>;
  /** Whether nothing is written yet besides what a template filled in. */
  readonly isUnwritten: ReadonlySignal<boolean>;
  load(): Promise<void>;
  search(query: string): Promise<void>;
  /** Fills in the form from a template, and a message for the preview. */
  use(template: Template): void;
  /** Whether a field of lines, as `entryTools`, has an entry. */
  has(field: string, entry: string): boolean;
  add(field: string, entry: string): void;
  toggle(field: string, entry: string): void;
}

/** The patterns of the discovery tools: who has them starts with these four. */
export const discoveryPattern = 'tool_*';

/** The fewest tools of a set. */
const setFrom = 20;
const shown = 6;
const pageSize = 200;
const maxPages = 20;

/** Creates the draft. Calls the worker only from `load` on. */
export function createAgentDraft({ control, form, id }: Pick<AgentDraft, 'control' | 'form' | 'id'>): AgentDraft {
  const query = signal('');
  const tools = signal<readonly AnyRecord[]>([]);
  const hasMore = signal(false);
  const sets = signal<readonly ToolSet[]>([]);
  const total = signal(0);
  const servers = signal<readonly AnyRecord[]>([]);
  const sources = signal<readonly AnyRecord[]>([]);
  const message = signal('');
  const template = signal<Template | undefined>(undefined);
  const filled = new Set(templates.flatMap(({ values }) => Object.keys(values)));
  const holds = (expected: Template['values']): boolean =>
    [...filled].every((field) => (form.values.value[field] ?? '') === (expected[field] ?? ''));
  let turn = 0;
  let popular: readonly AnyRecord[] = [];

  async function search(words: string): Promise<void> {
    query.value = words;
    const mine = ++turn;
    const text = words.trim();
    if (text === '') {
      tools.value = popular.slice(0, shown);
      hasMore.value = popular.length > shown;
      return;
    }
    const answer = await control.list('tool', { limit: shown, text }).catch(() => undefined);
    if (mine !== turn || !answer?.ok) return;
    tools.value = answer.value.items;
    hasMore.value = answer.value.nextPageToken !== undefined;
  }

  function entries(field: string): readonly string[] {
    return (form.values.value[field] ?? '').split('\n').map((entry) => entry.trim()).filter((entry) => entry !== '');
  }

  function add(field: string, entry: string): void {
    if (!entries(field).includes(entry)) form.set(field, [...entries(field), entry].join('\n'));
  }

  return {
    id,
    form,
    control,
    written: computed(() => (form.values.value, form.draft())),
    message,
    query,
    tools,
    hasMore,
    sets,
    total,
    servers,
    sources,
    template,
    isUnwritten: computed(() =>
      form.isNew && (holds({}) || (template.value !== undefined && holds(template.value.values)))
    ),
    search,
    async load() {
      const [all, agents, mcp, data] = await Promise.all([
        allTools(control),
        listed(control, 'agent'),
        listed(control, 'mcpServer'),
        listed(control, 'dataSource'),
      ]);
      popular = byUse(all, agents);
      batch(() => {
        total.value = all.length;
        sets.value = setsOf(all.map((tool) => tool.id));
        servers.value = mcp;
        sources.value = data;
      });
      await search(query.value);
    },
    use(next) {
      batch(() => {
        for (const field of filled) form.set(field, next.values[field] ?? '');
        template.value = next;
        message.value = next.tryWith;
      });
    },
    has: (field, entry) => entries(field).includes(entry),
    add,
    toggle(field, entry) {
      if (!entries(field).includes(entry)) return add(field, entry);
      form.set(field, entries(field).filter((other) => other !== entry).join('\n'));
    },
  };
}

/** An id made of the name that no other agent has. */
export async function freeId(name: string, control: Pick<RegistryControl, 'get'>): Promise<string> {
  const words = name.normalize('NFKD').toLowerCase().replaceAll(/[^a-z0-9]+/g, '-').replaceAll(/^-+|-+$/g, '');
  const base = words.slice(0, 40) || 'agent';
  for (let n = 1; n < 50; n++) {
    const id = n === 1 ? base : `${base}-${n}`;
    const found = await control.get('agent', id).catch(() => undefined);
    if (found?.ok === false && found.error.code === 'not_found') return id;
  }
  return '';
}

async function listed(control: RegistryControl, kind: RecordKind): Promise<readonly AnyRecord[]> {
  const page = await control.list(kind, { limit: pageSize }).catch(() => undefined);
  return page?.ok ? page.value.items : [];
}

/** The tools that most agents use come first. */
function byUse(tools: readonly AnyRecord[], agents: readonly AnyRecord[]): readonly AnyRecord[] {
  const entries = agents.flatMap((agent) => 'entryTools' in agent ? agent.entryTools : []);
  const uses = Map.groupBy(entries, (entry) => entry);
  return tools.toSorted((a, b) => (uses.get(b.id)?.length ?? 0) - (uses.get(a.id)?.length ?? 0));
}

async function allTools(control: RegistryControl): Promise<readonly AnyRecord[]> {
  const tools: AnyRecord[] = [];
  let pageToken: string | undefined;
  for (let page = 0; page < maxPages; page++) {
    const query = { limit: pageSize, ...(pageToken !== undefined && { pageToken }) };
    const answer = await control.list('tool', query).catch(() => undefined);
    if (!answer?.ok) break;
    tools.push(...answer.value.items);
    pageToken = answer.value.nextPageToken;
    if (pageToken === undefined) break;
  }
  return tools;
}

function setsOf(ids: readonly string[]): readonly ToolSet[] {
  const prefixed = ids.filter((id) => /^[A-Za-z0-9-]+_/.test(id));
  return [...Map.groupBy(prefixed, (id) => id.slice(0, id.indexOf('_') + 1))]
    .map(([prefix, { length }]) => ({ pattern: `${prefix}*`, count: length }))
    .filter(({ count }) => count >= setFrom)
    .toSorted((a, b) => b.count - a.count);
}

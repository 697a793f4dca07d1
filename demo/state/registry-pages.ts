/** The registry's pages: which list is shown, which record is open, and what can be done with it. */

import { batch, type ReadonlySignal, signal } from '@preact/signals';
import type { Agent, HistoryEntry, Page, RegistryQuery, ToolDefinition } from '../../src/index.ts';
import type { Answer, FoundAgent, PageKind, RegistryControl } from '../registry/control.ts';
import { type AgentForm, createAgentForm } from './agent-form.ts';

/** Which records the list shows. */
export interface Filter {
  readonly text: string;
  readonly tag: string;
  readonly visibility: '' | NonNullable<RegistryQuery['visibility']>;
  readonly state: '' | NonNullable<RegistryQuery['state']>;
}

/** The records of a list so far. */
export interface Listing {
  readonly items: readonly (Agent | ToolDefinition)[];
  readonly nextPageToken?: string;
}

/** The record that is open. */
export type Opened =
  | { readonly kind: 'agent'; readonly found: FoundAgent; readonly history: Page<HistoryEntry> }
  | { readonly kind: 'tool'; readonly tool: ToolDefinition };

/** The pages' state, and what can be done in them. */
export interface RegistryPages {
  readonly kind: ReadonlySignal<PageKind>;
  readonly filter: ReadonlySignal<Filter>;
  /** `undefined` until the first answer. */
  readonly listing: ReadonlySignal<Listing | undefined>;
  readonly opened: ReadonlySignal<Opened | undefined>;
  /** Present while the open agent is being changed. */
  readonly form: ReadonlySignal<AgentForm | undefined>;
  /** Why the latest thing that the person did failed. */
  readonly problem: ReadonlySignal<string | undefined>;
  show(kind: PageKind): Promise<void>;
  narrow(filter: Partial<Filter>): Promise<void>;
  more(): Promise<void>;
  open(kind: PageKind, id: string): Promise<void>;
  moreHistory(): Promise<void>;
  setState(state: 'active' | 'disabled'): Promise<void>;
  edit(): void;
  save(): Promise<void>;
  /** Leaves the form, without what was changed in it. */
  discard(): void;
  /** Goes back to the list. */
  close(): Promise<void>;
}

interface RegistryPagesOptions {
  readonly control: RegistryControl;
  /** Called after a change of an agent. */
  readonly onChanged: () => void;
  readonly announce: (text: string) => void;
}

const everything: Filter = { text: '', tag: '', visibility: '', state: '' };
const pageSize = 50;

/** Gives the pages; nothing is asked of the worker before `show`. */
export function createRegistryPages({ control, onChanged, announce }: RegistryPagesOptions): RegistryPages {
  const kind = signal<PageKind>('agent');
  const filter = signal(everything);
  const listing = signal<Listing | undefined>(undefined);
  const opened = signal<Opened | undefined>(undefined);
  const form = signal<AgentForm | undefined>(undefined);
  const problem = signal<string | undefined>(undefined);
  let asked = 0;

  /** Gives the value, or says what is wrong. */
  async function ask<T>(asking: Promise<Answer<T>>): Promise<T | undefined> {
    const answer = await asking.catch(() => undefined);
    problem.value = answer?.ok ? undefined : `${answer?.error.message ?? 'The registry does not answer'}.`;
    return answer?.ok ? answer.value : undefined;
  }

  async function list(pageToken?: string): Promise<void> {
    const turn = ++asked;
    const query = { ...queryOf(filter.value), limit: pageSize, ...(pageToken !== undefined && { pageToken }) };
    const page = await ask<Listing>(kind.value === 'agent' ? control.agents(query) : control.tools(query));
    if (!page || turn !== asked) return; // another filter was chosen meanwhile
    const before = pageToken === undefined ? [] : listing.value?.items ?? [];
    listing.value = { ...page, items: [...before, ...page.items] };
  }

  async function open(of: PageKind, id: string): Promise<void> {
    const next = await (of === 'agent' ? openAgent(id) : openTool(id));
    if (!next) return;
    batch(() => {
      form.value = undefined;
      opened.value = next;
    });
  }

  async function openAgent(id: string): Promise<Opened | undefined> {
    const found = await ask(control.agent(id));
    return found && { kind: 'agent', found, history: await ask(control.history(id)) ?? { items: [] } };
  }

  async function openTool(id: string): Promise<Opened | undefined> {
    const tool = await ask(control.tool(id));
    return tool && { kind: 'tool', tool };
  }

  return {
    kind,
    filter,
    listing,
    opened,
    form,
    problem,
    async show(next) {
      batch(() => {
        if (next !== kind.value) {
          filter.value = everything;
          listing.value = undefined;
        }
        kind.value = next;
        opened.value = undefined;
        form.value = undefined;
      });
      await list();
    },
    async narrow(more) {
      filter.value = { ...filter.value, ...more };
      await list();
    },
    more: () => list(listing.value?.nextPageToken),
    open,
    async moreHistory() {
      const before = opened.value;
      if (before?.kind !== 'agent') return;
      const page = await ask(control.history(before.found.agent.id, before.history.nextPageToken));
      if (!page || opened.value !== before) return;
      opened.value = { ...before, history: { ...page, items: [...before.history.items, ...page.items] } };
    },
    async setState(state) {
      if (!opened.value) return;
      const { kind: of } = opened.value;
      const record = recordOf(opened.value);
      await ask(control.setState(of, record.id, state));
      if (problem.value !== undefined) return;
      announce(`${nameOf(record)} is ${state === 'active' ? 'enabled' : 'disabled'}`);
      onChanged();
      await open(of, record.id);
    },
    edit() {
      if (opened.value?.kind !== 'agent') return;
      const { found: { agent } } = opened.value;
      const update: Parameters<typeof createAgentForm>[0]['update'] = (...change) =>
        control.updateAgent(agent.id, ...change);
      form.value = createAgentForm({ agent, update });
    },
    async save() {
      const agent = await form.value?.save();
      if (!agent) return;
      announce(`${agent.name} is saved`);
      onChanged();
      await open('agent', agent.id);
    },
    discard() {
      form.value = undefined;
    },
    async close() {
      opened.value = undefined;
      await list();
    },
  };
}

/** The record that is open. */
export function recordOf(opened: Opened): Agent | ToolDefinition {
  return opened.kind === 'agent' ? opened.found.agent : opened.tool;
}

/** What people call a record. */
export function nameOf(record: Agent | ToolDefinition): string {
  return 'title' in record && record.title !== undefined ? record.title : record.name;
}

/** What a record is tagged with; a tool's keywords are its tags. */
export function tagsOf(record: Agent | ToolDefinition): readonly string[] {
  return 'tags' in record ? record.tags : record.keywords;
}

function queryOf({ text, tag, visibility, state }: Filter): RegistryQuery {
  const words = text.trim();
  const only = tag.trim();
  return {
    ...(words !== '' && { text: words }),
    ...(only !== '' && { tags: [only] }),
    ...(visibility !== '' && { visibility }),
    ...(state !== '' && { state }),
  };
}

/** The registry's pages: which list is shown, which record is open, and what can be done with it. */

import { batch, type ReadonlySignal, signal } from '@preact/signals';
import type { HistoryEntry, RecordKind, RegistryQuery } from '../../../src/registry/index.ts';
import type { Page } from '../../../src/runtime/index.ts';
import { problemOf } from '../../kit/answer-problem.ts';
import { sealSecret } from '../../mcp/seal-secret.ts';
import { createVaultPage, type VaultPage } from '../../vault/state/vault-page.ts';
import type { Answer } from '../../control/answer.ts';
import type { AnyRecord, FoundRecord, RegistryControl } from '../../control/registry-control.ts';
import { type AgentDraft, createAgentDraft, freeId } from './agent-draft.ts';
import { tryRecord } from './live-check.ts';
import { createMcpCheck, type McpCheck } from './mcp-check.ts';
import type { FieldValues } from './record-fields.ts';
import { type Choices, createRecordForm, type RecordForm } from './record-form.ts';
import { nameOf } from './record-words.ts';
import { createTransfer, type Transfer } from './transfer.ts';

/** What there is besides lists of records. */
export type Section = RecordKind | 'vault' | 'transfer';

export interface Opened {
  readonly kind: RecordKind;
  readonly found: FoundRecord;
  readonly history: Page<HistoryEntry>;
  /** Of an MCP server. */
  readonly check: McpCheck;
}

/** The pages' state, and what can be done in them. */
export interface RegistryPages {
  readonly section: ReadonlySignal<Section>;
  readonly filter: ReadonlySignal<Filter>;
  /** `undefined` until the first answer. */
  readonly listing: ReadonlySignal<Listing | undefined>;
  readonly opened: ReadonlySignal<Opened | undefined>;
  /** Present while a record is being made or changed. */
  readonly form: ReadonlySignal<RecordForm | undefined>;
  /** The agent in the form, or the one that waits while a tool, a server or a model is made for it. */
  readonly agent: ReadonlySignal<AgentDraft | undefined>;
  /** Why the latest action failed. */
  readonly problem: ReadonlySignal<string | undefined>;
  /** The way to the worker's registry, or to an endpoint's. */
  readonly control: RegistryControl;
  /** Whether it is the registry of the page's worker, which has the vault and tries tools. */
  readonly isHere: boolean;
  readonly vault: VaultPage;
  readonly transfer: Transfer;
  show(section: Section): Promise<void>;
  setFilter(filter: Partial<Filter>): Promise<void>;
  more(): Promise<void>;
  open(kind: RecordKind, id: string): Promise<void>;
  moreHistory(): Promise<void>;
  setState(state: 'active' | 'disabled'): Promise<void>;
  /** Removes the open record, and goes back to the list. */
  remove(): Promise<void>;
  /** Starts a new record of the listed kind. A new agent that was left is as it was left. */
  start(): Promise<void>;
  edit(): Promise<void>;
  /** Starts a record for the agent in the form, which waits meanwhile. */
  make(kind: RecordKind, preset?: FieldValues): Promise<void>;
  /** Selects the open record in the agent that waits, or in a new one. */
  useInAgent(): Promise<void>;
  /** Saves the form. `undefined`: it was refused, and says why. */
  save(): Promise<AnyRecord | undefined>;
  /** Leaves the form, without what was changed in it. */
  discard(): void;
  /** Goes one step up. Returns whether it could: changes of a stored record, or of one made for an agent, are not dropped. */
  leave(): boolean;
  /** Goes back to the list. */
  close(): Promise<void>;
}

interface RegistryPagesOptions {
  readonly control: RegistryControl;
  readonly isHere?: boolean;
  /** Called after a change. */
  readonly onChanged: () => void;
  readonly announce: (text: string) => void;
}

const pageSize = 50;

/** Creates the pages. Calls the worker only from `show` on. */
export function createRegistryPages(
  { control, isHere = true, onChanged, announce }: RegistryPagesOptions,
): RegistryPages {
  const section = signal<Section>('agent');
  const filter = signal(everything);
  const listing = signal<Listing | undefined>(undefined);
  const opened = signal<Opened | undefined>(undefined);
  const form = signal<RecordForm | undefined>(undefined);
  const agent = signal<AgentDraft | undefined>(undefined);
  /** The page of the agent that waits, if it is stored. */
  let below: Opened | undefined;
  /** A new agent that was left with something written. */
  let left: AgentDraft | undefined;
  const problem = signal<string | undefined>(undefined);
  const vault = createVaultPage({ control, announce });
  const transfer = createTransfer({ control, onChanged, announce });
  let turns = 0;

  /** Returns the value, or says what is wrong. */
  async function answerOf<T>(asking: Promise<Answer<T>>): Promise<T | undefined> {
    const answer = await asking.catch(() => undefined);
    problem.value = problemOf(answer, 'The registry did not respond');
    return answer?.ok ? answer.value : undefined;
  }

  async function list(pageToken?: string): Promise<void> {
    const kind = section.value;
    if (kind === 'vault') return await vault.load();
    if (kind === 'transfer') return;
    const turn = ++turns;
    const query = { ...queryOf(filter.value), limit: pageSize, ...(pageToken !== undefined && { pageToken }) };
    const page = await answerOf<Listing>(control.list(kind, query));
    if (!page || turn !== turns) return; // another filter was chosen meanwhile
    const before = pageToken === undefined ? [] : listing.value?.items ?? [];
    listing.value = { ...page, items: [...before, ...page.items] };
  }

  async function open(kind: RecordKind, id: string, check?: McpCheck): Promise<void> {
    const found = await answerOf(control.get(kind, id));
    const history = found && await answerOf(control.history(kind, id));
    if (!found || !history) return;
    batch(() => {
      form.value = undefined;
      opened.value = { kind, found, history, check: check ?? checkOf(id) };
    });
  }

  function checkOf(serverId: string): McpCheck {
    const check = createMcpCheck({
      validate: (request) => control.validate(serverId, request),
      async onApproved() {
        onChanged();
        await open('mcpServer', serverId, check);
      },
    });
    return check;
  }

  async function close(): Promise<void> {
    opened.value = undefined;
    await list();
  }

  async function startForm(kind: RecordKind, { record, preset }: FormStart = {}): Promise<void> {
    const next = await openRecordForm(control, kind, { record, preset });
    batch(() => {
      form.value = next;
      if (kind === 'agent') agent.value = createAgentDraft({ control, form: next, id: record?.id });
    });
    if (kind === 'agent') await agent.value?.load();
  }

  async function startAgent(preset?: FieldValues): Promise<void> {
    if (!left) return await startForm('agent', { preset });
    for (const [field, entry] of Object.entries(preset ?? {})) left.add(field, entry);
    batch(() => {
      form.value = left?.form;
      agent.value = left;
    });
    await agent.value?.load();
  }

  /** Goes back to the agent that waits. */
  function resume(draft: AgentDraft): void {
    batch(() => {
      opened.value = below;
      form.value = draft.form;
    });
    void draft.load();
  }

  function clear(): void {
    batch(() => {
      form.value = undefined;
      agent.value = undefined;
    });
    below = undefined;
  }

  const waiting = (): AgentDraft | undefined => agent.peek()?.form === form.peek() ? undefined : agent.peek();

  /** What was made is the agent's at once; the tools of a server are approved first. */
  async function give(record: AnyRecord, { kind }: RecordForm, draft: AgentDraft): Promise<void> {
    if (kind === 'mcpServer') {
      await open(kind, record.id);
      return void opened.value?.check.look();
    }
    if (kind === 'provider') draft.form.offerProvider(record.id);
    else draft.add(kind === 'tool' ? 'entryTools' : 'dataSources', record.id);
    resume(draft);
  }

  async function save(): Promise<AnyRecord | undefined> {
    const { value } = form;
    if (!value) return undefined;
    const { id = '', name = '' } = value.values.value;
    if (value.isNew && id === '' && name.trim() !== '') {
      if (value.kind === 'agent') value.set('id', await freeId(name, control));
      if (value.kind === 'tool') value.set('id', (value.draft() as { readonly name: string }).name); // of a tool
    }
    const draft = waiting();
    const record = await value.save();
    if (!record) return undefined;
    announce(`${nameOf(record)} is saved`);
    onChanged();
    const { isNew, kind } = value;
    if (draft) await give(record, value, draft);
    else {
      if (value === left?.form) left = undefined;
      await open(kind, record.id);
      clear();
      if (isNew && kind === 'mcpServer') void opened.value?.check.look(); // what it offers is why it was added
    }
    return record;
  }

  function discard(): void {
    const draft = waiting();
    if (draft) return resume(draft);
    if (form.peek() === left?.form) left = undefined;
    clear();
  }

  return {
    isHere,
    section,
    filter,
    listing,
    opened,
    form,
    agent,
    problem,
    control,
    vault,
    transfer,
    async show(next) {
      batch(() => {
        if (next !== section.value) {
          filter.value = everything;
          listing.value = undefined;
        }
        section.value = next;
        opened.value = undefined;
        const { form: made } = agent.peek() ?? {};
        if (made?.isNew && made.isDirty.peek()) left = agent.peek();
        clear();
        problem.value = undefined;
      });
      await list();
    },
    async setFilter(more) {
      filter.value = { ...filter.value, ...more };
      await list();
    },
    more: () => list(listing.value?.nextPageToken),
    open: (kind, id) => open(kind, id),
    async moreHistory() {
      const before = opened.value;
      if (!before) return;
      const page = await answerOf(control.history(before.kind, before.found.record.id, before.history.nextPageToken));
      if (!page || opened.value !== before) return;
      opened.value = { ...before, history: { ...page, items: [...before.history.items, ...page.items] } };
    },
    async setState(state) {
      if (!opened.value) return;
      const { kind, found: { record }, check } = opened.value;
      await answerOf(control.setState(kind, record.id, state));
      if (problem.value !== undefined) return;
      announce(`${nameOf(record)} is ${state === 'active' ? 'enabled' : 'disabled'}`);
      onChanged();
      await open(kind, record.id, check);
    },
    async remove() {
      if (!opened.value) return;
      const { kind, found: { record } } = opened.value;
      await answerOf(control.remove(kind, record.id));
      if (problem.value !== undefined) return;
      announce(`${nameOf(record)} is removed`);
      onChanged();
      await close();
    },
    async start() {
      const { value } = section;
      if (value === 'agent') await startAgent();
      else if (value !== 'vault' && value !== 'transfer') await startForm(value);
    },
    async edit() {
      if (opened.value) await startForm(opened.value.kind, { record: opened.value.found.record });
    },
    async make(kind, preset) {
      below = opened.peek();
      await startForm(kind, { preset });
    },
    async useInAgent() {
      const { value } = opened;
      const field = value && agentFields[value.kind];
      if (!field) return;
      const { id } = value.found.record;
      const draft = agent.peek();
      if (draft) {
        draft.add(field, id);
        return resume(draft);
      }
      opened.value = undefined;
      section.value = 'agent';
      await startAgent({ [field]: id });
    },
    save,
    discard,
    leave() {
      const draft = waiting();
      const now = form.peek();
      if (!now) {
        if (draft) resume(draft);
        else void close();
        return true;
      }
      if (now.isDirty.peek() && (draft || !(now.isNew && now.kind === 'agent'))) return false;
      if (draft) resume(draft);
      else {
        if (now.isNew && now.kind === 'agent') left = now.isDirty.peek() ? agent.peek() : undefined;
        clear();
      }
      return true;
    },
    close,
  };
}

export const agentFields: Readonly<Partial<Record<RecordKind, string>>> = {
  tool: 'entryTools',
  mcpServer: 'mcp',
  dataSource: 'dataSources',
};

interface FormStart {
  readonly record?: AnyRecord | undefined;
  /** What a new one has at first. */
  readonly preset?: FieldValues | undefined;
}

/** Opens the form of a record, or of a new one, which the registry writes. */
async function openRecordForm(
  control: RegistryControl,
  kind: RecordKind,
  { record, preset }: FormStart,
): Promise<RecordForm> {
  return createRecordForm({
    kind,
    choices: await choicesOf(control),
    ...(record && { record }),
    ...(preset && { preset }),
    check: (given) => tryRecord(control, kind, given),
    write: (next, version) =>
      version === undefined ? control.create(kind, next) : control.replace(kind, next as AnyRecord, version), // a record with changes
  });
}

/** The options of forms; none when the worker fails. */
async function choicesOf(control: RegistryControl): Promise<Choices> {
  const nothing = (): undefined => undefined;
  const [providers, vault] = await Promise.all([
    control.list('provider', { limit: 200 }).catch(nothing),
    control.vault().catch(nothing),
  ]);
  return {
    providers: providers?.ok ? providers.value.items.map(({ id }) => id) : [],
    secrets: vault?.ok ? vault.value.secrets.map(({ id }) => id).filter((id) => id !== sealSecret) : [],
  };
}

/** Which records the list shows. */
export interface Filter {
  readonly text: string;
  readonly tag: string;
  readonly visibility: '' | NonNullable<RegistryQuery['visibility']>;
  readonly state: '' | NonNullable<RegistryQuery['state']>;
  readonly type: string;
}

/** The records of a list so far. */
export interface Listing {
  readonly items: readonly AnyRecord[];
  readonly nextPageToken?: string;
}

/** The filter that lets everything through. */
const everything: Filter = { text: '', tag: '', visibility: '', state: '', type: '' };

function queryOf({ text, tag, visibility, state, type }: Filter): RegistryQuery {
  const words = text.trim();
  const only = tag.trim();
  return {
    ...(words !== '' && { text: words }),
    ...(only !== '' && { tags: [only] }),
    ...(visibility !== '' && { visibility }),
    ...(state !== '' && { state }),
    ...(type !== '' && { type }),
  };
}

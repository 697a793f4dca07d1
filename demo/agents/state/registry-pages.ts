/** The registry's pages: which list is shown, which record is open, and what can be done with it. */

import { batch, type Signal, signal } from '@preact/signals';
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

interface RegistryPagesOptions {
  readonly control: RegistryControl;
  readonly isHere?: boolean;
  /** Called after a change. */
  readonly onChanged: () => void;
  readonly announce: (text: string) => void;
}

const pageSize = 50;

/** The pages' state, and what can be done in them. Calls the worker only from `show` on. */
export class RegistryPages {
  readonly section: Signal<Section> = signal<Section>('agent');
  readonly filter: Signal<Filter> = signal(everything);
  /** `undefined` until the first answer. */
  readonly listing: Signal<Listing | undefined> = signal<Listing | undefined>(undefined);
  readonly opened: Signal<Opened | undefined> = signal<Opened | undefined>(undefined);
  /** Present while a record is being made or changed. */
  readonly form: Signal<RecordForm | undefined> = signal<RecordForm | undefined>(undefined);
  /** The agent in the form, or the one that waits while a tool, a server or a model is made for it. */
  readonly agent: Signal<AgentDraft | undefined> = signal<AgentDraft | undefined>(undefined);
  /** Why the latest action failed. */
  readonly problem: Signal<string | undefined> = signal<string | undefined>(undefined);
  /** The way to the worker's registry, or to an endpoint's. */
  readonly control: RegistryControl;
  /** Whether it is the registry of the page's worker, which has the vault and tries tools. */
  readonly isHere: boolean;
  readonly vault: VaultPage;
  readonly transfer: Transfer;
  readonly #onChanged: () => void;
  readonly #announce: (text: string) => void;
  /** The page of the agent that waits, if it is stored. */
  #below: Opened | undefined;
  /** A new agent that was left with something written. */
  #left: AgentDraft | undefined;
  #turns = 0;

  constructor({ control, isHere = true, onChanged, announce }: RegistryPagesOptions) {
    this.control = control;
    this.isHere = isHere;
    this.#onChanged = onChanged;
    this.#announce = announce;
    this.vault = createVaultPage({ control, announce });
    this.transfer = createTransfer({ control, onChanged, announce });
  }

  /** Returns the value, or says what is wrong. */
  async #answerOf<T>(asking: Promise<Answer<T>>): Promise<T | undefined> {
    const answer = await asking.catch(() => undefined);
    this.problem.value = problemOf(answer, 'The registry did not respond');
    return answer?.ok ? answer.value : undefined;
  }

  async #list(pageToken?: string): Promise<void> {
    const kind = this.section.value;
    if (kind === 'vault') return await this.vault.load();
    if (kind === 'transfer') return;
    const turn = ++this.#turns;
    const query = { ...queryOf(this.filter.value), limit: pageSize, ...(pageToken !== undefined && { pageToken }) };
    const page = await this.#answerOf<Listing>(this.control.list(kind, query));
    if (!page || turn !== this.#turns) return; // another filter was chosen meanwhile
    const before = pageToken === undefined ? [] : this.listing.value?.items ?? [];
    this.listing.value = { ...page, items: [...before, ...page.items] };
  }

  /** Opens a record. `check`: the one that goes on for it. */
  async open(kind: RecordKind, id: string, check?: McpCheck): Promise<void> {
    const found = await this.#answerOf(this.control.get(kind, id));
    const history = found && await this.#answerOf(this.control.history(kind, id));
    if (!found || !history) return;
    batch(() => {
      this.form.value = undefined;
      this.opened.value = { kind, found, history, check: check ?? this.#checkOf(id) };
    });
  }

  #checkOf(serverId: string): McpCheck {
    const check = createMcpCheck({
      validate: (request) => this.control.validate(serverId, request),
      onApproved: async () => {
        this.#onChanged();
        await this.open('mcpServer', serverId, check);
      },
    });
    return check;
  }

  /** Goes back to the list. */
  async close(): Promise<void> {
    this.opened.value = undefined;
    await this.#list();
  }

  async #startForm(kind: RecordKind, { record, preset }: FormStart = {}): Promise<void> {
    const next = await openRecordForm(this.control, kind, { record, preset });
    batch(() => {
      this.form.value = next;
      if (kind === 'agent') this.agent.value = createAgentDraft({ control: this.control, form: next, id: record?.id });
    });
    if (kind === 'agent') await this.agent.value?.load();
  }

  async #startAgent(preset?: FieldValues): Promise<void> {
    if (!this.#left) return await this.#startForm('agent', { preset });
    for (const [field, entry] of Object.entries(preset ?? {})) this.#left.add(field, entry);
    batch(() => {
      this.form.value = this.#left?.form;
      this.agent.value = this.#left;
    });
    await this.agent.value?.load();
  }

  /** Goes back to the agent that waits. */
  #resume(draft: AgentDraft): void {
    batch(() => {
      this.opened.value = this.#below;
      this.form.value = draft.form;
    });
    void draft.load();
  }

  #clear(): void {
    batch(() => {
      this.form.value = undefined;
      this.agent.value = undefined;
    });
    this.#below = undefined;
  }

  #waiting(): AgentDraft | undefined {
    return this.agent.peek()?.form === this.form.peek() ? undefined : this.agent.peek();
  }

  /** What was made is the agent's at once; the tools of a server are approved first. */
  async #giveTo(record: AnyRecord, { kind }: RecordForm, draft: AgentDraft): Promise<void> {
    if (kind === 'mcpServer') {
      await this.open(kind, record.id);
      return void this.opened.value?.check.look();
    }
    if (kind === 'provider') draft.form.offerProvider(record.id);
    else draft.add(kind === 'tool' ? 'entryTools' : 'dataSources', record.id);
    this.#resume(draft);
  }

  /** Saves the form. `undefined`: it was refused, and says why. */
  async save(): Promise<AnyRecord | undefined> {
    const { value } = this.form;
    if (!value) return undefined;
    const { id = '', name = '' } = value.values.value;
    if (value.isNew && id === '' && name.trim() !== '') {
      if (value.kind === 'agent') value.set('id', await freeId(name, this.control));
      if (value.kind === 'tool') value.set('id', (value.draft() as { readonly name: string }).name); // of a tool
    }
    const draft = this.#waiting();
    const record = await value.save();
    if (!record) return undefined;
    this.#announce(`${nameOf(record)} is saved`);
    this.#onChanged();
    const { isNew, kind } = value;
    if (draft) await this.#giveTo(record, value, draft);
    else {
      if (value === this.#left?.form) this.#left = undefined;
      await this.open(kind, record.id);
      this.#clear();
      if (isNew && kind === 'mcpServer') void this.opened.value?.check.look(); // what it offers is why it was added
    }
    return record;
  }

  /** Leaves the form, without what was changed in it. */
  discard(): void {
    const draft = this.#waiting();
    if (draft) return this.#resume(draft);
    if (this.form.peek() === this.#left?.form) this.#left = undefined;
    this.#clear();
  }

  async show(next: Section): Promise<void> {
    batch(() => {
      if (next !== this.section.value) {
        this.filter.value = everything;
        this.listing.value = undefined;
      }
      this.section.value = next;
      this.opened.value = undefined;
      const { form: made } = this.agent.peek() ?? {};
      if (made?.isNew && made.isDirty.peek()) this.#left = this.agent.peek();
      this.#clear();
      this.problem.value = undefined;
    });
    await this.#list();
  }

  async setFilter(more: Partial<Filter>): Promise<void> {
    this.filter.value = { ...this.filter.value, ...more };
    await this.#list();
  }

  async more(): Promise<void> {
    await this.#list(this.listing.value?.nextPageToken);
  }

  async moreHistory(): Promise<void> {
    const before = this.opened.value;
    if (!before) return;
    const page = await this.#answerOf(
      this.control.history(before.kind, before.found.record.id, before.history.nextPageToken),
    );
    if (!page || this.opened.value !== before) return;
    this.opened.value = { ...before, history: { ...page, items: [...before.history.items, ...page.items] } };
  }

  async setState(state: 'active' | 'disabled'): Promise<void> {
    if (!this.opened.value) return;
    const { kind, found: { record }, check } = this.opened.value;
    await this.#answerOf(this.control.setState(kind, record.id, state));
    if (this.problem.value !== undefined) return;
    this.#announce(`${nameOf(record)} is ${state === 'active' ? 'enabled' : 'disabled'}`);
    this.#onChanged();
    await this.open(kind, record.id, check);
  }

  /** Removes the open record, and goes back to the list. */
  async remove(): Promise<void> {
    if (!this.opened.value) return;
    const { kind, found: { record } } = this.opened.value;
    await this.#answerOf(this.control.remove(kind, record.id));
    if (this.problem.value !== undefined) return;
    this.#announce(`${nameOf(record)} is removed`);
    this.#onChanged();
    await this.close();
  }

  /** Starts a new record of the listed kind. A new agent that was left is as it was left. */
  async start(): Promise<void> {
    const { value } = this.section;
    if (value === 'agent') await this.#startAgent();
    else if (value !== 'vault' && value !== 'transfer') await this.#startForm(value);
  }

  async edit(): Promise<void> {
    if (this.opened.value) await this.#startForm(this.opened.value.kind, { record: this.opened.value.found.record });
  }

  /** Starts a record for the agent in the form, which waits meanwhile. */
  async make(kind: RecordKind, preset?: FieldValues): Promise<void> {
    this.#below = this.opened.peek();
    await this.#startForm(kind, { preset });
  }

  /** Selects the open record in the agent that waits, or in a new one. */
  async useInAgent(): Promise<void> {
    const { value } = this.opened;
    const field = value && agentFields[value.kind];
    if (!field) return;
    const { id } = value.found.record;
    const draft = this.agent.peek();
    if (draft) {
      draft.add(field, id);
      return this.#resume(draft);
    }
    this.opened.value = undefined;
    this.section.value = 'agent';
    await this.#startAgent({ [field]: id });
  }

  /** Goes one step up. Returns whether it could: changes of a stored record, or of one made for an agent, are not dropped. */
  leave(): boolean {
    const draft = this.#waiting();
    const now = this.form.peek();
    if (!now) {
      if (draft) this.#resume(draft);
      else void this.close();
      return true;
    }
    if (now.isDirty.peek() && (draft || !(now.isNew && now.kind === 'agent'))) return false;
    if (draft) this.#resume(draft);
    else {
      if (now.isNew && now.kind === 'agent') this.#left = now.isDirty.peek() ? this.agent.peek() : undefined;
      this.#clear();
    }
    return true;
  }
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

/** An agent being made, step by step: its form, what it may use, and the tools, servers and providers that are made with it. */

import { batch, computed, type ReadonlySignal, type Signal, signal } from '@preact/signals';
import type { Agent, RecordKind } from '../../../src/registry/index.ts';
import type { AnyRecord, RegistryControl } from '../../registry/worker/control.ts';
import type { Answer } from '../../registry/worker/answer.ts';
import { type Template, templates } from './templates.ts';
import { createToolFinder, type ToolFinder } from './builder-tools.ts';
import { createMcpCheck, type McpCheck } from '../../registry/state/mcp-check.ts';
import { type RecordForm } from '../../registry/state/record-form.ts';
import { nameOf } from '../../registry/state/record-words.ts';
import { openRecordForm } from '../../registry/state/registry-pages.ts';
import { createVaultPage, type VaultPage } from '../../vault/state/vault-page.ts';

/** The steps, in order. */
export const steps = ['about', 'model', 'tools', 'limits', 'try'] as const;
/** One of them. */
export type Step = typeof steps[number];

/** Something that is made on the way, for the agent. */
export interface Side {
  readonly kind: 'tool' | 'mcpServer' | 'provider';
  readonly form: RecordForm;
  /** Of a stored MCP server: its tools are reviewed and approved. */
  readonly server?: { readonly record: AnyRecord; readonly check: McpCheck };
}

/** The agent being made. */
export interface Builder {
  readonly step: Signal<Step>;
  /** `undefined` until the worker has answered. */
  readonly form: ReadonlySignal<RecordForm | undefined>;
  readonly side: ReadonlySignal<Side | undefined>;
  /** The agent as it was saved last. */
  readonly saved: ReadonlySignal<Agent | undefined>;
  readonly problem: ReadonlySignal<string | undefined>;
  /** MCP servers, data sources and tools that there are. */
  readonly servers: ReadonlySignal<readonly AnyRecord[]>;
  readonly sources: ReadonlySignal<readonly AnyRecord[]>;
  readonly finder: ToolFinder;
  readonly vault: VaultPage;
  /** The agent as it is written now. */
  readonly written: ReadonlySignal<object | undefined>;
  /** The message to the preview that is being written. */
  readonly previewDraft: Signal<string>;
  /** The template that was chosen last. */
  readonly template: ReadonlySignal<Template | undefined>;
  /** Whether nothing was written yet besides what a template filled in. */
  readonly isUnwritten: ReadonlySignal<boolean>;
  /** Fills in the form from a template, and a message for the preview. */
  use(template: Template): void;
  readonly control: RegistryControl;
  /** Starts a new agent. */
  start(): Promise<void>;
  /** Whether a field of lines, as `entryTools`, has an entry. */
  has(field: string, entry: string): boolean;
  /** Puts the entry there, or takes it away. */
  toggle(field: string, entry: string): void;
  /** Starts a new record beside the current one. */
  make(kind: Side['kind'], preset?: Readonly<Record<string, string>>): Promise<void>;
  /** Saves it and adds it to the agent. */
  keep(): Promise<void>;
  leave(): void;
  /** Saves the agent. `undefined`: it was refused, and the step that says why is shown. */
  save(): Promise<Agent | undefined>;
}

interface BuilderOptions {
  readonly control: RegistryControl;
  /** Called after a change of the registry. */
  readonly onChanged: () => void;
  readonly announce: (text: string) => void;
}

/** The step that shows a field. */
export function stepOf(field: string): Step {
  if (field === 'providerId' || field === 'model' || field.startsWith('modelSettings.')) return 'model';
  if (field === 'entryTools' || field === 'mcp' || field === 'dataSources') return 'tools';
  return field === 'secrets' || field.startsWith('limits.') ? 'limits' : 'about';
}

/** Creates the builder. Calls the worker only after `start`. */
export function createBuilder({ control, onChanged, announce }: BuilderOptions): Builder {
  const step = signal<Step>('about');
  const form = signal<RecordForm | undefined>(undefined);
  const side = signal<Side | undefined>(undefined);
  const saved = signal<Agent | undefined>(undefined);
  const unreachable = signal<string | undefined>(undefined);
  const servers = signal<readonly AnyRecord[]>([]);
  const sources = signal<readonly AnyRecord[]>([]);
  const finder = createToolFinder(control);
  const written = computed(() => form.value?.values.value && form.value.draft());
  const previewDraft = signal('');
  const starting = createTemplateChoice({ form, previewDraft });

  async function list(kind: RecordKind): Promise<readonly AnyRecord[]> {
    const page = await control.list(kind, { limit: 200 }).catch(() => undefined);
    unreachable.value = page?.ok ? undefined : 'The registry did not respond.';
    return page?.ok ? page.value.items : [];
  }

  async function refresh(): Promise<void> {
    [servers.value, sources.value] = await Promise.all([list('mcpServer'), list('dataSource')]);
  }

  function entries(field: string): readonly string[] {
    return (form.value?.values.value[field] ?? '').split('\n').map((entry) => entry.trim()).filter((entry) =>
      entry !== ''
    );
  }

  function put(field: string, entry: string): void {
    if (!entries(field).includes(entry)) form.value?.set(field, [...entries(field), entry].join('\n'));
  }

  async function openServer(record: AnyRecord, made: RecordForm): Promise<void> {
    const check = createMcpCheck({
      validate: (request) => control.validate(record.id, request),
      async onApproved() {
        onChanged();
        put('mcp', record.id);
        await refresh();
        const now = servers.value.find(({ id }) => id === record.id);
        if (side.value?.server?.check === check && now) side.value = { ...side.value, server: { record: now, check } };
      },
    });
    side.value = { kind: 'mcpServer', form: made, server: { record, check } };
    await check.look();
  }

  /** What was made is the agent's at once. */
  async function give(kind: Side['kind'], record: AnyRecord, made: RecordForm): Promise<void> {
    announce(`${nameOf(record)} is saved`);
    onChanged();
    if (kind === 'mcpServer') return await openServer(record, made);
    if (kind === 'tool') put('entryTools', record.id);
    else await chooseProvider(record.id);
    side.value = undefined;
    void finder.load();
  }

  /** The form offers the providers that there were when it was made. */
  async function chooseProvider(providerId: string): Promise<void> {
    const before = form.value?.values.value;
    const next = saved.value ? undefined : await openRecordForm(control, 'agent');
    if (next && before) {
      for (const [name, value] of Object.entries(before)) next.set(name, value);
      form.value = next;
    }
    form.value?.set('providerId', providerId);
  }

  return {
    step,
    form,
    side,
    saved,
    problem: computed(() => unreachable.value),
    servers,
    sources,
    finder,
    vault: createVaultPage({ control, announce }),
    written,
    previewDraft,
    ...starting,
    control,
    async start() {
      const made = await openRecordForm(control, 'agent');
      batch(() => {
        step.value = 'about';
        side.value = undefined;
        saved.value = undefined;
        form.value = made;
      });
      await Promise.all([refresh(), finder.load()]);
    },
    has: (field, entry) => entries(field).includes(entry),
    toggle(field, entry) {
      if (!entries(field).includes(entry)) return put(field, entry);
      form.value?.set(field, entries(field).filter((other) => other !== entry).join('\n'));
    },
    async make(kind, preset = {}) {
      const made = await openRecordForm(control, kind);
      for (const [name, value] of Object.entries(preset)) made.set(name, value);
      side.value = { kind, form: made };
    },
    async keep() {
      const { value } = side;
      if (!value) return;
      const { kind, form: made } = value;
      const { name = '' } = made.draft() as { readonly name?: string };
      if (kind === 'tool' && made.values.value['id'] === '') made.set('id', name);
      const record = await made.save();
      if (record) await give(kind, record, made);
    },
    leave() {
      side.value = undefined;
    },
    async save() {
      const { value } = form;
      if (!value) return undefined;
      const { id = '', name = '' } = value.values.value;
      if (!saved.value && id === '' && name.trim() !== '') value.set('id', await freeId(name, control));
      const record = value.isDirty.value || !saved.value ? await value.save() : saved.value;
      if (!record) {
        const wrong = new Set(Object.keys(value.errors.value).map(stepOf));
        step.value = steps.find((each) => wrong.has(each)) ?? step.value;
        return undefined;
      }
      if (record !== saved.value) {
        saved.value = record as Agent; // the form is of an agent
        announce(`${name} is saved`);
        onChanged();
      }
      return saved.value;
    },
  };
}

/** The templates of a new agent. */
function createTemplateChoice(
  { form, previewDraft }: {
    readonly form: ReadonlySignal<RecordForm | undefined>;
    readonly previewDraft: Signal<string>;
  },
): Pick<Builder, 'template' | 'isUnwritten' | 'use'> {
  const template = signal<Template | undefined>(undefined);
  const filled = new Set(templates.flatMap(({ values }) => Object.keys(values)));
  const holds = (expected: Template['values']): boolean =>
    [...filled].every((field) => (form.value?.values.value[field] ?? '') === (expected[field] ?? ''));
  const isUnwritten = computed(() =>
    form.value?.isNew === true && (holds({}) || (template.value !== undefined && holds(template.value.values)))
  );
  return {
    template,
    isUnwritten,
    use(next) {
      batch(() => {
        for (const field of filled) form.value?.set(field, next.values[field] ?? '');
        template.value = next;
        previewDraft.value = next.tryWith;
      });
    },
  };
}

/** An id made of the name that no other agent has. */
async function freeId(name: string, control: { get: RegistryControl['get'] }): Promise<string> {
  const words = name.normalize('NFKD').toLowerCase().replaceAll(/[^a-z0-9]+/g, '-').replaceAll(/^-+|-+$/g, '');
  const base = words.slice(0, 40) || 'agent';
  for (let n = 1; n < 50; n++) {
    const id = n === 1 ? base : `${base}-${n}`;
    const found: Answer<unknown> = await control.get('agent', id).catch(() => ({ ok: true, value: undefined }));
    if (!found.ok && found.error.code === 'not_found') return id;
  }
  return '';
}

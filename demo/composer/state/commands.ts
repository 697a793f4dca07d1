/** What a draft that starts with "/" may become: a prompt of an MCP server, or a resource to attach. */

import { batch, type Signal, signal } from '@preact/signals';
import type {
  McpPromptEntry,
  McpPromptMessage,
  McpResourceEntry,
  McpTemplateEntry,
} from '../../../src/contracts/mcp/content.ts';
import type { Chat } from '../../chat/state/chat.ts';
import type { McpContent } from '../../chat/state/run.ts';
import { withoutHidden } from '../../share/state/shared-chat.ts';

/** One line of the menu. */
export type Command =
  | { readonly kind: 'prompt'; readonly label: string; readonly entry: McpPromptEntry }
  | { readonly kind: 'resource'; readonly label: string; readonly entry: McpResourceEntry }
  | { readonly kind: 'template'; readonly label: string; readonly entry: McpTemplateEntry };

/** A field that a person fills in before the command is done. */
export interface CommandField {
  readonly name: string;
  readonly description: string | undefined;
  readonly required: boolean;
  readonly value: Signal<string>;
  /** Values that the server proposes. */
  readonly proposed: Signal<readonly string[]>;
}

/** A command whose fields are being filled in. */
export interface CommandForm {
  readonly command: Command;
  readonly fields: readonly CommandField[];
}

/** The menu of one chat. */
export interface Commands {
  readonly found: Signal<readonly Command[]>;
  readonly at: Signal<number>;
  readonly form: Signal<CommandForm | undefined>;
  readonly problem: Signal<string | undefined>;
  readonly isBusy: Signal<boolean>;
  /** Looks for what a draft names. */
  search(draft: string): Promise<void>;
  move(by: number): void;
  choose(command: Command): Promise<void>;
  propose(field: CommandField): Promise<void>;
  finish(): Promise<void>;
  leave(): void;
}

interface CommandsOptions {
  readonly chat: Chat;
  readonly mcp: () => Promise<McpContent>;
  readonly onDone: () => void;
}

const mostPrompts = 8;
const mostResources = 6;

/** Creates the menu. The agent's prompts are read once, resources for each query. */
export function createCommands({ chat, mcp, onDone }: CommandsOptions): Commands {
  const agentId = chat.agentId.peek();
  const found = signal<readonly Command[]>([]);
  const at = signal(0);
  const form = signal<CommandForm | undefined>(undefined);
  const problem = signal<string | undefined>(undefined);
  const isBusy = signal(false);
  const lookUp = createLookUp(agentId, mcp);
  let latest = 0;

  async function attempt(work: () => Promise<void>): Promise<void> {
    problem.value = undefined;
    isBusy.value = true;
    try {
      await work();
    } catch (error) {
      problem.value = error instanceof Error ? error.message : 'The MCP server did not respond.';
    } finally {
      isBusy.value = false;
    }
  }

  async function finishWith(command: Command, values: Readonly<Record<string, string>>): Promise<void> {
    if (command.kind === 'prompt') {
      const { server, name } = command.entry;
      const { messages } = await (await mcp()).prompts.get(agentId, { server, name, arguments: { ...values } });
      batch(() => {
        // The person who sends it can only decide on what they see.
        chat.draft.value = withoutHidden(messages.map(textOf).filter((text) => text !== '').join('\n\n')).text;
        leave();
      });
    } else {
      const uri = command.kind === 'resource' ? command.entry.uri : expand(command.entry.uriTemplate, values);
      const { server, alias, mimeType = 'text/plain' } = command.entry;
      const name = command.kind === 'resource' ? command.label : uri;
      const url = `pinnace-mcp:${server}/${encodeURIComponent(uri)}`;
      batch(() => {
        const others = chat.attached.value.filter((file) => file.url !== url);
        chat.attached.value = [...others, { name: `${alias}: ${name}`, mediaType: mimeType, size: 0, url }];
        chat.draft.value = '';
        leave();
      });
    }
    onDone();
  }

  function leave(): void {
    batch(() => {
      form.value = undefined;
      problem.value = undefined;
      found.value = [];
    });
  }

  return {
    found,
    at,
    form,
    problem,
    isBusy,
    leave,
    async search(draft) {
      const turn = ++latest;
      const commands = await lookUp(draft.slice(1).trim().toLowerCase()).catch(() => []); // then "/" is a text like any other
      if (turn !== latest) return;
      batch(() => {
        found.value = commands;
        at.value = 0;
      });
    },
    move(by) {
      const count = found.value.length;
      if (count > 0) at.value = (at.value + by + count) % count;
    },
    async choose(command) {
      const fields = fieldsOf(command);
      if (fields.length === 0) return await attempt(() => finishWith(command, {}));
      form.value = { command, fields };
    },
    async propose(field) {
      const open = form.value;
      if (!open || open.command.kind === 'resource') return;
      const { command, fields } = open;
      const filled = fields.filter((one) => one !== field && one.value.value !== '');
      const value = field.value.value;
      const ref = command.kind === 'prompt'
        ? { prompt: command.entry.name }
        : { uriTemplate: command.entry.uriTemplate };
      const { values } = await (await mcp()).prompts.complete(agentId, {
        server: command.entry.server,
        ...ref,
        argument: { name: field.name, value },
        arguments: Object.fromEntries(filled.map((one) => [one.name, one.value.value])),
      }).catch(() => ({ values: [] })); // proposals are a help, and nothing depends on them
      if (field.value.value === value) field.proposed.value = values;
    },
    async finish() {
      const open = form.value;
      if (!open) return;
      const missing = open.fields.find(({ required, value }) => required && value.value === '');
      if (missing) {
        problem.value = `Fill in “${missing.name}”.`;
        return;
      }
      const given = open.fields.filter(({ value }) => value.value !== '');
      await attempt(() =>
        finishWith(open.command, Object.fromEntries(given.map(({ name, value }) => [name, value.value])))
      );
    },
  };
}

/** Returns a search for commands. The agent's prompts are read once. */
function createLookUp(agentId: string, mcp: CommandsOptions['mcp']): (query: string) => Promise<readonly Command[]> {
  let prompts: Promise<readonly McpPromptEntry[]> | undefined;
  return async (query) => {
    const content = await mcp();
    prompts ??= content.prompts.list(agentId).then(({ items }) => items);
    const [known, page] = await Promise.all([
      prompts,
      content.resources.list(agentId, { query, limit: mostResources }),
    ]);
    return [
      ...known.filter(({ command, title }) => `${command} ${title ?? ''}`.toLowerCase().includes(query))
        .slice(0, mostPrompts)
        .map((entry) => ({ kind: 'prompt', label: `/${entry.command}`, entry } as const)),
      ...page.items.map((entry) => ({ kind: 'resource', label: entry.title ?? entry.name, entry } as const)),
      ...page.templates.slice(0, mostResources)
        .map((entry) => ({ kind: 'template', label: entry.title ?? entry.name, entry } as const)),
    ];
  };
}

function fieldsOf(command: Command): readonly CommandField[] {
  if (command.kind === 'resource') return [];
  const given = command.kind === 'prompt'
    ? command.entry.arguments
    : command.entry.variables.map((name) => ({ name, required: !isOptional(command.entry.uriTemplate, name) }));
  return given.map(({ name, required, ...more }) => ({
    name,
    required,
    description: 'description' in more ? more.description : undefined,
    value: signal(''),
    proposed: signal<readonly string[]>([]),
  }));
}

function isOptional(template: string, name: string): boolean {
  return /\{\?([\w,]+)\}$/.exec(template)?.[1]?.split(',').includes(name) === true;
}

/** Expands a URI template (RFC 6570) of the forms that can be approved. */
export function expand(template: string, values: Readonly<Record<string, string>>): string {
  return template.replace(/\{([+?]?)([\w,]+)\*?\}/g, (_, form: string, names: string) => {
    if (form === '+') return encodeURI(values[names] ?? '');
    if (form === '') return encodeURIComponent(values[names] ?? '');
    const pairs = names.split(',').filter((name) => values[name]);
    const query = pairs.map((name) => `${name}=${encodeURIComponent(values[name] ?? '')}`).join('&');
    return query === '' ? '' : `?${query}`;
  });
}

/** What a person would send of a message; what an assistant says in it is quoted, for it has said nothing here. */
function textOf({ role, content }: McpPromptMessage): string {
  if (content.type !== 'text') return '';
  return role === 'user' ? content.text : content.text.split('\n').map((line) => `> ${line}`).join('\n');
}

/** Five hundred tools for one small office, in memory: too many for one prompt. */

import * as v from 'valibot';
import { defineTool, PinnaceError, type Tool } from '../../src/index.ts';
import type { JsonSchema } from '../../src/base/schema.ts';
import { type Kind, kinds } from './desk-words.ts';

interface DeskRecord {
  readonly id: string;
  readonly title: string;
  readonly state: 'open' | 'archived';
  readonly assignee?: string;
  readonly due?: string;
  readonly comments: readonly string[];
}

/** The records of one kind, in the order in which they were made. */
type Drawer = Map<string, DeskRecord>;

/** The input that names a record. Its description names the kind, and is added per tool. */
const Id = v.string();
const Title = v.pipe(v.string(), v.minLength(1), v.maxLength(200), v.description('What it is called'));

const inputs = {
  none: v.strictObject({}),
  id: v.strictObject({ id: Id }),
  query: v.strictObject({ query: v.pipe(v.string(), v.minLength(1), v.description('Words to look for')) }),
  title: v.strictObject({ title: Title }),
  rename: v.strictObject({ id: Id, title: Title }),
  assign: v.strictObject({ id: Id, assignee: v.pipe(v.string(), v.description('The name of the person')) }),
  schedule: v.strictObject({ id: Id, due: v.pipe(v.string(), v.isoDate(), v.description('A date, 2026-12-24')) }),
  comment: v.strictObject({ id: Id, text: v.pipe(v.string(), v.minLength(1), v.description('The comment')) }),
};

/** Returns the tools, ten for each kind. They share their records, which end with the page or the process. */
export function deskTools(): Tool[] {
  return kinds.flatMap((kind) => {
    const drawer: Drawer = new Map();
    return [...readingTools(kind, drawer), ...writingTools(kind, drawer)];
  });
}

const reads = { readOnlyHint: true, openWorldHint: false };
const writes = { readOnlyHint: false, destructiveHint: false, openWorldHint: false };

function readingTools(kind: Kind, drawer: Drawer): Tool[] {
  const { name, plural } = kind;
  return [
    toolOf(kind, 'list', {
      description: `Lists all ${plural} that are open, with their ids.`,
      annotations: reads,
      input: inputs.none,
      execute: () => [...drawer.values()].filter(({ state }) => state === 'open').map(brief),
    }),
    toolOf(kind, 'get', {
      description: `Gets one ${words(name)} with everything that is known about it.`,
      annotations: reads,
      input: inputs.id,
      execute: ({ id }) => recordOf(drawer, id, kind),
    }),
    toolOf(kind, 'search', {
      description: `Searches ${plural} by words of their title and comments.`,
      annotations: reads,
      input: inputs.query,
      execute: ({ query }) => [...drawer.values()].filter((record) => says(record, query)).map(brief),
    }),
    toolOf(kind, 'count', {
      description: `Counts the ${plural}, those that are open and those that are archived.`,
      annotations: reads,
      input: inputs.none,
      execute: () => {
        const open = [...drawer.values()].filter(({ state }) => state === 'open').length;
        return { open, archived: drawer.size - open };
      },
    }),
  ];
}

function writingTools(kind: Kind, drawer: Drawer): Tool[] {
  const { name, about } = kind;
  const change = (id: string, changes: Partial<DeskRecord>): DeskRecord => {
    const next = { ...recordOf(drawer, id, kind), ...changes };
    drawer.set(id, next);
    return next;
  };
  return [
    toolOf(kind, 'create', {
      description: `Creates ${one(name)}, which is then open: ${about}.`,
      annotations: writes,
      input: inputs.title,
      execute({ title }) {
        const id = `${name}-${drawer.size + 1}`;
        const record: DeskRecord = { id, title, state: 'open', comments: [] };
        drawer.set(id, record);
        return record;
      },
    }),
    toolOf(kind, 'rename', {
      description: `Gives ${one(name)} another title than it has.`,
      annotations: writes,
      input: inputs.rename,
      execute: ({ id, title }) => change(id, { title }),
    }),
    toolOf(kind, 'assign', {
      description: `Assigns ${one(name)} to a person who takes care of it.`,
      annotations: writes,
      input: inputs.assign,
      execute: ({ id, assignee }) => change(id, { assignee }),
    }),
    toolOf(kind, 'schedule', {
      description: `Sets the date by which ${one(name)} is due.`,
      annotations: writes,
      input: inputs.schedule,
      execute: ({ id, due }) => change(id, { due }),
    }),
    toolOf(kind, 'comment', {
      description: `Adds a comment to ${one(name)}, below those before.`,
      annotations: writes,
      input: inputs.comment,
      execute: ({ id, text }) => change(id, { comments: [...recordOf(drawer, id, kind).comments, text] }),
    }),
    toolOf(kind, 'archive', {
      description: `Archives ${one(name)} that is done, so that lists leave it out.`,
      annotations: writes,
      input: inputs.id,
      execute: ({ id }) => change(id, { state: 'archived' }),
    }),
  ];
}

type ToolWork<S extends v.GenericSchema<unknown, unknown>> = Pick<
  Parameters<typeof defineTool<S>>[0],
  'description' | 'annotations' | 'input' | 'execute'
>;

/** The tools of the first kind, by verb. To define each of the five hundred by its own schema would take 30 ms of every start. */
const patterns = new Map<string, Tool>();

function toolOf<S extends v.GenericSchema<unknown, unknown>>({ name }: Kind, verb: string, work: ToolWork<S>): Tool {
  const title = `${verb[0]?.toUpperCase()}${verb.slice(1)} ${words(name)}`;
  const { description, execute } = work;
  const own = { id: `desk_${name}_${verb}`, name: `${name}_${verb}`, title, description, category: words(name) };
  const pattern = patterns.get(verb) ?? defineTool({ ...work, ...own });
  patterns.set(verb, pattern);
  const paramsSchema = withExample(pattern.definition.paramsSchema, `Its id, such as "${name}-1"`);
  return {
    ...pattern,
    definition: { ...pattern.definition, ...own, paramsSchema },
    execute: (value, context) => execute(value as Parameters<typeof execute>[0], context), // safe: `check` returned it
  };
}

function withExample(schema: JsonSchema, description: string): JsonSchema {
  const properties = schema['properties'] as Readonly<Record<string, JsonSchema>>; // safe: the schema of an object
  const { id, ...others } = properties;
  return id === undefined ? schema : { ...schema, properties: { id: { ...id, description }, ...others } };
}

function one(name: string): string {
  return `${/^[aeio]/.test(name) ? 'an' : 'a'} ${words(name)}`;
}

function words(name: string): string {
  return name.replaceAll('_', ' ');
}

function brief({ id, title, assignee, due }: DeskRecord) {
  return { id, title, ...(assignee !== undefined && { assignee }), ...(due !== undefined && { due }) };
}

function says({ title, comments }: DeskRecord, query: string): boolean {
  const text = [title, ...comments].join('\n').toLowerCase();
  return query.toLowerCase().split(/\s+/).every((word) => text.includes(word));
}

function recordOf(drawer: Drawer, id: string, { name, plural }: Kind): DeskRecord {
  const record = drawer.get(id);
  if (record) return record;
  const known = [...drawer.keys()].slice(-3).join(', ') || 'none yet';
  throw new PinnaceError(
    'not_found',
    `No ${words(name)} has the id "${id.slice(0, 80)}"; the latest ${plural}: ${known}`,
  );
}

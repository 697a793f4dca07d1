/** Five hundred tools for one small office, in memory: too many for one prompt. */

import * as v from 'valibot';
import type { JsonSchema } from '../../src/base/schema.ts';
import { defineTool, PinnaceError, type Tool } from '../../src/index.ts';

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

/** A kind of thing, in singular and plural, and what people say of it. */
interface Kind {
  readonly name: string;
  readonly plural: string;
  readonly about: string;
}

const lines = `
ticket|tickets|a customer's request for help
invoice|invoices|money that a customer owes
payment|payments|money that came in or went out
refund|refunds|money given back to a customer
customer|customers|a person or company that buys
lead|leads|somebody who may become a customer
deal|deals|a sale that is being negotiated
quote|quotes|a price offered in writing
order|orders|what a customer has bought
shipment|shipments|goods on their way, with carrier and tracking number
parcel|parcels|one package of a delivery
return_request|return requests|goods that a customer sends back
product|products|an article of the catalogue with its price
warehouse|warehouses|a place where stock is kept
stock_item|stock items|how many pieces of an article are on the shelf
supplier|suppliers|a company that delivers to us
purchase|purchases|something ordered from a supplier
contract|contracts|an agreement with its terms and end
employee|employees|a person who works here
vacation|vacations|days off that somebody takes
timesheet|timesheets|hours that somebody has worked
expense|expenses|costs that an employee claims back
candidate|candidates|somebody who applies for a job
vacancy|vacancies|an open position
training|trainings|a course that employees attend
meeting|meetings|people who come together at a time
room|rooms|a place to book for meetings
calendar_event|calendar events|an appointment
reminder|reminders|a note that comes back at a time
project|projects|work with a goal and a budget
milestone|milestones|a date by which a part of a project is done
task|tasks|a piece of work for one person
bug|bugs|a defect of the software
release|releases|a version of the software that goes out
deployment|deployments|a release on its way to servers
branch|branches|a line of development in a repository
server|servers|a machine that runs services
incident|incidents|an outage that is being handled
alert|alerts|a warning of the monitoring
backup|backups|a copy of data for the worst case
certificate|certificates|proof of a server's identity, with an expiry date
domain|domains|a name on the internet
document|documents|a text with its versions
folder|folders|a place for documents
survey|surveys|questions to many people
campaign|campaigns|advertising with a budget and an audience
newsletter|newsletters|an e-mail to all subscribers
subscriber|subscribers|somebody who gets the newsletter
vehicle|vehicles|a car or van of the fleet
license|licenses|the right to use a piece of software`;

const kinds: readonly Kind[] = lines.trim().split('\n').map((line) => {
  const [name = '', plural = '', about = ''] = line.split('|');
  return { name, plural, about };
});

/** A shipyard's plan as a tree: made in code, the same every time. */

import * as v from 'valibot';
import type { Watchable } from '../../../src/contracts/index.ts';
import { openTree, type Storage } from '../../../src/index.ts';
import type { OpenTree, Payload, PayloadTypes, TreeRow } from '../../../src/tree/index.ts';
import { yardRoot } from './yard-root.ts';

const Name = v.pipe(v.string(), v.trim(), v.minLength(1), v.maxLength(200));
const Person = v.optional(v.pipe(v.string(), v.maxLength(80)));
const Note = v.optional(v.pipe(v.string(), v.maxLength(2000)));

/** What the yard's tree holds: areas of work, jobs with a state, tasks that are done or not. */
export const yardTypes: PayloadTypes = {
  area: { schema: v.strictObject({ name: Name, lead: Person, note: Note }) },
  job: {
    schema: v.strictObject({
      name: Name,
      status: v.picklist(['planned', 'active', 'finished']),
      lead: Person,
      note: Note,
    }),
    defaults: { status: 'planned' },
  },
  task: {
    schema: v.strictObject({ name: Name, done: v.boolean(), owner: Person, note: Note }),
    defaults: { done: false },
  },
};

/** How many of each there are below each of the level above. */
export interface YardSize {
  /** With one, the yard is the root itself. */
  readonly yards: number;
  readonly jobs: number;
  readonly packages: number;
  readonly tasks: number;
}

/** Some 3,500 nodes. */
export const oneYard: YardSize = { yards: 1, jobs: 8, packages: 5, tasks: 6 };
/** A million and some. */
export const manyYards: YardSize = { yards: 40, jobs: 40, packages: 6, tasks: 8 };

/** Options of every yard: agents and people on separate branches do not meet. */
export const yardOptions = { payloadTypes: yardTypes, conflictScope: 'node' as const };

/** Opens this tenant's stored yard, or creates one. */
export function openYard(
  storage: Storage & Partial<Watchable>,
  { tenant = 'local', size = oneYard }: { readonly tenant?: string; readonly size?: YardSize } = {},
): Promise<OpenTree> {
  return openTree({ storage, treeId: `yard ${tenant}`, ...yardOptions, rows: [...yardRows(size)] });
}

/** How many nodes a yard of this size has. */
export function countOf({ yards: count, jobs: jobCount, packages: packageCount, tasks }: YardSize): number {
  const below = areas.length * (1 + jobCount * (1 + packageCount * (1 + tasks)));
  return count === 1 ? 1 + below : 1 + count * (1 + below);
}

/** Returns the rows in pre-order, one after the other. */
export function* yardRows(size: YardSize): IterableIterator<TreeRow> {
  const maker = createMaker();
  if (size.yards === 1) {
    yield* areasOf(maker, size, maker.root('Northquay Yard'));
    return;
  }
  const root = maker.root('The Northquay Group');
  yield root;
  for (let i = 0; i < size.yards; i++) {
    const name = `${yards[i % yards.length]} ${i < yards.length ? 'Yard' : `Yard ${Math.floor(i / yards.length) + 1}`}`;
    yield* areasOf(maker, size, maker.row(root, 'area', { name, lead: maker.pick(people) }));
  }
}

function* areasOf(maker: Maker, size: YardSize, yard: TreeRow): IterableIterator<TreeRow> {
  yield yard;
  for (const name of areas) {
    const area = maker.row(yard, 'area', { name, lead: maker.pick(people) });
    yield area;
    for (let i = 0; i < size.jobs; i++) yield* jobOf(maker, size, area);
  }
}

function* jobOf(maker: Maker, size: YardSize, area: TreeRow): IterableIterator<TreeRow> {
  const status = maker.pick(['planned', 'active', 'active', 'finished']);
  const name = `${maker.pick(jobs)} of ${maker.pick(vessels)}`;
  const job = maker.row(area, 'job', { name, status, lead: maker.pick(people) });
  yield job;
  for (let i = 0; i < size.packages; i++) {
    const work = maker.row(job, 'area', { name: packages[i % packages.length]! }); // safe: within the list
    yield work;
    for (let j = 0; j < size.tasks; j++) yield maker.row(work, 'task', maker.task(status));
  }
}

interface Maker {
  root(name: string): TreeRow;
  row(parent: TreeRow, payloadType: string, payload: Payload): TreeRow;
  pick<T>(from: readonly T[]): T;
  task(status: string): Payload;
}

/** Equal tasks share one payload: a tree never changes a payload in place. */
function createMaker(): Maker {
  let state = 7;
  let count = 0;
  const tasks = new Map<string, Payload>();
  const pick = <T>(from: readonly T[]): T => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return from[Math.floor((state / 0x1_0000_0000) * from.length)]!; // safe: below the length of a list that is not empty
  };
  return {
    pick,
    root: (name) => ({ nodeId: yardRoot, parentId: null, payloadType: 'area', payload: { name, lead: pick(people) } }),
    row: ({ nodeId: parentId }, payloadType, payload) => ({
      nodeId: `n${++count}`,
      parentId,
      payloadType,
      payload,
    }),
    task(status) {
      const name = `${pick(verbs)} the ${pick(things)}`;
      const owner = pick(people);
      const done = status === 'finished' || (status === 'active' && pick([true, false]));
      const key = `${name}/${owner}/${done}`;
      const payload = tasks.get(key) ?? { name, done, owner };
      tasks.set(key, payload);
      return payload;
    },
  };
}

/** The words that the yard's tree is made of. */
const yards = [
  'Northquay',
  'Saltmarsh',
  'Gull Point',
  'Old Harbor',
  'Kelpie Bay',
  'Lanternhead',
  'Three Piers',
  'Windward',
  'Eastlock',
  'Fairlead',
];

const areas = [
  'Hull and structure',
  'Rigging and sails',
  'Propulsion',
  'Electrical',
  'Navigation',
  'Interior',
  'Paint and finish',
  'Quality',
  'Purchasing',
  'Safety',
  'Docks and cranes',
  'Customers',
];

const jobs = ['Refit', 'Survey', 'Winter service', 'Repair', 'Conversion', 'Launch', 'Overhaul', 'Handover'];

const vessels = [
  'Morning Star',
  'Kittiwake',
  'Aurelia',
  'Storm Petrel',
  'Halcyon',
  'Margarethe',
  'Second Wind',
  'Curlew',
  'Lodestar',
  'Nordlys',
  'Brisk',
  'Annabel Lee',
  'Sea Holly',
  'Pilot 7',
  'Tern',
  'Wanderer',
];

const packages = [
  'Preparation',
  'Dismantling',
  'Inspection',
  'Parts and material',
  'Assembly',
  'Adjustment',
  'Sea trial',
  'Papers',
];

const verbs = [
  'Inspect',
  'Replace',
  'Order',
  'Measure',
  'Clean',
  'Grease',
  'Photograph',
  'Sand down',
  'Varnish',
  'Pressure-test',
  'Balance',
  'Label',
  'Align',
  'Seal',
  'Calibrate',
  'Weigh',
];

const things = [
  'anchor chain',
  'port shroud',
  'bilge pump',
  'rudder bearing',
  'mast step',
  'main halyard',
  'shaft seal',
  'battery bank',
  'galley stove',
  'keel bolts',
  'steering cable',
  'fuel filter',
  'running lights',
  'deck planks',
  'stern tube',
  'windlass',
  'life raft',
  'radar dome',
  'chart table',
  'cleats',
  'fresh water tank',
  'propeller',
  'boom vang',
  'hatch gasket',
  'VHF aerial',
  'winch drum',
  'engine mounts',
  'cabin sole',
];

const people = [
  'Ines',
  'Tomasz',
  'Aiko',
  'Bram',
  'Leila',
  'Oskar',
  'Priya',
  'Joan',
  'Mateo',
  'Freya',
  'Kofi',
  'Yusuf',
  'Hanne',
  'Rosa',
];

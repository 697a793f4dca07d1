/** The tree of the page's worker: opened on first use and stored in the browser, or a million nodes to try out. */

import { type ErrorData, toData } from '../../../src/base/errors.ts';
import type { Watchable } from '../../../src/contracts/index.ts';
import {
  createTree,
  type HostedRuntime,
  localPrincipal,
  PinnaceError,
  type Storage,
  type Tree,
  treeTools,
} from '../../../src/index.ts';
import type { TreeOutcome, TreeRow } from '../../../src/tree/index.ts';
import { nextTask } from '../../kit/next-task.ts';
import { withRoomAdvice } from '../../storage/no-room.ts';
import type { HandTool, TreeControl, TreeNews, TreeStatus } from '../../control/tree-control.ts';
import { rankByPrefix } from './find.ts';
import { createStand, type Stand } from './stand.ts';
import { countOf, manyYards, oneYard, openYard, yardOptions, yardRows, type YardSize } from './yard.ts';

/** The tree, for the panel and for agents. */
export interface TreeHost {
  readonly control: TreeControl;
  /** Calls a tool at the tree that the panel shows. */
  readonly call: (
    agentId: string,
    call: { readonly tool: string; readonly input: unknown },
  ) => Promise<TreeOutcome>;
}

export interface TreeHostOptions {
  readonly storage: Storage & Partial<Watchable>;
  /** The runtime that authorizes and audits changes by hand. Called lazily. */
  readonly runtime?: () => Guard;
  /** The initial size of the stored tree and of the large one. */
  readonly size?: YardSize;
  readonly largeSize?: YardSize;
}

/** Creates the host. Opens nothing before the first call. */
export function createTreeHost(
  { storage, runtime, size = oneYard, largeSize = manyYards }: TreeHostOptions,
): TreeHost {
  const listeners = new Set<(news: TreeNews) => void>();
  const emit = (news: TreeNews): void => listeners.forEach((listener) => listener(news));
  let stored: Promise<Stand> | undefined;
  let large: Stand | undefined;

  function stand(tree: Tree, kind: TreeStatus['kind']): Promise<Stand> {
    const here: Promise<Stand> = createStand(tree, {
      kind,
      onChange: (change) =>
        void here.then((own) => own === large || !large ? emit({ type: 'changed', ...change }) : {}),
    });
    return here;
  }

  async function keep(): Promise<Stand> {
    try {
      const tree = await openYard(storage, { size });
      tree.follow(new AbortController().signal);
      return await stand(tree, 'stored');
    } catch {
      return await stand(createTree({ ...yardOptions, rows: [...yardRows(size)] }), 'unstored');
    }
  }

  /** A tree that is not stored needs no audit. */
  const doneByHand = (here: Stand, tool: string, change: () => Promise<TreeOutcome>): Promise<TreeOutcome> =>
    runtime && here.status().kind === 'stored' ? byHand(runtime(), tool, change) : change();

  const shown = async (): Promise<Stand> => large ?? await (stored ??= keep());

  return {
    async call(agentId, { tool, input }) {
      const { tree } = await shown();
      return await treeTools(tree, { agentId, role: 'editor', shape: 'columns' }).call(tool, input);
    },
    control: {
      async open(onNews) {
        listeners.add(onNews);
        return (await shown()).status();
      },
      rows: async (wanted) => (await shown()).page(wanted),
      setExpanded: async (nodeId, isExpanded) => changeView(await shown(), nodeId, 'setExpanded', isExpanded),
      setAll: async (nodeId, isExpanded) => changeView(await shown(), nodeId, 'setAll', isExpanded),
      async reveal(nodeId) {
        const { tree, view } = await shown();
        if (tree.get(nodeId)) view.reveal(nodeId);
        return view.rankOf(nodeId);
      },
      typeAhead: async (prefix, rank) => rankByPrefix((await shown()).view, prefix, rank),
      search: async (text, limit) => await (await shown()).finder.search(text, limit),
      async change(tool, input) {
        const here = await shown();
        return inWords(await doneByHand(here, tool, () => changeByHand(here, tool, input)));
      },
      async undo() {
        const here = await shown();
        return inWords(await doneByHand(here, 'undo', () => undoLatest(here)));
      },
      async grow() {
        const rows = await growRows(largeSize, (done) => emit({ type: 'growing', done, total: countOf(largeSize) }));
        large?.close();
        large = await stand(createTree({ ...yardOptions, rows, source: 'trusted' }), 'large');
        emit({ type: 'replaced', status: large.status() });
      },
      async goBack() {
        large?.close();
        large = undefined;
        emit({ type: 'replaced', status: (await shown()).status() });
      },
    },
  };
}

function changeView({ tree, view }: Stand, nodeId: string, how: 'setExpanded' | 'setAll', isExpanded: boolean): number {
  if (tree.get(nodeId)) view[how](nodeId, isExpanded);
  return view.rankOf(nodeId);
}

function changeByHand(here: Stand, tool: HandTool, input: Readonly<Record<string, unknown>>): Promise<TreeOutcome> {
  return here.own(() => here.tools.call(tool, input));
}

function inWords(outcome: TreeOutcome): TreeOutcome {
  return outcome.ok ? outcome : { ...outcome, error: withRoomAdvice(outcome.error) };
}

/** Skips changes that another writer has undone. */
async function undoLatest(here: Stand): Promise<TreeOutcome> {
  const latest = here.activities.latest();
  if (!latest) {
    return { ok: false, error: { code: 'not_found', message: 'Cannot undo: nothing was changed', retryable: false } };
  }
  const { version } = latest;
  const outcome = await here.own(() => here.tools.call('undo', { version, versionToken: here.status().version }));
  const reason = outcome.ok ? undefined : outcome.error.details?.['reason'];
  if (reason !== 'already_undone' && reason !== 'version_unknown' && reason !== 'epoch_changed') return outcome;
  here.activities.forget(version);
  return await undoLatest(here);
}

/** Rows made in one go, before the worker answers what came meanwhile. */
const chunk = 20_000;

async function growRows(size: YardSize, onProgress: (done: number) => void): Promise<TreeRow[]> {
  const rows: TreeRow[] = [];
  for (const row of yardRows(size)) {
    if (rows.push(row) % chunk !== 0) continue;
    onProgress(rows.length);
    await nextTask();
  }
  onProgress(rows.length);
  return rows;
}

/** The part of a runtime that is used. */
export type Guard = Pick<HostedRuntime, 'guard'>;

/** Makes a change at the tree; where it cannot be written down, it is not made. What the tree refuses is an outcome, as ever. */
export async function byHand(
  { guard }: Guard,
  tool: string,
  change: () => Promise<TreeOutcome>,
): Promise<TreeOutcome> {
  const [action, target] = [`tree.${tool}`, { type: 'tree', id: 'yard' }];
  let outcome: TreeOutcome = notWritten;
  try {
    await guard({ principal: localPrincipal(), action, target, attempt: 'Cannot change the tree' }, async (place) => {
      const span = place.start({ action, target });
      outcome = await change();
      if (outcome.ok) return span.end({ status: 'ok' });
      span.end({ status: 'error', error: outcome.error });
      throw new PinnaceError(outcome.error.code, 'Cannot change the tree: permission denied'); // so that the audit says so
    });
  } catch (error) {
    // The outcome says it, where the change was tried.
    if (outcome === notWritten) outcome = { ok: false, error: { ...notWritten.error, ...reasonOf(error) } };
  }
  return outcome;
}

function reasonOf(error: unknown): Partial<Pick<ErrorData, 'details'>> {
  const { details } = toData(error);
  return details ? { details } : {};
}

const notWritten: TreeOutcome & { readonly ok: false } = {
  ok: false,
  error: {
    code: 'internal',
    message: 'Cannot change the tree: the change cannot be recorded in the audit; try again',
    retryable: true,
  },
};

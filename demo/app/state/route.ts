/**
 * The page's addresses: what is open, as the part of the URL after `#`.
 *
 * - `writeRoute(readRoute(hash))` is `hash` for every address that the page writes. Addresses of 0.2.0 are read and written as today's.
 * - An address of something unknown is a new chat with `unknown`, which the page reports.
 */

/** Where agents and runs are: in this page, or at the connected server. */
export type Where = 'page' | 'server';

const runsSections = ['list', 'schedules', 'tests', 'plans', 'audit', 'metrics'] as const;
/** What the page of runs shows: runs and test cases of this page; runs, plans, audit log and metrics of a server. */
export type RunsSection = typeof runsSections[number];

export interface RunsScreen {
  readonly name: 'runs';
  readonly where: Where;
  readonly section: RunsSection;
  readonly planId?: string | undefined;
}

export interface RunScreen {
  readonly name: 'run';
  readonly traceId: string;
  /** The plan that it follows; then the run that started the plan is shown. */
  readonly planId?: string | undefined;
  /** The server that the run was at; without one, this page's worker. */
  readonly via?: string | undefined;
  /** What of the run is shown; its timeline, when absent. */
  readonly tab?: string | undefined;
  /** The fork that is shown beside the run, by its id. */
  readonly fork?: string | undefined;
  /** The page that it was opened from, to which going back leads. */
  readonly from?: RunsScreen;
}

/** A page over the chat. Where inside its agents and files the person is, is in signals of their own. */
export type Screen =
  | { readonly name: 'agents'; readonly where: Where }
  | { readonly name: 'files' | 'settings' | 'guard' | 'waiting' }
  | { readonly name: 'link' | 'shared'; readonly hash: string }
  | RunsScreen
  | RunScreen;

/** What lies on top, and closes before anything else. */
export type OverRoute = 'model' | 'server' | 'palette' | 'chats' | 'chat-settings' | 'share';

export interface Route {
  /** `undefined`: a new chat. */
  readonly chatId?: string | undefined;
  readonly screen?: Screen | undefined;
  /** Where inside the agents or the files. */
  readonly at?: readonly string[] | undefined;
  readonly tree?: boolean | undefined;
  /** Where in the files beside the chat the person is, if they are open. */
  readonly files?: readonly string[] | undefined;
  readonly over?: OverRoute | undefined;
  /** An address that starts the tour; the tour itself is not part of the history. */
  readonly tour?: boolean | undefined;
  /** The first part of an address that leads nowhere. */
  readonly unknown?: string | undefined;
}

const overs: readonly OverRoute[] = ['model', 'server', 'palette', 'chats', 'chat-settings', 'share'];

/** Where a new agent is made, in the agents. */
export const newAgent: readonly string[] = ['agent', '~new'];

/** Reads an address. `#<id>`, an older form, is a chat. */
export function readRoute(hash: string): Route {
  if (/^#(?:agent|chat)=/.test(hash)) return { screen: { name: hash.startsWith('#chat=') ? 'shared' : 'link', hash } };
  if (/^#[\w-]{8,}$/.test(hash) && !/^#(?:settings|new-agent)$/.test(hash)) return { chatId: hash.slice(1) };
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?', 2);
  const [first = '', ...rest] = segments(path);
  const params = new URLSearchParams(query);
  const over = overs.find((each) => each === (first === 'model' ? first : params.get('over')));
  const files = params.get('files') ?? params.get('knowledge');
  const { screen, at } = readScreen(first, rest, params);
  const isKnown = screen !== undefined || ['', 'c', 'model', 'tour'].includes(first);
  return {
    chatId: first === 'c' ? rest[0] : params.get('chat') ?? undefined,
    screen,
    at,
    tree: params.has('tree'),
    files: files === null ? undefined : segments(files),
    over,
    tour: first === 'tour',
    unknown: isKnown ? undefined : first,
  };
}

function readScreen(
  first: string,
  rest: readonly string[],
  params: URLSearchParams,
): { readonly screen?: Screen; readonly at?: readonly string[] } {
  const where = params.get('at') === 'server' ? 'server' : 'page';
  switch (first) {
    case 'runs':
      return { screen: readRuns(rest, where, params) };
    case 'agents':
    case 'registry': // 0.2.0
      return { screen: { name: 'agents', where }, at: rest };
    case 'console': { // 0.2.0
      const [tab = 'registry', ...inside] = rest;
      if (tab === 'registry') return { screen: { name: 'agents', where: 'server' }, at: inside };
      return { screen: readRuns(tab === 'runs' ? [] : rest, 'server', params) };
    }
    case 'files':
      return { screen: { name: first }, at: rest };
    case 'new-agent':
      return { screen: { name: 'agents', where: 'page' }, at: newAgent };
    case 'guard':
    case 'waiting':
      return { screen: { name: first } };
    case 'settings':
    case 'privacy': // 0.2.0
      return { screen: { name: 'settings' } };
    default:
      return {};
  }
}

function readRuns([first = 'list', ...rest]: readonly string[], where: Where, params: URLSearchParams): Screen {
  const section = first === 'evals' ? 'tests' : runsSections.find((each) => each === first);
  const optional = (name: string): string | undefined => params.get(name) ?? undefined;
  if (section === undefined) {
    const [tab, fork] = rest;
    return { name: 'run', traceId: first, tab, fork, planId: optional('plan'), via: optional('via') };
  }
  return {
    name: 'runs',
    where: section === 'tests' ? 'page' : isAtBoth(section) ? where : 'server',
    section,
    ...(section === 'plans' && { planId: rest[0] }),
  };
}

/** Writes an address, with its `#`. The same route has the same address. */
export function writeRoute({ chatId, screen, at = [], tree, files, over }: Route): string {
  if (screen && 'hash' in screen) return screen.hash;
  const path = screen ? writeScreen(screen, at) : chatId === undefined ? [] : ['c', chatId];
  const params: [string, string][] = [];
  if (screen && 'where' in screen && screen.where === 'server' && needsWhere(screen)) params.push(['at', 'server']);
  if (screen && chatId !== undefined) params.push(['chat', chatId]);
  if (screen?.name === 'run' && screen.planId !== undefined) params.push(['plan', screen.planId]);
  if (screen?.name === 'run' && screen.via !== undefined) params.push(['via', screen.via]);
  if (tree) params.push(['tree', '']);
  if (files) params.push(['files', joined(files)]);
  if (over) params.push(['over', over]);
  const query = new URLSearchParams(params).toString().replace(/=(?=&|$)/g, '');
  return `#/${joined(path)}${query === '' ? '' : `?${query}`}`;
}

function needsWhere(screen: Screen): boolean {
  return screen.name === 'agents' || (screen.name === 'runs' && isAtBoth(screen.section));
}

function isAtBoth(section: RunsSection): boolean {
  return section === 'list' || section === 'schedules';
}

function writeScreen(screen: Screen, at: readonly string[]): readonly string[] {
  switch (screen.name) {
    case 'run':
      return ['runs', screen.traceId, screen.tab, screen.fork].filter((one) => one !== undefined);
    case 'runs':
      return ['runs', screen.section === 'list' ? undefined : screen.section, screen.planId]
        .filter((one) => one !== undefined);
    case 'agents':
    case 'files':
      return [screen.name, ...at];
    default:
      return [screen.name];
  }
}

/** Whether going from `now` to `next` closes something and opens nothing. */
export function isClosing(now: Route, next: Route): boolean {
  const before = new Set(layersOf(now));
  const after = layersOf(next);
  return after.length < before.size && after.every((layer) => before.has(layer));
}

/** Whether both differ by a tab only, which is no step of its own in the history. */
export function isTabOnly({ screen: now }: Route, { screen: next }: Route): boolean {
  return now?.name === 'run' && next?.name === 'run' && now.traceId === next.traceId && now.tab !== next.tab &&
    now.fork === next.fork;
}

/** What is open, the lowest first. */
function layersOf({ chatId = '', screen, at = [], tree, files, over }: Route): readonly string[] {
  return [
    `chat ${chatId}`,
    ...(tree ? ['tree'] : []),
    ...(files ? paths('files', files) : []),
    ...(screen ? layersOfScreen(screen, at) : []),
    ...(over ? [`over ${over}`] : []),
  ];
}

/** A run that was opened from a list lies over the list. */
function layersOfScreen(screen: Screen, at: readonly string[]): readonly string[] {
  if ('hash' in screen) return ['link'];
  const below = screen.name === 'run' && screen.from ? layersOfScreen(screen.from, []) : [];
  const where = 'where' in screen ? ` ${screen.where}` : '';
  return [...below, ...paths(`screen${where}`, writeScreen(screen, at))].filter((each, i, all) =>
    all.indexOf(each) === i
  );
}

/** `a`, `a/b`, `a/b/c`. */
function paths(name: string, at: readonly string[]): readonly string[] {
  return [name, ...at.map((_, i) => `${name} ${joined(at.slice(0, i + 1))}`)];
}

function joined(at: readonly string[]): string {
  return at.map(encodeURIComponent).join('/');
}

function segments(text: string): readonly string[] {
  return text.split('/').filter((each) => each !== '').map(decoded);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

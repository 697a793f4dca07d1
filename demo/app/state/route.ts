/** The page's addresses: what is open, as the part of the URL after `#`. */

/** A page over the chat. */
export type ScreenRoute =
  | { readonly name: 'registry' | 'builder'; readonly at: readonly string[] }
  | { readonly name: 'privacy' }
  | {
    readonly name: 'runs';
    readonly traceId?: string | undefined;
    readonly tab?: string | undefined;
    /** The fork beside the run. */
    readonly fork?: string | undefined;
    readonly planId?: string | undefined;
    /** The endpoint that the run was at. */
    readonly via?: string | undefined;
  };

/** What lies on top, and closes before anything else. */
export type OverRoute = 'model' | 'palette' | 'chats' | 'chat-settings' | 'share';

/** What is open. */
export interface Route {
  /** `undefined`: a new chat. */
  readonly chatId?: string | undefined;
  readonly screen?: ScreenRoute | undefined;
  /** Where in the console the person is, if it is open; runs are shown over it. */
  readonly console?: readonly string[] | undefined;
  readonly tree?: boolean | undefined;
  /** Where in the knowledge the person is, if it is open. */
  readonly knowledge?: readonly string[] | undefined;
  readonly over?: OverRoute | undefined;
  /** An address that starts the tour; the tour itself is not part of the history. */
  readonly tour?: boolean | undefined;
  /** The whole address of an agent or a chat that is shared as a link. */
  readonly link?: string | undefined;
}

const overs: readonly OverRoute[] = ['model', 'palette', 'chats', 'chat-settings', 'share'];

/** Reads an address. What it does not know is a new chat; `#<id>`, an older form, is a chat. */
export function readRoute(hash: string): Route {
  if (/^#(?:agent|chat)=/.test(hash)) return { link: hash };
  if (/^#[\w-]{8,}$/.test(hash)) return { chatId: hash.slice(1) };
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?', 2);
  const [first = '', ...rest] = path.split('/').filter((each) => each !== '').map(decoded);
  const params = new URLSearchParams(query);
  const over = overs.find((each) => each === (first === 'model' ? first : params.get('over')));
  const consoleAt = params.get('console');
  return {
    chatId: first === 'c' ? rest[0] : params.get('chat') ?? undefined,
    screen: readScreen(first, rest, params),
    console: first === 'console' ? rest : consoleAt === null ? undefined : segments(consoleAt),
    tree: params.has('tree'),
    knowledge: params.has('knowledge') ? segments(params.get('knowledge') ?? '') : undefined,
    over,
    tour: first === 'tour',
  };
}

function readScreen(first: string, rest: readonly string[], params: URLSearchParams): ScreenRoute | undefined {
  switch (first) {
    case 'runs': {
      const [traceId, tab, fork] = rest;
      return {
        name: 'runs',
        traceId,
        tab,
        fork,
        planId: params.get('plan') ?? undefined,
        via: params.get('via') ?? undefined,
      };
    }
    case 'registry':
      return { name: 'registry', at: rest };
    case 'new-agent':
      return { name: 'builder', at: rest };
    case 'privacy':
      return { name: first };
    default:
      return undefined;
  }
}

/** Writes an address, with its `#`. The same route has the same address. */
export function writeRoute(route: Route): string {
  if (route.link !== undefined) return route.link;
  const { chatId, screen, console: consoleAt, tree, knowledge, over } = route;
  const params: [string, string][] = [];
  const path = screen
    ? writeScreen(screen)
    : consoleAt
    ? ['console', ...consoleAt]
    : chatId === undefined
    ? []
    : ['c', chatId];
  if (screen && consoleAt) params.push(['console', joined(consoleAt)]);
  if ((screen || consoleAt) && chatId !== undefined) params.push(['chat', chatId]);
  if (screen?.name === 'runs' && screen.planId !== undefined) params.push(['plan', screen.planId]);
  if (screen?.name === 'runs' && screen.via !== undefined) params.push(['via', screen.via]);
  if (tree) params.push(['tree', '']);
  if (knowledge) params.push(['knowledge', joined(knowledge)]);
  if (over) params.push(['over', over]);
  const query = new URLSearchParams(params).toString().replace(/=(?=&|$)/g, '');
  return `#/${joined(path)}${query === '' ? '' : `?${query}`}`;
}

function writeScreen(screen: ScreenRoute): readonly string[] {
  switch (screen.name) {
    case 'runs':
      return ['runs', ...(screen.traceId === undefined ? [] : [screen.traceId, screen.tab, screen.fork])].filter((
        one,
      ) => one !== undefined);
    case 'registry':
      return ['registry', ...screen.at];
    case 'builder':
      return ['new-agent', ...screen.at];
    case 'privacy':
      return [screen.name];
    default:
      return screen satisfies never;
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
  return now?.name === 'runs' && next?.name === 'runs' && now.traceId === next.traceId && now.tab !== next.tab &&
    now.fork === next.fork;
}

/** What is open, the lowest first. */
function layersOf({ chatId = '', screen, console: consoleAt, tree, knowledge, over, link }: Route): readonly string[] {
  return [
    `chat ${chatId}`,
    ...(tree ? ['tree'] : []),
    ...(knowledge ? paths('knowledge', knowledge) : []),
    ...(consoleAt ? paths('console', consoleAt) : []),
    ...(screen ? paths('screen', writeScreen(screen)) : []),
    ...(link === undefined ? [] : ['link']),
    ...(over ? [`over ${over}`] : []),
  ];
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

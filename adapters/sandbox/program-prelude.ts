/** The module that runs in the sandbox before a program, and connects its tools to the host. It is a string without imports. */

import type { ProgramOptions } from '../../src/contracts/sandbox.ts';
import { handles } from './handle-prelude.ts';
import { allowed, captures, mark, permissions, replies, walls } from './prelude.ts';

/**
 * Returns the module. A worker imports `run` from it and passes the program; a process reads the program from its input. `fixed` has
 * the time and the seed of a program whose module runs before its settings arrive.
 */
export function programPrelude(fixed?: Pick<ProgramOptions, 'at' | 'seed'>): string {
  const settings = JSON.stringify({ allowed, permissions });
  const start = fixed ? `control(${JSON.stringify({ at: fixed.at, seed: fixed.seed })});\n` : '';
  return `const settings = JSON.parse(${JSON.stringify(settings)});\n${body}${start}${mark}`;
}

/**
 * Reports are lists in JSON: `[{ t: 'call' | 'idle' | 'end' … }]`, one list for each turn. Messages of the host are lists too: the
 * first has the settings of the program, all others have deliveries.
 */
const body = String.raw`
${captures}
const { construct, apply } = Reflect;
const { getOwnPropertyDescriptor } = Object;
const CellPromise = Promise;
const CellError = Error;
const isDeno = typeof Deno !== 'undefined';
const later = turns();
const targets = isDeno ? EventTarget.prototype : undefined;
const { preventDefault } = Event.prototype;
const port = host === undefined ? workerPort() : processPort(host);

let maxOutputLength = 0;
let recorded = [];
let replayed = 0;
let work;
let starting;
let outbox = '';
let done = false;
let isReady = false;
const inbox = [];
const unsent = [];
const waiting = { __proto__: null };
let [last, open, inFlight] = [0, 0, 0];

(host?.onError ?? onErrorEvent)((isThrown) => { // else a call failed that the program has not awaited yet
  if (isThrown) finish('{"ok":false,"reason":"code_failed"}');
});
${walls}
// Deno reports rejections by this method, and ends without it. This one takes no other event.
if (isDeno) fix(targets, 'dispatchEvent', (event) => void apply(preventDefault, event, []));
${replies}
${handles}
/** Calls afterTurn once all promises have settled. A timer would take milliseconds; messages of a channel can be too early in Deno. */
function turns() {
  const turn = () => {
    try {
      afterTurn();
    } catch {
      finish('{"ok":false,"reason":"code_failed"}');
    }
  };
  if (host !== undefined) {
    const wait = setImmediate;
    return () => void wait(turn);
  }
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = turn;
  const wake = port2.postMessage.bind(port2);
  return () => wake(0);
}

function workerPort() {
  addEventListener('message', (event) => receive(event.data));
  return { post: postMessage.bind(globalThis), wait() {}, exit() {} };
}

function processPort({ read, write, exit }) {
  const encode = encoder.encode.bind(encoder);
  const post = (text) => {
    const bytes = encode(text + '\n');
    for (let at = 0; at < bytes.length;) at += write(bytes.subarray(at));
  };
  return { post, wait: lines(read, exit), exit };
}

/** Blocks until the host has sent a line: nothing else happens meanwhile, and an asynchronous read takes a thread. */
function lines(read, exit) {
  const decoder = new TextDecoder();
  const decode = decoder.decode.bind(decoder);
  const bytes = new Uint8Array(65_536);
  const { slice, indexOf } = String.prototype;
  const part = bytes.subarray.bind(bytes);
  let text = '';
  return () => {
    for (;;) {
      const end = apply(indexOf, text, ['\n']);
      if (end >= 0) {
        const line = apply(slice, text, [0, end]);
        text = apply(slice, text, [end + 1]);
        return receive(line);
      }
      const count = read(bytes);
      if (count === null) return exit();
      text += decode(part(0, count), { stream: true });
    }
  };
}

function receive(text) {
  const messages = parse(text);
  if (starting === undefined) {
    starting = messages[0];
    start();
    return;
  }
  for (let i = 0; i < messages.length; i++) inbox[inbox.length] = messages[i];
  if (isReady) take();
}

export function run(given) {
  work ??= given;
  start();
}

function start() {
  if (starting === undefined || done) return;
  if (!isIsolated || left.length > 0) return finish('{"ok":false,"reason":"not_isolated"}');
  const { code } = starting;
  hasHandles = starting.handles === true;
  control(starting); // before any code of the program: it may close its function, and run while its module loads
  if (code !== undefined) {
    starting.code = undefined;
    const source = 'export default async (tools) => {\n' + code + '\n};\n';
    load('data:text/javascript;charset=utf-8,' + encodeURIComponent(source));
  }
  if (work === undefined) return;
  ({ maxOutputLength, recorded } = starting);
  execute(work);
  later();
}

async function load(url) {
  try {
    ({ default: work } = await import(url));
  } catch {
    return finish('{"ok":false,"reason":"invalid_code"}');
  }
  start();
}

async function execute(program) {
  let reply;
  try {
    reply = answer(await program(tools), encode);
  } catch (error) {
    reply = failure(error);
  }
  finish(reply);
}

function report(text) {
  outbox += (outbox === '' ? '[' : ',') + text;
}

function flush() {
  if (outbox === '') return;
  const text = outbox + ']';
  outbox = '';
  port.post(text);
}

function finish(reply) {
  if (done) return;
  done = true;
  if (hasAbused) reply = '{"ok":false,"reason":"bridge_abused"}';
  report('{"t":"end","open":' + open + ',"reply":' + stringify(reply) + '}');
  flush();
  port.exit();
}

function afterTurn() {
  if (done) return;
  if (replayed < recorded.length) return settle(recorded[replayed++]);
  report('{"t":"idle","open":' + open + '}');
  flush();
  isReady = true;
  if (taken === inbox.length) port.wait();
  else take();
}

let taken = 0;

function take() {
  if (taken === inbox.length) return;
  isReady = false;
  const delivery = inbox[taken];
  inbox[taken++] = undefined;
  settle(delivery);
}

function settle({ n, ok, output, handle, code, message }) {
  const found = waiting[n];
  if (found === undefined) return finish('{"ok":false,"reason":"diverged"}');
  delete waiting[n];
  open--;
  inFlight--;
  if (unsent.length > next) send();
  if (ok) found.resolve(handle === undefined ? output : handleAt(handle, ''));
  else found.reject(toolError(code, message));
  later();
}

let next = 0;

function send() {
  const text = unsent[next];
  unsent[next++] = undefined;
  inFlight++;
  report(text);
}

function toolError(code, message) {
  const error = new CellError(message);
  defineProperty(error, 'name', { value: 'ToolError', configurable: true, writable: true });
  defineProperty(error, 'code', { value: code, configurable: true, writable: true, enumerable: true });
  return error;
}

function request(tool, input) {
  let text;
  try {
    text = encode(input) ?? '{}';
  } finally {
    if (hasAbused) finish('');
  }
  return new CellPromise((resolve, reject) => {
    const n = ++last;
    waiting[n] = { resolve, reject };
    open++;
    unsent[unsent.length] = '{"t":"call","n":' + n + ',"tool":' + stringify(tool) + ',"input":' + stringify(text) + '}';
    if (inFlight < 16) send();
  });
}

const isName = (name) => typeof name === 'string' && name !== 'then';
const tools = new Proxy({ __proto__: null }, {
  get: (_, name) =>
    !isName(name) ? undefined : hasHandles && name === '$each' ? each : hasHandles && name === '$choose' ? choose :
    async (input) => await request(name, input),
  has: (_, name) => isName(name),
  set: () => false,
  defineProperty: () => false,
  deleteProperty: () => false,
  setPrototypeOf: () => false,
  preventExtensions: () => false,
});

globalThis.setTimeout = (callback, ms = 0, ...args) => {
  if (typeof callback !== 'function') throw new TypeError('setTimeout takes a function here');
  const wake = async () => {
    await request('$sleep', { ms: toNumber(ms) || 0 });
    callback(...args);
  };
  wake().catch((error) => finish(failure(error)));
};

let isControlled = false;

/** Fixes the clock and the random numbers, once. */
function control({ at, seed }) {
  if (isControlled) return;
  isControlled = true;
  const RealDate = Date;
  fix(RealDate, 'now', () => at);
  const FixedDate = new Proxy(RealDate, {
    construct: (target, args, made) => construct(target, args.length === 0 ? [at] : args, made),
    apply: () => toText(new RealDate(at)),
  });
  fix(RealDate.prototype, 'constructor', FixedDate);
  globalThis.Date = FixedDate;
  const { prototype } = Intl.DateTimeFormat;
  const { get } = getOwnPropertyDescriptor(prototype, 'format');
  defineProperty(prototype, 'format', {
    get() {
      const format = apply(get, this, []);
      return (date) => format(date === undefined ? at : date);
    },
  });
  const { formatToParts } = prototype;
  fix(prototype, 'formatToParts', function (date) {
    return apply(formatToParts, this, [date === undefined ? at : date]);
  });
  if (typeof Temporal === 'object') controlTemporal(at);
  let state = seed >>> 0;
  fix(Math, 'random', () => { // mulberry32
    state = (state + 0x6d2b79f5) | 0;
    let mixed = imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  });
}

const { imul } = Math;

function controlTemporal(at) {
  const instant = () => Temporal.Instant.fromEpochMilliseconds(at);
  const { DateTimeFormat } = Intl;
  const { resolvedOptions } = DateTimeFormat.prototype;
  let found;
  const zone = () => found ??= apply(resolvedOptions, new DateTimeFormat(), []).timeZone; // the first one takes 10 ms
  const zoned = (timeZone = zone()) => instant().toZonedDateTimeISO(timeZone);
  fix(Temporal, 'Now', {
    instant,
    timeZoneId: zone,
    zonedDateTimeISO: zoned,
    plainDateTimeISO: (timeZone) => zoned(timeZone).toPlainDateTime(),
    plainDateISO: (timeZone) => zoned(timeZone).toPlainDate(),
    plainTimeISO: (timeZone) => zoned(timeZone).toPlainTime(),
  });
}

// Never settles: until then a process does not look for what was taken away.
if (host !== undefined) {
  port.wait();
  await new CellPromise(() => {});
}
`;

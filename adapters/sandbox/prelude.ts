/** The module that runs in the sandbox before the code and removes everything but the language. It is a string without imports. */

/** Globals that remain. None has access to the host, the network, storage, other code or shared memory. */
export const allowed = (
  'Object Array String Number Boolean Symbol BigInt Math JSON Date RegExp Map Set WeakMap WeakSet Promise Proxy Reflect ' +
  'Error AggregateError EvalError RangeError ReferenceError SuppressedError SyntaxError TypeError URIError ' +
  'ArrayBuffer DataView Int8Array Uint8Array Uint8ClampedArray Int16Array Uint16Array Int32Array Uint32Array ' +
  'BigInt64Array BigUint64Array Float16Array Float32Array Float64Array Intl Iterator Temporal ' +
  'DisposableStack AsyncDisposableStack parseInt parseFloat isNaN isFinite NaN Infinity undefined globalThis ' +
  'encodeURIComponent decodeURIComponent encodeURI decodeURI escape unescape TextEncoder TextDecoder URL URLSearchParams ' +
  'atob btoa queueMicrotask'
).split(' ');

/** The permissions of Deno. In a process all must be denied; Node has some of them. */
export const permissions = ['net', 'read', 'write', 'env', 'run', 'sys', 'ffi', 'import'];

export interface PreludeSettings {
  /** As JSON. */
  readonly input: string;
  readonly maxOutputLength: number;
  /** The URL of a module whose default export is the code; absent where that module imports `run` from this one instead. */
  readonly codeUrl?: string;
}

/** Returns the module. It has finished before the first line of the code runs. */
export function prelude(given: PreludeSettings): string {
  const settings = JSON.stringify({ allowed, permissions, ...given });
  return `const settings = JSON.parse(${JSON.stringify(settings)});\n${body}${mark}`;
}

/** Names the module in the frames of errors: engines write this, or the end of its URL. */
export const mark = '\n//# sourceURL=our:prelude';

/** Copies the globals that it needs at the start, because the code may change globals later. */
export const captures = String.raw`
const { stringify, parse } = JSON;
const { defineProperty, getPrototypeOf, prototype: objectPrototype } = Object;
const { ownKeys, deleteProperty } = Reflect;
const toText = String;
const toNumber = Number;
const { call } = Function.prototype;
const matchIn = call.bind(RegExp.prototype[Symbol.match]);
const textHas = call.bind(String.prototype.includes);
const cutBy = call.bind(String.prototype.split);
const encoder = new TextEncoder();
const host = typeof Deno !== 'undefined' ? denoHost(Deno) : typeof process !== 'undefined' ? nodeHost(process) : undefined;
const isIsolated = host === undefined || settings.permissions.every(host.denies);

/** What a process has of its platform: blocking input and output, its end, and what it is denied. */
function denoHost({ stdin, stdout, exit, permissions }) {
  return {
    read: stdin.readSync.bind(stdin),
    write: stdout.writeSync.bind(stdout),
    exit: () => exit(),
    denies(name) {
      const { state, partial } = permissions.querySync({ name });
      return state !== 'granted' && partial !== true;
    },
    onError: onErrorEvent,
  };
}

function onErrorEvent(handle) {
  for (const type of ['error', 'unhandledrejection']) {
    addEventListener(type, (event) => {
      event.preventDefault();
      handle(type === 'error');
    });
  }
}

function nodeHost(own) {
  const { readSync, writeSync } = own.getBuiltinModule('node:fs');
  const { permission } = own;
  const scopes = { read: 'fs.read', write: 'fs.write', run: 'child', ffi: 'addons', net: 'net' };
  // What is allowed for a part alone, such as one folder, is not told by the scope.
  const isWalled = permission !== undefined && own.env.NODE_OPTIONS === undefined &&
    !own.execArgv.some((flag) => flag.startsWith('--allow-'));
  const pause = new Int32Array(new SharedArrayBuffer(4));
  const { wait } = Atomics;
  const exit = own.reallyExit.bind(own);
  const patiently = (work) => { // a pipe of Node may not block
    for (;;) {
      try {
        return work();
      } catch (error) {
        if (error.code === 'EOF' || error.code === 'EPIPE') exit(0);
        if (error.code !== 'EAGAIN') throw error;
        wait(pause, 0, 0, 1);
      }
    }
  };
  return {
    read: (bytes) => patiently(() => readSync(0, bytes)) || null,
    write: (bytes) => patiently(() => writeSync(1, bytes)),
    exit: () => exit(0),
    denies: (name) => isWalled && (scopes[name] === undefined || !permission.has(scopes[name])),
    onError(handle) {
      own.on('uncaughtException', () => handle(true));
      own.on('unhandledRejection', () => handle(false));
    },
  };
}
`;

/** Removes everything but the language from the realm. Needs the captures. */
export const walls = String.raw`
const fix = (target, key, value) => defineProperty(target, key, { value, writable: false, configurable: false });
const refuse = (name) => {
  const refused = function () {
    throw new TypeError(name + ' is not available here');
  };
  return refused;
};

// Text never becomes code: the constructors of functions are the way to it that needs no global.
const samples = [function () {}, async function () {}, function* () {}, async function* () {}];
for (const sample of samples) {
  const prototype = getPrototypeOf(sample);
  fix(prototype, 'constructor', refuse('The constructor of functions'));
}
fix(Error, 'prepareStackTrace', undefined);
if (host !== undefined) fix(globalThis, 'Error', Error); // Node asks what stands here how to write stacks
delete URL.createObjectURL;
delete URL.revokeObjectURL;

const allowed = new Set(settings.allowed);
const left = [];
for (let scope = globalThis; scope !== null && scope !== objectPrototype; scope = getPrototypeOf(scope)) {
  for (const key of ownKeys(scope)) {
    if (scope === globalThis && allowed.has(key)) continue;
    if (!deleteProperty(scope, key) && scope[key] === Object(scope[key])) left.push(toText(key)); // a number may stay
  }
}
`;

/** Makes replies of what the code returns and throws. Needs the captures and maxOutputLength. */
export const replies = String.raw`
function answer(output, encode = stringify) {
  try {
    const text = encode(output) ?? 'null';
    if (text.length > maxOutputLength) return '{"ok":false,"reason":"output_too_large"}';
    return '{"ok":true,"output":' + text + '}';
  } catch {
    return '{"ok":false,"reason":"output_not_json"}';
  }
}

function failure(error) {
  return '{"ok":false,"reason":"code_failed","at":' + place(error) + ',"text":' + stringify(describe(error)) + '}';
}

/** Where it was thrown, as the engine writes it: the line and the column of the first frame of the code, a data: URL. */
function place(error) {
  try {
    const frames = cutBy(toText(error.stack), '\n');
    for (let i = 0; i < frames.length; i++) {
      if (!textHas(frames[i], 'data:') || matchIn(/our(?::|%3A)prelude/, frames[i]) !== null) continue;
      const found = matchIn(/:([0-9]{1,7}):([0-9]{1,7})\)?$/, frames[i]);
      if (found !== null) return '[' + toNumber(found[1]) + ',' + toNumber(found[2]) + ']';
    }
  } catch {}
  return 'null';
}

function describe(error) {
  try {
    return toText(error).slice(0, 500);
  } catch {
    return '';
  }
}
`;

/** Runs the code once, and posts one reply. */
const body = String.raw`
${captures}
const post = host === undefined ? postMessage.bind(globalThis) : writer(host);
const later = setTimeout;
const input = parse(settings.input);
const { maxOutputLength } = settings;

// What the code throws aside ends the run, and is not printed.
(host?.onError ?? onErrorEvent)(() => post('{"ok":false,"reason":"code_failed"}'));
${walls}
globalThis.setTimeout = (work, ms, ...args) => {
  if (typeof work !== 'function') throw new TypeError('setTimeout takes a function here');
  later(work, ms, ...args);
};

let started = false;

export async function run(work) {
  if (started) return;
  started = true;
  if (!isIsolated || left.length > 0) return post('{"ok":false,"reason":"not_isolated"}');
  let output;
  try {
    output = await work(input);
  } catch (error) {
    return post(failure(error));
  }
  post(answer(output));
}
${replies}
/** A process writes one line and exits. */
function writer({ write, exit }) {
  const encode = encoder.encode.bind(encoder);
  return (text) => {
    const bytes = encode(text + '\n');
    for (let at = 0; at < bytes.length;) at += write(bytes.subarray(at));
    exit();
  };
}

async function load(url) {
  let code;
  try {
    if (!isIsolated) return post('{"ok":false,"reason":"not_isolated"}');
    code = await import(url);
  } catch {
    return post('{"ok":false,"reason":"invalid_code"}');
  }
  await run(code.default);
}

// Awaited: until then a process does not look for what was taken away.
if (settings.codeUrl !== undefined) await load(settings.codeUrl);
`;

/**
 * Handles in the sandbox: objects that stand for values at the host. It is a string, a part of the prelude of programs.
 *
 * What must hold: a handle has a name and a path, and nothing of the value. Whatever a program does with it gives the same for every
 * value: it is passed on, a handle of a part is taken from it, or a `TypeError` is thrown. Only `encode` writes the key `$handle`.
 */
export const handles = String.raw`
const CellTypeError = TypeError;
const CellProxy = Proxy;
const { toPrimitive } = Symbol;
const { freeze } = Object;
const { replaceAll } = String.prototype;
const getIn = call.bind(WeakMap.prototype.get);
const setIn = call.bind(WeakMap.prototype.set);
const hasIn = call.bind(WeakMap.prototype.has);
const factsOf = new WeakMap(); // by the target of a handle's proxy, and by what was written for it

let hasHandles = false;
let hasAbused = false;
let isEncoding = false;

const refuseValue = () => {
  throw new CellTypeError('untrusted value: use tools.$read or pass it on');
};
class Untrusted {}
freeze(Untrusted.prototype);
const conversions = { __proto__: null, toString: true, toLocaleString: true, valueOf: true };

function handleAt(id, path) {
  const target = freeze(new Untrusted());
  setIn(factsOf, target, { __proto__: null, id, path });
  return new CellProxy(target, ofHandle);
}

const ofHandle = {
  __proto__: null,
  get(target, key) {
    const facts = getIn(factsOf, target);
    if (key === toPrimitive || key in conversions) return refuseValue;
    if (typeof key === 'symbol' || key === 'then' || key === 'constructor') return undefined;
    if (key === 'toJSON') return isEncoding ? () => written(facts) : refuseValue;
    if (key === '$at') return (pointer) => handleAt(facts.id, facts.path + toText(pointer));
    return handleAt(facts.id, facts.path + '/' + escaped(key));
  },
  set: () => false,
  defineProperty: () => false,
  deleteProperty: () => false,
  setPrototypeOf: () => false,
  has: refuseValue,
  ownKeys: refuseValue,
  getOwnPropertyDescriptor: refuseValue,
};

const escaped = (key) => apply(replaceAll, apply(replaceAll, key, ['~', '~0']), ['/', '~1']);

function written({ id, path }) {
  const mark = { __proto__: null, $handle: id, path };
  setIn(factsOf, mark, true);
  return mark;
}

function noLiteral(key, value) {
  if (key === '$handle' && !hasIn(factsOf, this)) {
    hasAbused = true;
    throw new CellTypeError('a program cannot write a handle');
  }
  return value;
}

/** As JSON, with handles in it where the program has some. */
function encode(value) {
  if (!hasHandles) return stringify(value);
  const wasEncoding = isEncoding;
  isEncoding = true;
  try {
    return stringify(value, noLiteral);
  } finally {
    isEncoding = wasEncoding;
  }
}

async function* each(list, given) {
  const count = await request('$each', { of: list, max: given?.max });
  for (let i = 0; i < count; i++) yield list[i];
}

async function choose(of, among) {
  return await request('$choose', { of, among });
}
`;

/** Every way in which a value may leak into a text. */

import type { Secret } from '../../../src/base/secret.ts';

interface Inspecting {
  readonly Deno?: { readonly inspect: (value: unknown, options: object) => string };
  readonly process?: { readonly getBuiltinModule?: (name: string) => { readonly inspect: typeof inspectNothing } };
}

/** Returns the results of printing, copying and listing a secret, by the name of the method. */
export function printings(secret: Secret): Readonly<Record<string, string>> {
  const copy: unknown = structuredClone(secret);
  return {
    'String': String(secret),
    'template': `${secret}`, // oxlint-disable-line typescript/restrict-template-expressions -- the mistake that must not hurt
    'toString': secret.toString(),
    'join': [secret].join(),
    'JSON': JSON.stringify(secret),
    'nested JSON': JSON.stringify({ list: [secret] }),
    'message of an error': new Error(String(secret)).message,
    'structuredClone': JSON.stringify(copy) + inspect(copy),
    'entries': JSON.stringify(Object.entries(secret)),
    'own keys': Reflect.ownKeys(secret).map(String).join(),
    'spread': JSON.stringify({ ...secret }), // oxlint-disable-line typescript/no-misused-spread -- as above
    'inspect': inspect(secret),
    'nested inspect': inspect({ map: new Map([['key', secret]]) }),
  };
}

/** The ways that say which secret it is; the others say nothing at all. */
export const namingPrintings: readonly string[] = [
  'String',
  'template',
  'toString',
  'join',
  'JSON',
  'nested JSON',
  'message of an error',
];

/** Every text that own properties lead to, hidden ones too: an error's message, stack, details and cause among them. */
export function textsIn(root: unknown): string {
  const texts: string[] = [];
  const seen = new Set<unknown>();
  const left = [root];
  while (left.length > 0) {
    const next = left.pop();
    if (typeof next === 'string') texts.push(next);
    if (typeof next !== 'object' || next === null || seen.has(next)) continue;
    seen.add(next);
    for (const key of Reflect.ownKeys(next)) left.push(String(key), Reflect.get(next, key));
  }
  return [...texts, inspect(root)].join('\n');
}

/** What a console would print, where the platform can say it. */
function inspect(value: unknown): string {
  const platform = globalThis as Inspecting; // safe: everything in it is optional
  const inspectHere = platform.Deno?.inspect ?? platform.process?.getBuiltinModule?.('node:util').inspect ??
    inspectNothing;
  return inspectHere(value, { depth: 10, showHidden: true });
}

function inspectNothing(value: unknown, _options: object): string {
  return String(value);
}

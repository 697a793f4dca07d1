/** What a command of the CLI is, and how its arguments are read. */

import { readFile } from 'node:fs/promises';
import { parseArgs, type ParseArgsOptionsConfig } from 'node:util';
import { PinnaceError } from '../../src/base/errors.ts';

export interface Terminal {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdin: () => Promise<string>;
  readonly signal: AbortSignal;
}

export interface Given {
  readonly options: Readonly<Record<string, string | boolean | undefined>>;
  readonly args: readonly string[];
}

export interface Command {
  readonly summary: string;
  /** The lines after `pinnace`, and what the options mean. */
  readonly usage: string;
  readonly options: ParseArgsOptionsConfig;
  /** The least and the most arguments. */
  readonly args: readonly [number, number];
  /** Resolves with the exit code: 0, or 1 when what was checked is wrong. */
  run(given: Given, terminal: Terminal): Promise<number>;
}

/** A call that the CLI does not understand: exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

export function readArguments({ options, args: [least, most] }: Command, given: readonly string[]): Given {
  const { values, positionals } = parsed(given, options);
  if (positionals.length < least || positionals.length > most) {
    const count = least === most ? String(least) : `${least} to ${most}`;
    throw new UsageError(`Pass ${count} ${most === 1 ? 'argument' : 'arguments'}; ${positionals.length} are given`);
  }
  return { options: values, args: positionals };
}

function parsed(args: readonly string[], options: ParseArgsOptionsConfig) {
  try {
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
    return { values: values as Given['options'], positionals }; // safe: no option may be repeated
  } catch (error) {
    // The message may repeat a value: name the option only.
    const option = /'?(-{1,2}[\w-]+)/.exec(error instanceof Error ? error.message : '')?.[1];
    throw new UsageError(`Cannot read the option${option ? ` ${option}` : 's'}`, { cause: error });
  }
}

/** Reads a file. @throws PinnaceError that names the argument, not the path, which may be a token in the wrong place. */
export async function readInput(path: string, argument: string): Promise<string> {
  try {
    return (await readFile(path, 'utf8')).replace(/^\uFEFF/, ''); // editors of Windows write a byte order mark
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
    const why = { ENOENT: 'it does not exist', EISDIR: 'it is a folder' }[code] ?? `the system says ${code}`;
    throw new PinnaceError('invalid_argument', `Cannot read the file of ${argument}: ${why}`, { cause });
  }
}

export function requireOption({ options }: Given, name: string): string {
  const value = options[name];
  if (typeof value === 'string' && value !== '') return value;
  throw new UsageError(`The option --${name} is missing`);
}

export function optionOf({ options }: Given, name: string): string | undefined {
  const value = options[name];
  return typeof value === 'string' ? value : undefined;
}

export function listOf(given: Given, name: string): readonly string[] | undefined {
  return optionOf(given, name)?.split(',').map((item) => item.trim()).filter((item) => item !== '');
}

export function addressOf(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '') return url;
  throw new UsageError('The address must start with http:// or https://, without user and password');
}

interface Output {
  readonly isTTY?: boolean;
  write(text: string): unknown;
}

/** Returns a writer. What others have said is part of most texts: a terminal gets `?` for its control characters, a file all bytes. */
export function writerTo(output: Output): (text: string) => void {
  return (text) => void output.write(output.isTTY ? text.replace(unshown, '?') : text);
}

/** Control characters but line breaks and tabs, and those that set the direction of writing. */
const unshown = /(?![\t\n]|\r\n)\p{Cc}|[\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/** A bearer token is all that it takes to be its caller. @throws UsageError for an address of another machine without TLS. */
export function requirePrivacy({ options }: Given, { protocol, hostname }: URL): void {
  if (protocol === 'https:' || isLoopback(hostname) || options['insecure-http'] === true) return;
  throw new UsageError('The token would be sent unencrypted: use https://, or pass --insecure-http');
}

export function isLoopback(hostname: string): boolean {
  return /^(?:(?:.+\.)?localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname);
}

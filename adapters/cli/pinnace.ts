#!/usr/bin/env node
/** `npx pinnace`: keys, requests, checks, events and evals on the command line. */

import process from 'node:process';
import { text } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import { realpathSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { PinnaceError, toPinnaceError } from '../../src/base/errors.ts';
import { type Command, readArguments, type Terminal, UsageError, writerTo } from './command.ts';
import { evals } from './evals.ts';
import { events, request } from './request.ts';
import { keys, token } from './keys.ts';
import { db } from './stored-data.ts';
import { mcp } from './check-mcp.ts';
import { rules } from './rules.ts';
import { validate } from './validate.ts';

const commands: Readonly<Record<string, Command>> = { keys, token, request, validate, mcp, events, rules, evals, db };

/** Runs a command and returns its exit code: 0 done, 1 wrong or refused, 2 not understood. */
export async function runCli([name = '', ...rest]: readonly string[], terminal: Terminal): Promise<number> {
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (name === '--version' || name === '-v') {
    terminal.out(`${await ownVersion()}\n`);
    return 0;
  }
  if (!command) {
    const isHelp = name === '--help' || name === '-h' || name === 'help';
    (isHelp ? terminal.out : terminal.err)(overview(isHelp || name === '' ? '' : 'There is no such command\n\n'));
    return isHelp ? 0 : 2;
  }
  if (rest.includes('--help') || rest.includes('-h')) {
    terminal.out(usageOf(command));
    return 0;
  }
  try {
    return await command.run(readArguments(command, rest), terminal);
  } catch (error) {
    if (terminal.signal.aborted) return 0;
    if (error instanceof UsageError) {
      terminal.err(`${error.message}\n\n${usageOf(command)}`);
      return 2;
    }
    terminal.err(describe(error));
    return 1;
  }
}

/** Of the `package.json` above this file: in the package, compiled code is one folder deeper. */
async function ownVersion(): Promise<string> {
  for (const path of ['../../package.json', '../../../package.json']) {
    const content = await readFile(new URL(path, import.meta.url), 'utf8').catch(() => '{}');
    const { name, version } = JSON.parse(content) as { readonly name?: string; readonly version?: string };
    if (name === 'pinnace' && version !== undefined) return version;
  }
  return 'unknown';
}

function overview(why: string): string {
  const lines = Object.entries(commands).map(([name, { summary }]) => `  ${name.padEnd(10)}${summary}`);
  return `${why}Usage: pinnace <command> [options]\n\n${
    lines.join('\n')
  }\n\npinnace <command> --help shows its options; pinnace --version, the version.\n`;
}

function usageOf({ summary, usage }: Command): string {
  return `${summary}\n\nUsage: ${usage.trim()}\n`;
}

/** Code, message, reason and trace; never a stack, which may contain values. */
function describe(error: unknown): string {
  const { code, message, details } = error instanceof PinnaceError ? error : toPinnaceError(error);
  const known = !(error instanceof PinnaceError) && isSystemError(error) ? `${error.code}: ${error.syscall ?? ''}` : '';
  if (known !== '') return `${known}\n`;
  const facts = ['reason', 'traceId'].flatMap((name) => {
    const value = details?.[name];
    return typeof value === 'string' ? [`  ${name}: ${value}`] : [];
  });
  return [`${code}: ${message}`, ...facts, ''].join('\n');
}

function isSystemError(error: unknown): error is Error & { readonly code: string; readonly syscall?: string } {
  return error instanceof Error && 'code' in error && typeof error.code === 'string';
}

function terminalOf(signal: AbortSignal): Terminal {
  return {
    out: writerTo(process.stdout),
    err: writerTo(process.stderr),
    env: process.env,
    stdin: () => text(process.stdin),
    signal,
  };
}

function isMain(): boolean {
  const [, script] = process.argv;
  return script !== undefined && pathToFileURL(realpathSync(script)).href === import.meta.url;
}

if (isMain()) {
  const stop = new AbortController();
  process.once('SIGINT', () => stop.abort());
  process.once('SIGTERM', () => stop.abort());
  process.exitCode = await runCli(process.argv.slice(2), terminalOf(stop.signal));
}

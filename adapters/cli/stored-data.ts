/** `pinnace db`: checks and upgrades what a database holds. */

import { checkStored, type StoredData, upgradeStored } from '../upkeep/stored-data.ts';
import { PinnaceError } from '../../src/base/errors.ts';
import type { ClosableStorage } from '../../src/contracts/storage.ts';
import { openPostgres } from '../node/postgres-default.ts';
import { type Command, type Given, optionOf, type Terminal, UsageError } from './command.ts';

export const db: Command = {
  summary: 'Check what a database holds, and upgrade what earlier versions have stored',
  usage: `pinnace db check|upgrade [--table T] [--kv FILE] [--chat-retention DAYS] [--dry-run] [--json]

  check               says the format, counts the data, and what an upgrade would do; writes nothing
  upgrade             writes anew what earlier versions have stored otherwise; stop and repeat it at any time
  --table T           the table in the database of DATABASE_URL; pinnace when absent
  --kv FILE           a file of Deno KV instead; run it with Deno:
                      deno run -A --unstable-kv npm:pinnace db check --kv ./state.kv
  --chat-retention D  the days of limits.chatRetentionMs, or "none" for no end; 90 when absent
  --dry-run           upgrade writes nothing, as check
  --json              prints the result as JSON

The exit code is 1 when something cannot be read, or a later version has written it. Keys and values are not shown.`,
  options: {
    'table': { type: 'string' },
    'kv': { type: 'string' },
    'chat-retention': { type: 'string' },
    'dry-run': { type: 'boolean' },
    'json': { type: 'boolean' },
  },
  args: [1, 1],
  async run(given, terminal) {
    const { args: [action], options: { json, 'dry-run': isDry } } = given;
    if (action !== 'check' && action !== 'upgrade') throw new UsageError('Pass check or upgrade');
    const options = { signal: terminal.signal, onProgress: progressTo(terminal), chatRetentionMs: retentionOf(given) };
    const storage = await open(given, terminal);
    try {
      if (action === 'check' || isDry === true) {
        const found = await checkStored(storage, options);
        terminal.out(json === true ? `${JSON.stringify(found)}\n` : reportOf(found));
        return found.state === 'unreadable' || found.state === 'newer' ? 1 : 0;
      }
      const done = await upgradeStored(storage, options);
      const written = Object.entries(done.written).map(([step, count]) => `  ${step}: ${count}\n`).join('');
      const text = `Looked through ${done.entries} entries. The data has format ${done.format}.\n${written}`;
      terminal.out(json === true ? `${JSON.stringify(done)}\n` : text);
      return 0;
    } catch (error) {
      if (terminal.signal.aborted) terminal.err('Stopped. What was written is whole; repeat the command to go on.\n');
      throw error;
    } finally {
      await storage.close();
    }
  },
};

async function open(given: Given, { env }: Terminal): Promise<ClosableStorage> {
  const path = optionOf(given, 'kv');
  if (path === undefined) return await openPostgres(env['DATABASE_URL'], optionOf(given, 'table'));
  if (!('Deno' in globalThis)) {
    throw new PinnaceError(
      'invalid_argument',
      'Cannot open Deno KV: run it with "deno run -A --unstable-kv npm:pinnace"',
    );
  }
  const { denoKvStorage } = await import('../storage/deno-kv.ts');
  return denoKvStorage({ path });
}

const dayMs = 86_400_000;

function retentionOf(given: Given): number {
  const text = optionOf(given, 'chat-retention') ?? '90';
  if (text === 'none') return Infinity;
  if (!/^[1-9]\d{0,4}$/.test(text)) throw new UsageError('--chat-retention takes days, or none');
  return Number(text) * dayMs;
}

/** A line for every so many entries. */
const perLine = 10_000;

function progressTo({ err }: Terminal): (progress: { readonly entries: number }) => void {
  let shown = 0;
  return ({ entries }) => {
    if (entries - shown < perLine) return;
    shown = entries;
    err(`${entries} entries\n`);
  };
}

function reportOf({ state, format, entries, kinds, unknown, older, steps, error }: StoredData): string {
  const formats = {
    empty: 'There is no data.',
    current: `The data has the format of this version (${format}).`,
    older: 'The data was written by version 0.1 or 0.2, or was not upgraded yet. This version reads it as it is.',
    unreadable: 'The data cannot be read.',
    newer: `A later version has written the data (format ${format}). Use that version.`,
  };
  return [
    formats[state],
    `${entries} entries${unknown > 0 ? `, ${unknown} of kinds that this version does not know` : ''}`,
    ...Object.entries(kinds).map(([kind, count]) => `  ${kind}: ${count}`),
    ...(older.length > 0 ? ['Forms of earlier versions, which are read:'] : []),
    ...older.map(({ form, entries: count, reads }) => `  ${form}: ${count}. ${reads}`),
    ...(state === 'older' || steps.length > 0 ? ['An upgrade would:'] : []),
    ...steps.map(({ step, entries: count }) => `  ${step}: ${count}`),
    ...(state === 'older' ? ['  mark the format'] : []),
    ...(error ? [`Cannot read further: ${error.code}: ${error.message}`] : []),
    '',
  ].join('\n');
}

/** What makes tools safe, and what it costs. */

import process from 'node:process';
import { inspect } from '../../../src/mcp/inspect.ts';
import { compareWithPin, fingerprintOf } from '../../../src/mcp/pins.ts';
import { cpuMs, median, report, type Row } from '../measure.ts';
import { assemblyRows, invokeRows } from './calls.ts';
import { manyToolsRows } from './many-tools.ts';
import { redactorRows } from './redactor.ts';

const count = 100;
const rounds = 15;

/** A server of 100 tools, each with a description and ten parameters. */
function offer() {
  const text = 'Searches the handbook for pages that hold all of the words, best page first. ';
  const properties = Object.fromEntries(Array.from({ length: 10 }, (_, i) => [
    `field_${i}`,
    { type: 'string', description: text, maxLength: 100 },
  ]));
  return Array.from({ length: count }, (_, i) => ({
    name: `page_find_${i}`,
    title: `Find pages ${i}`,
    description: text.repeat(4),
    inputSchema: { type: 'object', properties, required: ['field_0'] },
    annotations: { readOnlyHint: true },
  }));
}

/** What an approval and a comparison cost. */
async function mcpRows(): Promise<Row[]> {
  const tools = offer();
  const size = Math.round(JSON.stringify(tools).length / 1000);
  const context = { alias: 'docs', url: 'https://docs.example.com/mcp', others: new Set(['send_message']) };
  const serverInfo = { name: 'docs', version: '1.0.0' };
  const fingerprints = await Promise.all(tools.map((definition) => fingerprintOf(definition)));
  const pin = {
    protocolVersion: '2025-11-25',
    serverInfo,
    tools: tools.map((definition, i) => ({
      definition,
      fingerprint: fingerprints[i] ?? '',
      status: 'valid' as const,
    })),
  };
  const checks = await timed(() => inspect({ tools, instructions: undefined, serverInfo }, context));
  const compared = await timed(() => compareWithPin(pin, 'tools', tools));
  const what = `${count} MCP tools, ${size} kB`;
  return [
    { figure: `Checks of ${what}`, value: `${checks.toFixed(1)} ms` },
    { figure: `Comparison of ${what} with their pin`, value: `${compared.toFixed(1)} ms` },
  ];
}

/** CPU milliseconds, the middle one of the rounds. */
async function timed(work: () => unknown): Promise<number> {
  const times: number[] = [];
  for (let i = 0; i < rounds; i++) {
    const before = cpuMs();
    await work();
    times.push(cpuMs() - before);
  }
  return median(times);
}

const rows = [await invokeRows(), await assemblyRows(), await manyToolsRows(), await mcpRows(), redactorRows()];
report('Tools', rows.flat());
process.exit(0); // what is measured is reported, never failed

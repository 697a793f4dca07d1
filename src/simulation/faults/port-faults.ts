/** The faults of every port. */

import type { Fault } from '../fault.ts';
import { modelFaults } from './model-faults.ts';
import {
  answers,
  away,
  fails,
  garbage,
  jumps,
  kills,
  killsBehind,
  later,
  losesAnswer,
  rejects,
  repeats,
  silent,
  stops,
  throws,
} from './strikes.ts';

const commit = /^storage\.commit /;
const anyStorage = /^storage\./;
const storageFaults: readonly Fault[] = [
  { name: 'storage full', at: commit, strike: fails('unavailable', 'storage_full') },
  { name: 'storage full for good', at: commit, lasts: true, strike: fails('unavailable', 'storage_full') },
  { name: 'storage down', at: anyStorage, strike: fails('unavailable', 'storage_blocked') },
  { name: 'storage down for good', at: anyStorage, lasts: true, strike: fails('unavailable', 'storage_blocked') },
  { name: 'storage broken', at: anyStorage, strike: rejects },
  { name: 'storage broken for good', at: anyStorage, lasts: true, strike: rejects },
  { name: 'storage conflict', at: commit, strike: answers({ ok: false, conflicts: [] }) },
  { name: 'storage loses the answer', at: commit, strike: losesAnswer },
  { name: 'storage repeats a commit whose answer was lost', at: commit, strike: repeats },
  { name: 'storage away for 8 s', at: anyStorage, lasts: true, strike: away(8_000) },
  { name: 'storage slow', at: anyStorage, strike: later(1_500) },
  { name: 'storage silent', at: anyStorage, strike: silent },
  { name: 'storage silent for good', at: anyStorage, lasts: true, strike: silent },
  { name: 'storage garbage', at: /^storage\.(get|list) /, strike: garbage },
];

const catalog = /^catalog\./;
const secrets = /^secrets\./;
const configurationFaults: readonly Fault[] = [
  { name: 'catalog down', at: catalog, strike: fails('unavailable', 'down') },
  { name: 'catalog broken', at: catalog, strike: rejects },
  { name: 'catalog slow', at: catalog, strike: later(1_500) },
  { name: 'catalog silent', at: catalog, strike: silent },
  { name: 'catalog garbage', at: catalog, strike: garbage },
  { name: 'agent not found', at: /^catalog\.agent /, strike: answers(undefined) },
  { name: 'provider config missing', at: /^catalog\.provider /, strike: answers(undefined) },
  { name: 'MCP server not found', at: /^catalog\.mcpServer /, strike: answers(undefined) },
  { name: 'secret source silent', at: secrets, strike: silent },
  { name: 'secret denied', at: secrets, strike: fails('forbidden', 'denied') },
  { name: 'secret source broken', at: secrets, strike: rejects },
];

const tool = /^tool\./;
const mcp = /^mcp\.(connect|listTools|callTool) /;
const toolFaults: readonly Fault[] = [
  { name: 'tool throws', at: tool, strike: throws },
  { name: 'tool rejects', at: tool, strike: rejects },
  { name: 'tool hangs', at: tool, strike: silent },
  { name: 'tool slow', at: tool, strike: later(1_500) },
  { name: 'tool loses its answer', at: tool, strike: losesAnswer },
  { name: 'tool returns no JSON', at: tool, strike: answers(1n) },
  { name: 'MCP server removes a tool', at: /^mcp\.listTools /, strike: answers([]) },
  { name: 'MCP server drops the connection', at: mcp, strike: fails('unavailable', 'dropped') },
  { name: 'MCP server silent', at: mcp, strike: silent },
  { name: 'MCP server broken', at: mcp, strike: rejects },
  { name: 'MCP server garbage', at: /^mcp\.(listTools|callTool) /, strike: garbage },
  {
    name: 'MCP server does not close',
    at: /^mcp\.close /,
    strike: async (call) => (await call.go(), await silent(call)),
  },
  {
    name: 'MCP server throws on close',
    at: /^mcp\.close /,
    strike: async (call) => (await call.go(), await rejects(call)),
  },
];

const everywhere = /^(?!sink |client\.)/;
const aroundFaults: readonly Fault[] = [
  { name: 'client disconnects', at: /^client\./, strike: answers('left') },
  { name: 'client cancels', at: /^client\./, strike: stops },
  { name: 'client cancels at any time', at: everywhere, strike: stops },
  { name: 'clock jumps ahead', at: everywhere, strike: jumps(300_000) },
  { name: 'clock jumps back', at: everywhere, strike: jumps(-300_000) },
  { name: 'instance stopped', at: everywhere, strike: kills },
  { name: 'instance stopped behind it', at: everywhere, strike: killsBehind },
  { name: 'sink throws', at: /^sink /, strike: throws },
  { name: 'sink rejects', at: /^sink /, strike: rejects },
  { name: 'sink hangs', at: /^sink /, strike: silent },
  { name: 'permission hook throws', at: /^authorize /, strike: throws },
  { name: 'permission hook silent', at: /^authorize /, strike: silent },
  { name: 'permission hook garbage', at: /^authorize /, strike: garbage },
];

/** Every port without faults of its own: egress, blobs, audits, embedders, and what lies below an adapter. */
const other = /^(?!(storage|catalog|secrets|model|tool|mcp|client)\.|authorize |sink )/;
const otherFaults: readonly Fault[] = [
  { name: 'port down', at: other, strike: fails('unavailable', 'down') },
  { name: 'port broken', at: other, strike: rejects },
  { name: 'port slow', at: other, strike: later(1_500) },
  { name: 'port silent', at: other, strike: silent },
  { name: 'port loses the answer', at: other, strike: losesAnswer },
];

/** The faults that `simulate` chooses from: of storages, catalogs, secrets, models, tools, MCP servers, clients, clocks and instances. */
export const portFaults: readonly Fault[] = [
  ...storageFaults,
  ...configurationFaults,
  ...modelFaults,
  ...toolFaults,
  ...aroundFaults,
  ...otherFaults,
];

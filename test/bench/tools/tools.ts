/** What makes tools safe, and what it costs. */

import process from 'node:process';
import { report } from '../measure.ts';
import { assemblyRows, invokeRows } from './calls.ts';
import { manyToolsRows } from './many-tools.ts';
import { mcpRows } from './mcp.ts';
import { redactorRows } from './redactor.ts';

const rows = [await invokeRows(), await assemblyRows(), await manyToolsRows(), await mcpRows(), redactorRows()];
report('Tools', rows.flat());
process.exit(0); // what is measured is reported, never failed

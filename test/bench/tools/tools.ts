/** What makes tools safe, and what it costs. */

import process from 'node:process';
import { report } from '../measure.ts';
import { assemblyRows, invokeRows } from './calls.ts';
import { mcpRows } from './mcp.ts';
import { redactorRows } from './redactor.ts';

report('Tools', [...await invokeRows(), ...await assemblyRows(), ...await mcpRows(), ...redactorRows()]);
process.exit(0); // what is measured is reported, never failed

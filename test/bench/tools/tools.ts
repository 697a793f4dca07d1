/** What makes tools safe, and what it costs. */

import process from 'node:process';
import { report } from '../measure.ts';
import { redactorRows } from './redactor.ts';

const rows = redactorRows();
report('Tools', rows);
process.exit(rows.every(({ met }) => met ?? true) ? 0 : 1);

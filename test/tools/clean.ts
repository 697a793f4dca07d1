/** Removes the output of an earlier build, so that deleted sources are not in the package. */

import { rmSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');
for (const folder of ['dist', 'dist-demo']) rmSync(join(root, folder), { recursive: true, force: true });

/** Removes what an earlier build has left: what is gone from the sources must not be in the package. */

import { rmSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');
for (const folder of ['dist', 'dist-demo']) rmSync(join(root, folder), { recursive: true, force: true });

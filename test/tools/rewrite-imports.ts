/**
 * Points the dynamic imports and the workers of `dist/`, or of the folder that is named, to `.js` files: the compiler rewrites static
 * imports, and leaves those within closures.
 */

import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';

const dist = process.argv[2] ?? join(import.meta.dirname, '../../dist');
let rewritten = 0;
for (const path of globSync('**/*.js', { cwd: dist })) {
  const code = readFileSync(join(dist, path), 'utf8');
  const changed = code.replaceAll(
    /\b(import\(|new URL\()(['"])(\.{1,2}\/[^'"]+)\.ts\2/g,
    (_, call: string, quote: string, name: string) => {
      rewritten++;
      return `${call}${quote}${name}.js${quote}`;
    },
  );
  if (changed !== code) writeFileSync(join(dist, path), changed);
}
if (rewritten === 0) {
  console.error('No import was rewritten: the compiler may do it now. Remove this step.');
  process.exit(1);
}

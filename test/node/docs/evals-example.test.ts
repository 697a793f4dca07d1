import { expect, it } from 'vitest';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import '../../../demo/examples/evals/helper.test.ts';

it('the example of evals has cases and a tape on record', async () => {
  const folder = join(import.meta.dirname, '../../../demo/examples/evals');
  for (const name of ['cases.jsonl', 'tape.jsonl']) {
    expect((await readFile(join(folder, name), 'utf8')).split('\n').length, name).toBeGreaterThan(2);
  }
});

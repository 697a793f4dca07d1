import { describe, expect, it } from 'vitest';
import { codeSource } from '../../../adapters/grounding/code-repo.ts';
import type { SourceHit } from '../../../src/contracts/index.ts';
import { treeOf } from '../../fixtures/code.ts';
import { neverAborted } from '../../fixtures/grounding.ts';

const usage = (call: string): string => `${call}\n`.repeat(3);
const files = {
  'ts/limits.ts': `/** Rejects an upload that exceeds the maximum size. */
export function requireSize(bytes: number): void {
  if (bytes > 1_000_000) throw new Error('too large');
}

export function where(value: string): string {
  return value;
}
`,
  'ts/use.ts': usage('requireSize(file.size);'),
  'js/cart.js': `class Cart {
  // Adds up the prices of all goods.
  grandTotal(items) {
    return items.reduce((sum, item) => sum + item.price, 0);
  }

  emptyAll() {
    this.items = [];
  }

  ship(address) {
    return send(this.items, address);
  }
}
`,
  'py/mailer.py':
    '# Sends a letter to each subscriber.\ndef send_letters(people):\n    for person in people:\n        post(person)\n',
  'go/cache.go':
    'package cache\n\n// Evict drops the oldest entry.\nfunc (c *Cache) Evict() {\n\tdelete(c.entries, c.oldest)\n}\n',
  'rust/lock.rs':
    '/// Waits until the file is free.\npub fn acquire_lock(path: &str) -> Lock {\n    Lock::open(path)\n}\n',
  'java/Clock.java':
    'public class Clock {\n    /** Returns the hour of sunrise. */\n    public int sunriseHour(int day) {\n        return 6;\n    }\n}\n',
};

async function ask(query: string): Promise<readonly SourceHit[]> {
  const source = codeSource({ id: 'code', tree: () => treeOf(files) });
  return await source.retrieve({ tenant: 'local', query, topK: 5, filters: [] }, neverAborted());
}

describe('codeSource, asked in sentences', () => {
  it('takes no word of a sentence for the name of a symbol', async () => {
    const hits = await ask('Where is an upload refused that is too big?');
    expect(hits[0]?.title).toContain('requireSize');
    expect(hits.some(({ title }) => title?.startsWith('where in'))).toBe(false);
  });

  it('takes a name in a sentence for one, its definition before its uses', async () => {
    const [first] = await ask('Where is requireSize defined?');
    expect(first).toMatchObject({ source: { path: 'ts/limits.ts' }, metadata: { role: 'definition' } });
    expect(first!.confidence).toBeGreaterThan(0.8);
  });

  it('shows a whole function with the comment above it', async () => {
    const [first] = await ask('Which method adds up the cost of all products?');
    expect(first?.content).toContain('Adds up the prices');
    expect(first?.content).toContain('item.price');
  });
});

import { describe, expect, it } from 'vitest';
import { archiveTree } from '../../../adapters/grounding/code/archive-tree.ts';
import { gitHubTree } from '../../../adapters/grounding/code/github-tree.ts';
import { codeSource, type CodeTree } from '../../../adapters/grounding/code-repo.ts';
import { type Egress, Secret } from '../../../src/index.ts';
import type { GroundingRequest, SourceHit } from '../../../src/contracts/index.ts';
import { groundingContract, type GroundingSubject } from '../../contracts/index.ts';
import { treeOf, zipOf } from '../../fixtures/code.ts';
import { neverAborted } from '../../fixtures/grounding.ts';

const subject: GroundingSubject = {
  open: (documents) => {
    const trees = new Map(
      Object.entries(documents).map(([tenant, files]) =>
        [tenant, treeOf(Object.fromEntries(files.map(({ id, text }) => [id, text])))] as const
      ),
    );
    return Promise.resolve(codeSource({ id: 'checked', tree: (tenant) => trees.get(tenant) }));
  },
};

describe('codeSource keeps the contract', () => {
  it.each(groundingContract)('$name', async ({ run }) => {
    await expect(run(subject)).resolves.toBeUndefined();
  });
});

const tides = `import { moon } from './moon.ts';

/** Says when the water is high. */
export class TideTable {
  readonly #port: string;

  highWaterAt(day: number): number {
    // highWaterAt depends on the moon
    return moon(day) * 12.4; // 😀 hours
  }
}

export function parsePortName(text: string): string {
  return text.trim();
}
`;
const files = {
  'src/tides.ts': tides,
  'src/main.ts': `const table = new TideTable();\nconsole.log(table.highWaterAt(3), parsePortName(' Kiel '));\n`,
  'src/moon.py': 'def moon(day):\n    return day % 29.5\n\nclass Crater:\n    def depth(self):\n        return 3\n',
  'docs/windows.md': 'Tides\r\nare\r\nhigh\r\n',
  'image.bin': new Uint8Array([0, 1, 2]),
};

function ask(tree: CodeTree, query: string, request: Partial<GroundingRequest> = {}): Promise<readonly SourceHit[]> {
  const source = codeSource({ id: 'code', tree: () => tree });
  return source.retrieve({ tenant: 'local', query, topK: 10, filters: [], ...request }, neverAborted());
}

describe('codeSource', () => {
  it('is less sure of another case, and of a part of a name', async () => {
    const tree = treeOf(files);
    expect((await ask(tree, 'sym:tidetable'))[0]).toMatchObject({
      confidence: 0.7,
      metadata: { symbol: { name: 'TideTable' } },
    });
    expect((await ask(tree, 'sym:PortNam'))[0]).toMatchObject({
      confidence: 0.5,
      metadata: { symbol: { name: 'parsePortName' } },
    });
    expect(await ask(tree, 'sym:nothing')).toEqual([]);
  });

  it('finds by words that identifiers are made of', async () => {
    const [hit] = await ask(treeOf(files), 'parse port name');
    expect(hit?.source.path).toBe('src/tides.ts');
    expect(hit?.content).toContain('parsePortName');
  });

  it('finds exact text and regular expressions, with what stands there and in which role', async () => {
    const tree = treeOf(files);
    const exact = await ask(tree, '"depends on the moon"');
    expect(exact).toMatchObject([{ confidence: 0.8, metadata: { line: 8, role: 'comment' } }]);
    const regex = await ask(tree, '/return \\w+\\(day\\)/');
    expect(regex.map(({ source }) => source.path)).toEqual(['src/tides.ts']);
    const [from, to] = regex[0]!.matched[0]!.ranges[0]!;
    expect(regex[0]?.content.slice(from, to)).toBe('return moon(day)');
    expect(await ask(tree, '/RETURN \\w+\\(DAY\\)/')).toEqual([]);
    expect(await ask(tree, '/RETURN \\w+\\(DAY\\)/i')).toHaveLength(1);
  });

  it('keeps to paths, languages and filters', async () => {
    const tree = treeOf(files);
    const pathsOf = async (
      query: string,
      request?: Partial<GroundingRequest>,
    ) => [...new Set((await ask(tree, query, request)).map(({ source }) => source.path))];
    expect(await pathsOf('moon path:src/*.py')).toEqual(['src/moon.py']);
    expect(await pathsOf('moon lang:python')).toEqual(['src/moon.py']);
    expect(await pathsOf('moon path:**/*.md')).toEqual([]);
    expect(await pathsOf('', { filters: [{ field: 'language', op: 'eq', value: 'markdown' }] })).toEqual([
      'docs/windows.md',
    ]);
    expect(await pathsOf('moon', { filters: [{ field: 'path', op: 'contains', value: 'tides' }] })).toEqual([
      'src/tides.ts',
    ]);
    expect(await pathsOf('Crater', { filters: [{ field: 'symbolKind', op: 'eq', value: 'Class' }] })).toEqual([
      'src/moon.py',
    ]);
  });

  it('returns at most three places in a file, and one where places touch', async () => {
    const text = Array.from({ length: 200 }, (_, at) => at % 20 === 0 ? `needle ${at}` : `line ${at}`).join('\n');
    const hits = await ask(treeOf({ 'a.txt': text, 'b.txt': 'needle\nneedle\nneedle' }), '"needle"');
    expect(hits.filter(({ source }) => source.path === 'a.txt')).toHaveLength(3);
    expect(hits.filter(({ source }) => source.path === 'b.txt')).toHaveLength(1);
  });

  it('refuses expressions that are not linear, and takes no longer for those that would be for others', async () => {
    const tree = treeOf({ 'a.txt': `${'a'.repeat(15_000)}!\n`.repeat(20) });
    for (const query of ['/(a)\\1/', '/a(?=b)/', '/a**/', '/(/', '/[/', '/a{200}/']) {
      await expect(ask(tree, query)).rejects.toMatchObject({ code: 'invalid_argument' });
    }
    expect(await ask(tree, '/(a+)+b/')).toEqual([]);
    expect(await ask(tree, '/(a|a)*$/')).toEqual([]);
  }, 60_000);

  it('is not held up by a minified line of megabytes', async () => {
    const line = 'var a=1;function b(c){return c+1};'.repeat(100_000);
    const [hit] = await ask(treeOf({ 'min.js': `${line}needle${line}` }), '"needle"');
    expect(hit?.content.length).toBeLessThanOrEqual(6_000);
    const [from, to] = hit!.matched[0]!.ranges[0]!;
    expect(hit?.content.slice(from, to)).toBe('needle');
  }, 60_000);

  it('answers from what it has read until it is refreshed, and then has another version', async () => {
    let text = 'first';
    const source = codeSource({ id: 'code', tree: () => treeOf({ 'a.txt': text }) });
    const before = await source.stats('local', neverAborted());
    text = 'second';
    expect(await source.stats('local', neverAborted())).toEqual(before);
    await source.refresh('local', neverAborted());
    expect((await source.stats('local', neverAborted())).version).not.toBe(before.version);
    const hits = await source.retrieve({ tenant: 'local', query: 'second', topK: 1, filters: [] }, neverAborted());
    expect(hits).toHaveLength(1);
  });

  it('reads again what it could not read the first time, and no repository over its limits', async () => {
    let fails = true;
    const source = codeSource({
      id: 'code',
      tree: () => (signal) => fails ? Promise.reject(new Error('offline')) : treeOf({ 'a.txt': 'here' })(signal),
    });
    await expect(source.stats('local', neverAborted())).rejects.toThrow('offline');
    fails = false;
    expect((await source.stats('local', neverAborted())).items).toBe(1);
    const small = codeSource({ id: 'code', tree: () => treeOf(files), limits: { files: 2 } });
    await expect(small.stats('local', neverAborted())).rejects.toMatchObject({ code: 'budget_exceeded' });
  });
});

describe('archiveTree', () => {
  it('reads what an archive holds, without the folder around it all, and nothing hidden or outside', async () => {
    const archive = await zipOf({
      'repo-1/src/a.ts': 'export const needle = 1;',
      'repo-1/.git/config': 'needle',
      'repo-1/node_modules/x/index.js': 'needle',
      'repo-1/../evil.ts': 'needle',
    });
    const hits = await ask(archiveTree(archive, { repo: 'r' }), 'needle');
    expect(hits.map(({ source }) => source.path)).toEqual(['src/a.ts']);
  });

  it('refuses what is no archive, and a file that is longer than it says', async () => {
    await expect(ask(archiveTree(new Uint8Array(100), { repo: 'r' }), 'x')).rejects.toMatchObject({
      code: 'invalid_argument',
    });
    const archive = await zipOf({ 'a.txt': 'x'.repeat(10_000) });
    const view = new DataView(archive.buffer);
    for (let at = 0; at < archive.length - 4; at++) {
      if (view.getUint32(at, true) === 10_000) view.setUint32(at, 10, true);
    }
    await expect(ask(archiveTree(archive, { repo: 'r' }), 'x')).rejects.toMatchObject({
      details: { reason: 'invalid_archive' },
    });
  });
});

describe('gitHubTree', () => {
  it('reads a commit through the way out, with the token in the header and nowhere else', async () => {
    const asked: string[] = [];
    const answers: Readonly<Record<string, unknown>> = {
      '/repos/o/r/commits/main': { sha: 'c0ffee', commit: { tree: { sha: 't1' } } },
      '/repos/o/r/git/trees/t1?recursive=1': {
        tree: [{ path: 'a.ts', type: 'blob', sha: 'b1', size: 24 }, { path: 'src', type: 'tree', sha: 't2' }],
      },
      '/repos/o/r/git/blobs/b1': { encoding: 'base64', content: btoa('export const needle = 1;') },
    };
    const egress: Egress = {
      fetch(request, { origins, secretHeaders }) {
        const { pathname, search } = new URL(request.url);
        asked.push([pathname + search, origins, secretHeaders?.['authorization']].join(' '));
        return Promise.resolve(Response.json(answers[`${pathname}${search}`]));
      },
    };
    const token = new Secret({ id: 'github', version: '1', value: 'ghp_SECRET' });
    const [hit] = await ask(gitHubTree({ egress, owner: 'o', repo: 'r', ref: 'main', token }), 'needle');
    expect(hit?.source.uri).toBe('o/r@c0ffee:a.ts#L1-L1');
    expect(asked).toHaveLength(3);
    for (const line of asked) expect(line).toContain('https://api.github.com Bearer ,[secret github]');
  });

  it('says what the code host answered', async () => {
    const egress: Egress = { fetch: () => Promise.resolve(new Response('no', { status: 404 })) };
    await expect(ask(gitHubTree({ egress, owner: 'o', repo: 'r' }), 'x')).rejects.toMatchObject({ code: 'not_found' });
  });
});

import { describe, expect, it } from 'vitest';
import { memoryStorage } from '../../../../adapters/storage/memory.ts';
import { toBase64 } from '../../../../src/base/base64.ts';
import { sha256 } from '../../../../src/base/hash.ts';
import type { BlobStore } from '../../../../src/contracts/blob-store.ts';
import {
  createPrincipal,
  localPrincipal,
  PinnaceError,
  type UIMessage,
  type UIMessageChunk,
} from '../../../../src/index.ts';
import { redirect, scriptedEgress } from '../../../fixtures/egress.ts';
import { dataUrl, fileMessage, fileRuntime, filesIn, png } from './fixtures.ts';
import { says } from '../../../fixtures/model.ts';
import { lastData, readAll, runRequest, userMessage } from '../../../fixtures/runtime.ts';

const me = localPrincipal();

type Given = Parameters<typeof fileRuntime>[0];

async function send(messages: readonly UIMessage[], options?: Given) {
  const { runtime, calls } = fileRuntime(options);
  const chunks = await readAll(await runtime.run(runRequest({ chat: { id: 'c', messages } }), me));
  return { chunks, calls, files: filesIn(calls[0]?.prompt) };
}

async function reasonOf(messages: readonly UIMessage[], options?: Given) {
  try {
    const { chunks, calls } = await send(messages, options);
    expect(calls).toHaveLength(0);
    const { code, details } = errorIn(chunks);
    return `${code}: ${details?.reason}`;
  } catch (error) {
    if (!(error instanceof PinnaceError)) throw error;
    return `refused, ${error.code}: ${String(error.details?.['reason'])}`;
  }
}

function errorIn(chunks: readonly UIMessageChunk[]) {
  return lastData(chunks, 'data-run')['error'] as {
    readonly code: string;
    readonly details?: { readonly reason?: string };
  };
}

/** Answers with a file of this type. */
const hosting = (bytes: Uint8Array<ArrayBuffer>, type: string) => () =>
  new Response(bytes, { headers: { 'content-type': type } });

describe('files of a message', () => {
  it.each([
    [png(), 'image/jpeg', 'image/png'],
    [png(), 'image/vnd.unknown', 'image/png'],
    ['const a = 1;', 'video/mp2t', 'const a = 1;'],
    ['a: 1', 'application/x-yaml', 'a: 1'],
    ['<a/>', 'application/atom+xml', '<a/>'],
  ])('are what their content says, where their name is only of another form: %#', async (content, type, seen) => {
    const { calls } = await send([fileMessage([dataUrl(content, type)])]);
    expect(JSON.stringify(calls[0]?.prompt)).toContain(JSON.stringify(seen).slice(1, -1));
  });

  it('are in no journal and no event', async () => {
    const storage = memoryStorage();
    const events: unknown[] = [];
    const image = png(3000, 77);
    await send([fileMessage([dataUrl(image)])], { storage, sinks: [(event) => void events.push(event)] });
    const stored = await storage.list({ prefix: [], limit: 1000 });
    const others = stored.filter(({ key }) => key[0] !== 'blob').map(({ value }) => value);
    for (const text of [JSON.stringify(others), JSON.stringify(events)]) {
      expect(text).not.toContain(toBase64(image).slice(40, 80));
    }
    expect(JSON.stringify(events)).toContain(await sha256(image));
  });

  it.each<[string, string, string]>([
    ['of another kind than declared', dataUrl(png(), 'application/pdf'), 'attachment_type'],
    ['a text that is called a PDF', dataUrl('Hello', 'application/pdf'), 'attachment_type'],
    ['an SVG, which may hold a script', dataUrl('<svg onload="x()"/>', 'image/svg+xml'), 'attachment_type'],
    ['an SVG that is called a PNG', dataUrl('<svg onload="x()"/>', 'image/png'), 'attachment_type'],
    ['a program', dataUrl(new Uint8Array([77, 90, 0, 3]), 'application/octet-stream'), 'attachment_type'],
    ['binary data that is called a text', dataUrl(new Uint8Array([0, 1, 2]), 'text/plain'), 'attachment_type'],
    ['empty', 'data:image/png;base64,', 'attachment_type'],
    ['not base64', 'data:image/png;base64,iVBORw0KGgo=A', 'file_not_base64'],
    ['of an impossible length', 'data:image/png;base64,iVBOR', 'file_not_base64'],
    ['without base64', 'data:text/plain,hello', 'file_not_base64'],
    ['by http', 'http://files.example.com/a.png', 'file_by_address'],
    ['on the disk', 'file:///etc/passwd', 'file_by_address'],
    ['too large', dataUrl(png(5_242_881)), 'attachment_too_large'],
  ])('are refused before the run starts: %s', async (_name, url, reason) => {
    expect(await reasonOf([fileMessage([url])])).toBe(`refused, invalid_argument: ${reason}`);
  });

  it('are refused when they are too many, or too large together', async () => {
    const many = fileMessage(Array.from({ length: 100 }, () => dataUrl(png())));
    expect(await reasonOf([many])).toBe('refused, invalid_argument: too_many_attachments');
    const large = fileMessage([1, 2, 3].map((fill) => dataUrl(png(4_000_000, fill))));
    expect(await reasonOf([large])).toBe('refused, invalid_argument: attachment_too_large');
  });

  it('are loaded by https through the egress, as from a stranger', async () => {
    const image = png();
    const { egress, sent } = scriptedEgress([hosting(image, 'image/png')]);
    const { files, chunks } = await send([fileMessage(['https://files.example.com/a.png'])], { egress });
    expect(files).toEqual([`user image/png ${toBase64(image)}`]);
    expect(sent).toEqual([{ url: 'https://files.example.com/a.png', method: 'GET', headers: {}, body: '' }]);
    expect(lastData(chunks, 'data-attachment')['url']).toBe(`pinnace-blob:${await sha256(image)}`);
  });

  it.each<[string, string, readonly (() => Response)[], string]>([
    ['a private address', 'https://10.0.0.1/a.png', [], 'forbidden: egress_denied'],
    [
      'a redirect to one',
      'https://files.example.com/a',
      [redirect(302, 'https://169.254.169.254/a')],
      'forbidden: egress_denied',
    ],
    [
      'a page',
      'https://files.example.com/a',
      [hosting(png(), 'application/x-msdownload')],
      'invalid_argument: attachment_type',
    ],
    [
      'another type',
      'https://files.example.com/a',
      [hosting(png(), 'image/png')].map(() => () =>
        new Response('%PDF-1.7', {
          headers: { 'content-type': 'image/png' },
        })
      ),
      'invalid_argument: attachment_type',
    ],
    [
      'nothing',
      'https://files.example.com/a',
      [() => new Response('no', { status: 404 })],
      'not_found: attachment_missing',
    ],
    [
      'a failing host',
      'https://files.example.com/a',
      [() => new Response('', { status: 500 })],
      'unavailable: attachment_unreachable',
    ],
    [
      'a file that is too large',
      'https://files.example.com/a',
      [hosting(png(6_000_000), 'image/png')],
      'invalid_argument: attachment_too_large',
    ],
  ])('fail the run when their address leads to %s', async (_name, url, answers, expected) => {
    const { egress } = scriptedEgress(answers);
    expect(await reasonOf([fileMessage([url])], { egress })).toBe(expected);
  });

  it('fail the run when their host is too slow, after 15 s', async () => {
    const limits: unknown[] = [];
    const egress = {
      fetch: (_: Request, { timeoutMs }: { readonly timeoutMs?: number }) => {
        limits.push(timeoutMs);
        return Promise.reject(new PinnaceError('deadline_exceeded', 'The request took longer than 15000 ms'));
      },
    };
    expect(await reasonOf([fileMessage(['https://slow.example.com/a'])], { egress })).toBe(
      'unavailable: attachment_unreachable',
    );
    expect(limits).toEqual([15_000]);
  });

  it('cannot be loaded by https without an egress', async () => {
    expect(await reasonOf([fileMessage(['https://files.example.com/a.png'])])).toBe('forbidden: egress_denied');
  });

  it('never let the model fetch an address itself', async () => {
    const { egress } = scriptedEgress([hosting(png(), 'image/png')]);
    const { calls } = await send([fileMessage(['https://files.example.com/a.png'])], { egress });
    expect(JSON.stringify(calls[0]?.prompt)).not.toContain('files.example.com');
  });
});

describe('files of older messages', () => {
  const older = (url: string): UIMessage[] => [fileMessage([url]), userMessage('And now?', 'm2')];

  it('reach the model too', async () => {
    const image = png();
    expect((await send(older(dataUrl(image)))).files).toEqual([`user image/png ${toBase64(image)}`]);
  });

  it('are loaded newest first, up to twice the size of one message', async () => {
    const chat = [1, 2, 3, 4].map((fill) => fileMessage([dataUrl(png(600, fill))], { id: `m${fill}` }));
    const limits = { attachmentLength: 1000, attachmentsLength: 1000 };
    const { files } = await send([...chat, userMessage('Now?', 'm9')], { limits });
    expect(files).toEqual([
      '[A file was left out: the messages after it fill the space for files]',
      ...[2, 3, 4].map((fill) => `user image/png ${toBase64(png(600, fill))}`),
    ]);
  });
});

describe('stored files', () => {
  const failing: BlobStore = {
    get: () => Promise.reject(new Error('disk')),
    put: () => Promise.reject(new Error('disk')),
    delete: () => Promise.reject(new Error('disk')),
  };

  it('fail the message that names an unknown one', async () => {
    expect(await reasonOf([fileMessage([`pinnace-blob:${'0'.repeat(64)}`])])).toBe('not_found: attachment_missing');
  });

  it('fail the message that names one while the store fails', async () => {
    expect(await reasonOf([fileMessage(['pinnace-blob:a1'])], { blobs: failing })).toBe(
      'unavailable: attachment_store',
    );
  });

  it('are not needed for a file that is sent inline: the run goes on, and the failure is an event', async () => {
    const events: { action: string; status: string }[] = [];
    const sinks = [(event: { action: string; status: string }) => void events.push(event)];
    const { files, chunks } = await send([fileMessage([dataUrl(png())])], { blobs: failing, sinks });
    expect(files).toHaveLength(1);
    expect(chunks.some(({ type }) => type === 'data-attachment')).toBe(false);
    expect(events.filter(({ action }) => action === 'attachment.store').map(({ status }) => status)).toEqual(['error']);
  });

  it('are those of the tenant alone, also for one who knows the hash', async () => {
    const storage = memoryStorage();
    const image = png(500);
    await send([fileMessage([dataUrl(image)])], { storage });
    const { runtime, calls } = fileRuntime({ storage, script: [says('ok')] });
    const other = createPrincipal({ ...me, tenant: 'other', via: 'in-process' });
    const messages = [fileMessage([`pinnace-blob:${await sha256(image)}`])];
    const chunks = await readAll(await runtime.run(runRequest({ chat: { id: 'c', messages } }), other));
    expect(errorIn(chunks).code).toBe('not_found');
    expect(calls).toHaveLength(0);
  });
});

describe('a request with an idempotency key and large files', () => {
  it('is known again', async () => {
    const { runtime, calls } = fileRuntime();
    const messages = [fileMessage([1, 2].map((fill) => dataUrl(png(4_000_000, fill))))];
    for (const _ of [1, 2]) {
      const request = runRequest({ chat: { id: 'c', messages } });
      const chunks = await readAll(await runtime.run(request, me, { idempotencyKey: 'key-1' }));
      expect(chunks.at(-1)).toMatchObject({ type: 'finish' });
    }
    expect(calls).toHaveLength(1);
  });
});

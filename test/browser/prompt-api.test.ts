import { assert, beforeAll, expect, it } from 'vitest';
import { userEvent } from 'vitest/browser';
import {
  browserModelAvailability,
  prepareBrowserModel,
  serveBrowserModel,
} from '../../adapters/models/browser/page.ts';
import { promptApi } from '../../adapters/models/browser/prompt-api.ts';
import { browserModel } from '../../adapters/models/browser/worker.ts';
import { promptApiContract } from '../fixtures/browser-model/prompt-api-contract.ts';

/** The test Chromium has a model that repeats its input. It "downloads" it after a click. */
beforeAll(async () => {
  if (await browserModelAvailability() === 'available') return;
  const button = document.body.appendChild(document.createElement('button'));
  button.textContent = 'Download';
  const loaded: number[] = [];
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  button.addEventListener('click', () => {
    prepareBrowserModel({ onProgress: (share) => void loaded.push(share) }).then(resolve, reject);
  });
  await userEvent.click(button);
  await promise;
  button.remove();
  assert.equal(loaded.at(-1), 1);
});

promptApiContract(() => {
  const api = promptApi();
  if (!api) throw new Error('This browser has no LanguageModel');
  return api;
});

it('the model of Chromium answers over a port', async () => {
  const { port1, port2 } = new MessageChannel();
  const end = serveBrowserModel(port1);
  const model = browserModel(port2);
  const prompt = [{ role: 'user' as const, content: [{ type: 'text' as const, text: 'Repeat these words' }] }];
  const { content, usage } = await model.doGenerate({ prompt });
  expect(content).toMatchObject([{ type: 'text', text: expect.stringContaining('Repeat these words') as string }]);
  expect(usage.inputTokens.total).toBeGreaterThan(0);
  end();
});

import { describe, expect, it } from 'vitest';
import { createNews } from '../../../src/log/bulletin.ts';

/** News by hand, and whether they are still watched. */
function byHand() {
  const state = { onNews: (): void => undefined, isWatched: false };
  const watch = (onNews: () => void): () => void => {
    Object.assign(state, { onNews, isWatched: true });
    return () => void (state.isWatched = false);
  };
  return { state, watch };
}

describe('createNews', () => {
  it('ends every wait and the watch with its signal, also with one that was aborted before', async () => {
    const stop = new AbortController();
    const { state, watch } = byHand();
    const news = createNews(watch, stop.signal);
    const waiting = news.next();
    stop.abort();
    await waiting;
    await news.next();
    expect(state.isWatched).toBe(false);
    const late = byHand();
    await createNews(late.watch, stop.signal).next();
    expect(late.state.isWatched).toBe(false);
  });
});

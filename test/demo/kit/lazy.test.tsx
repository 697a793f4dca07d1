import { render } from 'preact';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { lazy } from '../../../demo/kit/lazy.tsx';

const root = document.body.appendChild(document.createElement('div'));
afterEach(() => render(null, root));

const Screen = () => <p>The screen</p>;
const Failure = ({ onRetry }: { onRetry: () => void }) => <button type='button' onClick={onRetry}>Again</button>;

describe('lazy', () => {
  it('says that it could not be fetched, and tries again when asked', async () => {
    const load = vi.fn<() => Promise<typeof Screen>>().mockResolvedValue(Screen).mockRejectedValueOnce(
      new Error('offline'),
    );
    const Lazy = lazy(load, { Failure });
    render(<Lazy />, root);
    await vi.waitFor(() => expect(root.textContent).toBe('Again'));
    expect(load).toHaveBeenCalledTimes(1);
    root.querySelector('button')?.click();
    await vi.waitFor(() => expect(root.textContent).toBe('The screen'));
  });
});

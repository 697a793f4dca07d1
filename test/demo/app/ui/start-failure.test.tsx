import { render } from 'preact';
import { expect, it, vi } from 'vitest';
import { StartFailure } from '../../../../demo/app/ui/start-failure.tsx';

it('says why the worker did not start, and reloads', () => {
  const reload = vi.fn<() => void>();
  render(<StartFailure reason='Its script could not be loaded' onReload={reload} />, document.body);
  expect(document.querySelector('[role=alert]')?.textContent).toContain('Its script could not be loaded');
  document.querySelector<HTMLElement>('[data-testid=reload]')?.click();
  expect(reload).toHaveBeenCalledTimes(1);
});

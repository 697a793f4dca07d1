import type { JSX } from 'preact';
import type { BrowserState } from '../state/browser-state.ts';
import { Problem } from '../../kit/problem.tsx';

/** The browser's own model: whether it is there, and its download. */
export function BrowserForm({ browser }: { browser: BrowserState }): JSX.Element {
  const { availability, loaded, problem } = browser;
  return (
    <div class='fields' data-testid='browser-model' data-availability={availability.value}>
      {loaded.value === undefined
        ? <Availability browser={browser} />
        : <Download loaded={loaded.value} onStop={() => browser.stop()} />}
      <Problem text={problem.value} testId='browser-problem' />
    </div>
  );
}

function Availability({ browser }: { browser: BrowserState }): JSX.Element {
  switch (browser.availability.value) {
    case undefined:
      return <p class='field-help'>Checking the browser…</p>;
    case 'available':
      return (
        <p class='field-help'>
          Ready. It runs on this device, also offline. It is small: expect short answers and simple tool calls.
        </p>
      );
    case 'unavailable':
      return (
        <p class='field-help'>
          Not available in this browser. Chrome 148 or later has a model on computers with 22 GB of free disk and either
          more than 4 GB of video memory or 16 GB of memory. Firefox, Safari and phones have none.
        </p>
      );
    default:
      return (
        <>
          <p class='field-help'>
            The browser downloads its model once, for all sites: several gigabytes. After that it works offline.
          </p>
          <div class='button-row'>
            <button
              type='button'
              class='button'
              data-testid='browser-download'
              onClick={() => void browser.download()}
            >
              Download model
            </button>
          </div>
        </>
      );
  }
}

function Download({ loaded, onStop }: { loaded: number; onStop: () => void }): JSX.Element {
  const percent = Math.floor(loaded * 100);
  return (
    <>
      <label class='download'>
        <span>Downloading the model: {percent} %</span>
        <progress value={loaded} max={1} data-testid='browser-progress' />
      </label>
      <div class='button-row'>
        <button type='button' class='button' onClick={onStop}>Stop waiting</button>
      </div>
    </>
  );
}

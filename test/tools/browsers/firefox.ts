/** The Firefox of the system, driven by WebDriver BiDi: Playwright's own build cannot be had everywhere. */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { type Browser, firefox, type LaunchOptions } from 'playwright';

/** Where Firefox is: the one that `FIREFOX_PATH` names, or the system's; nothing, where there is none. */
export const firefoxPath: string | undefined = [process.env['FIREFOX_PATH'], '/usr/bin/firefox-esr', '/usr/bin/firefox']
  .find((path) => path && existsSync(path));

export const firefoxOptions: LaunchOptions = {
  channel: 'moz-firefox',
  executablePath: join(import.meta.dirname, 'firefox-relay.ts'),
  env: { ...process.env as Record<string, string>, FIREFOX: firefoxPath ?? '' },
  firefoxUserPrefs: { 'dom.ipc.processPrelaunch.enabled': false }, // no process to spare for pages that never come
};

/** Starts it without a window. */
export function launchFirefox(): Promise<Browser> {
  if (!firefoxPath) throw new Error('There is no Firefox: install firefox-esr, or name one in FIREFOX_PATH');
  return firefox.launch(firefoxOptions);
}

/** Light, dark, or as the system has it. */

import { effect, type Signal, signal } from '@preact/signals';
import * as v from 'valibot';
import type { Notes } from '../../storage/notes.ts';

const Theme = v.picklist(['system', 'light', 'dark']);
export type Theme = v.InferOutput<typeof Theme>;

/** Creates the theme as a signal; what is set is shown at once and remembered. */
export function createTheme({ notes, root }: { notes: Notes; root: HTMLElement }): Signal<Theme> {
  const theme = signal<Theme>(notes.read('theme', Theme) ?? 'system');
  effect(() => {
    if (theme.value === 'system') delete root.dataset['theme'];
    else root.dataset['theme'] = theme.value;
    notes.write('theme', theme.value === 'system' ? undefined : theme.value);
  });
  return theme;
}

/** Pinnace's own guide: a few short texts to try the knowledge with. */

import type { Upload } from './control.ts';
import { guideTexts } from './guide-texts.ts';

/** Returns the guide as files. */
export function guideFiles(): readonly Upload[] {
  return Object.entries(guideTexts).map(([name, text]) => ({
    name: `Pinnace guide/${name}`,
    type: 'text/markdown',
    content: new Blob([text], { type: 'text/markdown' }),
  }));
}

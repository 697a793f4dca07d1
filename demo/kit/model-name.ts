/** Models and kinds of providers in people's words. */

/** What answers without a model. */
export const scriptedLabel = 'scripted demo';

/** Returns the id, or the words for the model and the provider kind `rehearsal`. */
export function nameOfModel(id: string): string {
  return id === 'rehearsal' ? scriptedLabel : id;
}

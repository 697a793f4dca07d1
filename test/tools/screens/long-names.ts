/** Names as long, as foreign and as colourful as a registry takes them. */

/** An agent whose name is one very long word, right to left, and pictures. */
export const longAgent = {
  id: 'long',
  name: `מפליג 🧭 ${'Donaudampfschifffahrtsgesellschaftskapitän'.repeat(4)}`.slice(0, 200),
  description: `${'x'.repeat(120)} ${'a long sentence that goes on; '.repeat(10)}`,
  providerId: 'default',
  instructions: 'Be brief.',
};

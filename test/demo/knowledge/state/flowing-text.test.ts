import { describe, expect, it } from 'vitest';
import { flowingText } from '../../../../demo/knowledge/state/flowing-text.ts';

const long = 'This line of a document is as long as an editor lets it be';

describe('flowingText', () => {
  it('joins the lines of a paragraph and of an item, and moves no place', () => {
    const text = `${long}\nand goes on.\n\n- ${long}\n  and goes on\n- the next`;
    expect(flowingText(text)).toBe(`${long} and goes on.\n\n- ${long}   and goes on\n- the next`);
    expect(flowingText(text)).toHaveLength(text.length);
  });

  it.each([
    ['a short line', `Harbour road 1\nNorthquay`],
    ['a heading', `# ${long}\nText`],
    ['an item', `${long}\n- item`],
    ['a number', `${long}\n12. item`],
    ['a quote', `${long}\n> quote`],
    ['a row of a table', `| ${long} |\n| ${long} |`],
    ['indented code', `${long}\n    code()`],
    ['code in fences', `\`\`\`ts\nconst ${long.replaceAll(' ', '_')} = 1;\nnext();\n\`\`\`\nText`],
    ['an empty line', `${long}\n\n${long}`],
    ['a heading with a rule below', `${long}\n======`],
  ])('leaves the line break at %s', (_, text) => {
    expect(flowingText(text)).toBe(text);
  });

  it('joins again after the end of code', () => {
    expect(flowingText(`\`\`\`\ncode\n\`\`\`\n${long}\nend`)).toBe(`\`\`\`\ncode\n\`\`\`\n${long} end`);
  });
});

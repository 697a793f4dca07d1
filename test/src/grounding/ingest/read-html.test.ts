import { describe, expect, it } from 'vitest';
import { createTurns } from '../../../../src/base/turns.ts';
import { htmlText, readHtml } from '../../../../src/grounding/ingest/read-html.ts';
import { TextBudget } from '../../../../src/grounding/ingest/pieces.ts';

const textOf = async (html: string) => (await htmlText(html, { turns: createTurns() })).text.trim();

describe('htmlText', () => {
  it.each([
    [
      'a head that is not closed',
      '<title>T</title><meta charset=utf-8><body><p>Pilots wait<p>at berth',
      'Pilots wait\n\nat berth',
    ],
    ['no head and no body', '<h1>Tides</h1>High water', 'Tides\n\nHigh water'],
    [
      'names of letters and signs',
      '<p>Stra&szlig;e &amp; Se&ntilde;or&hellip; &lt;b&gt; 5&nbsp;&micro;m &#x20AC;&shy;',
      'Straße & Señor… <b> 5 µm €\u00ad',
    ],
    ['names without an end', '<p>a &copy 2024 &ampx', 'a © 2024 &x'],
    [
      'rows of cells that are not closed',
      '<table><tr><th>Ship<th>Draft<tr><td>Gull<td>3 m</table>after',
      '| Ship | Draft |\n| Gull | 3 m |\n\nafter',
    ],
    [
      'paragraphs and tables in cells',
      '<table><tr><td><p>a<p>b</td><td><table><tr><td>c<td>d</table></td></tr></table>',
      '| a b | c d |',
    ],
    ['lists, breaks and rules', '<ul><li>one<li>two</ul>x<br>y<hr>z', 'one\ntwo\n\nx\ny\n\nz'],
    [
      'what is no text of the page',
      '<script>var a="</p>";</script><style>p{}</style><noscript>no</noscript><svg><text>pic</text></svg>seen<!-- no -->',
      'seen',
    ],
    ['pictures that are never closed', '<svg><path d="M0"><p>after the picture', 'after the picture'],
    [
      'code whose lines and spaces stay',
      '<pre>if x:\r\n    y  = 1\n\nz</pre><p>a\n  b',
      'if x:\n    y  = 1\n\nz\n\na b',
    ],
    [
      'readings beside its words',
      '<p><ruby>港<rp>(</rp><rt>みなと<rp>)</rp></ruby>の<ruby>船<rt>ふね</ruby>',
      '港の船',
    ],
    ['pictures that say what they show', '<p>At <img src="a.png" alt="the east pier"><img alt="">', 'At the east pier'],
    ['elements that XML closes', '<?xml version="1.0"?><html><script src="a"/><title/><p>shown</p></html>', 'shown'],
    ['signs in attributes', '<p title="a>b" data-x=\'<p>\'>shown</p>', 'shown'],
    ['details', '<details><summary>Berth 3</summary>closed</details>', 'Berth 3\nclosed'],
    [
      'formulas',
      '<p>So <math><mi>x</mi><annotation encoding="application/x-tex">x^2</annotation></math> it is',
      'So x^2 it is',
    ],
    ['ends without a start', '</td></div></tr>text</p></table>', 'text'],
  ])('reads a page with %s', async (_, html, expected) => {
    expect(await textOf(html)).toBe(expected);
  });

  it('takes its title from the page, not from a picture in it', async () => {
    const html = '<title>Tides &amp; <b>times</b>\n</title><title>second</title><svg><title>icon</title></svg><p>x';
    expect((await htmlText(html, { turns: createTurns() })).title).toBe('Tides & <b>times</b>');
  });

  it('reads 5 MB of tags in turns, and no page that is nested without end', async () => {
    let turns = 0;
    const pieces = await readHtml(`<table>${'<tr><td>a</td><td> </td></tr>'.repeat(170_000)}</table>`, {
      length: 1_200,
      turns: { next: () => void turns++ },
      budget: new TextBudget(),
    });
    expect(pieces.length).toBeGreaterThan(500);
    expect(turns).toBeGreaterThan(300); // one for 16,384 characters at most
    await expect(textOf('<b>'.repeat(100_000))).rejects.toMatchObject({ details: { reason: 'invalid_document' } });
  });
});

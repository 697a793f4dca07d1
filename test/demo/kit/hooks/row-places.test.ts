import { describe, expect, it } from 'vitest';
import {
  placeOf,
  placeToSee,
  scrollHeightOf,
  scrollTopOf,
  type Viewport,
} from '../../../../demo/kit/hooks/use-rows.tsx';

const short: Viewport = { rowCount: 100, rowHeight: 30, height: 300 };
describe('the place of rows in a scrolled list', () => {
  it('is the scroll position itself as long as browsers can draw the list', () => {
    expect(scrollHeightOf(short)).toBe(3000);
    expect([placeOf(short, 123), scrollTopOf(short, 123)]).toEqual([123, 123]);
  });

  it('never leaves the list', () => {
    expect([scrollTopOf(short, -50), scrollTopOf(short, 1e9)]).toEqual([0, 2700]);
    expect(scrollTopOf({ ...short, rowCount: 3 }, 50)).toBe(0);
  });

  it.each([
    ['stays for a row that is in sight', 5, 100, 100],
    ['goes up as far as it must', 3, 100, 90],
    ['goes down as far as it must', 14, 100, 150],
    ['shows a row from far above in the middle', 3, 2000, -60],
    ['shows a row from far below in the middle', 90, 0, 2550],
  ])('%s', (_what, rank, place, expected) => {
    expect(placeToSee(short, rank, place)).toBe(expected);
  });
});

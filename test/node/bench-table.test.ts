import { expect, it } from 'vitest';
import { tableOf } from '../bench/table.ts';

it('puts what was measured into one table, with every missed bar told', () => {
  const machine = { runtime: 'Node 26', machine: '2 x processor' };
  const page = tableOf([
    {
      title: 'Runs',
      ...machine,
      rows: [{ figure: 'a|b', value: '1 ms', bar: '<= 2 ms', peer: '3 ms', ratio: '0.3', met: true }],
    },
    {
      title: 'Trees',
      ...machine,
      rows: [{ figure: 'load', value: '9 s', bar: '<= 8 s', met: false }, { figure: 'size', value: '1 B' }],
    },
  ]);
  expect(page).toContain('On Node 26, 2 x processor. 1 of 2 bars met.');
  expect(page).toContain('| a\\|b | 1 ms | <= 2 ms | 3 ms | 0.3 | met |');
  expect(page).toContain('| load | 9 s | <= 8 s |  |  | **missed** |');
  expect(page).toContain('| size | 1 B |  |  |  |  |');
});

import { expect, inject, it } from 'vitest';
import type { SimulationReport } from '../../../src/simulation/index.ts';
import { agreedBugs, agreedReports, cleanSeeds } from '../../fixtures/simulation/simulate-adapter.ts';

it('a simulation reports the same in Node, Deno and Chromium', async () => {
  const inNode = await (await fetch(inject('peers').reports)).json() as readonly SimulationReport[]; // of our own server
  expect(inNode.map(({ ok }) => ok)).toEqual([true, ...agreedBugs.map(() => false)]);
  const here = await agreedReports((bug) =>
    inNode[agreedBugs.indexOf(bug) + 1]?.failures.map(({ seed }) => seed) ?? []
  );
  expect(here[0]).toEqual(inNode[0]);
  expect(here[0]).toMatchObject({ scenarios: cleanSeeds, struck: cleanSeeds });
  expect(here.map(({ failures }) => failures)).toEqual(inNode.map(({ failures }) => failures));
});

/** The order of the test files: vitest begins with the largest, and these are small and take long. */

import { BaseSequencer, type TestSpecification } from 'vitest/node';

const long =
  /[/](?:accessibility|mcp-client-conformance|schedules|tour|node[/]sandbox|untrusted-certificates|program-kill)[.]test[.]ts$/;

export class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // oxlint-disable-next-line unicorn/no-array-sort -- no array: the order that vitest has
    const sorted = await super.sort(files);
    return [
      ...sorted.filter(({ moduleId }) => long.test(moduleId)),
      ...sorted.filter(({ moduleId }) => !long.test(moduleId)),
    ];
  }
}

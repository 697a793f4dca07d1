/** Why bars are missed, from profiles. `docs/figures.md` shows the reason below the table of a figure that misses its bar. */

/** One reason. */
interface Miss {
  /** Match the report's title and the figure's name. */
  readonly title: RegExp;
  readonly figure: RegExp;
  readonly why: string;
}

const misses: readonly Miss[] = [
  {
    title: /^Events/,
    figure: /^A run, everything on/,
    why:
      'Sinks and audit cost 0.4 to 0.6 ms a run, which does not grow with the answer: spans, JSON and hash of a block, ' +
      'its index rows, and two audit records of each call that may act. The run without them became three times as fast. ' +
      '"Overhead of a run" compares the same with the AI SDK.',
  },
  {
    title: /^10,000 tasks/,
    figure: /every result on record/,
    why:
      'Collecting garbage takes 13 %, the JSON texts of the events 9 %, making the agents 10 %, reading the request 4 %. ' +
      'No other function takes more than 3 %.',
  },
  {
    title: /^on their own/,
    figure: /^the same from the snapshot/,
    why:
      'Parsing the snapshot takes 22 %, parsing the 2,000 events behind it 15 %, collecting garbage 16 %, making 10,000 ' +
      'agents 20 %, checking the sum of the text 5 %. Reading agents only when they are needed would save the most.',
  },
  {
    title: /Chromium/,
    figure: /million nodes: longest task/,
    why:
      'The row below has the work of the thread in its longest task: for the rest of the time the task waited for a processor, ' +
      'which the page shares with the worker, the browser and the person who is simulated.',
  },
];

/** Returns the reason why this figure misses its bar; `undefined` where none is known. */
export function whyMissed(title: string, figure: string): string | undefined {
  return misses.find((miss) => miss.title.test(title) && miss.figure.test(figure))?.why;
}

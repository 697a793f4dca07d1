/** Draws how often something is so, by how probable it was said to be. */

import type { JudgedHit } from '../../../src/grounding/calibration.ts';

const size = 260;
const margin = 40;

/** Returns an SVG with two diagrams: hits by their confidence, and questions by `answered`. */
export function calibrationPlot(hits: readonly JudgedHit[], questions: readonly JudgedHit[]): string {
  const width = 2 * (size + 2 * margin);
  const height = size + 2 * margin + 10;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="12" role="img">
<title>Calibration of grounding: stated probability and observed share</title>
<rect width="${width}" height="${height}" fill="#fff"/>
${diagram(hits, { left: margin, title: `${hits.length} hits by confidence`, side: 'relevant' })}
${
    diagram(questions, {
      left: size + 3 * margin,
      title: `${questions.length} questions by "answered"`,
      side: 'answered here',
    })
  }
</svg>
`;
}

interface Place {
  readonly left: number;
  readonly title: string;
  readonly side: string;
}

function diagram(judged: readonly JudgedHit[], { left, title, side }: Place): string {
  const bins = Map.groupBy(judged, ({ confidence }) => Math.min(9, Math.floor(confidence * 10)));
  const x = (value: number): string => (left + value * size).toFixed(1);
  const y = (value: number): string => (margin + (1 - value) * size).toFixed(1);
  const points = [...bins].toSorted(([a], [b]) => a - b).map(([, bin]) => {
    const said = mean(bin.map(({ confidence }) => confidence));
    const seen = mean(bin.map(({ relevant }) => Number(relevant)));
    const radius = 3 + 9 * Math.sqrt(bin.length / judged.length);
    return `<circle cx="${x(said)}" cy="${y(seen)}" r="${
      radius.toFixed(1)
    }" fill="#1f6f8b" fill-opacity="0.75"><title>${bin.length}: said ${said.toFixed(2)}, seen ${
      seen.toFixed(2)
    }</title></circle>`;
  });
  const ticks = [0, 0.5, 1].map((value) =>
    `<text x="${x(value)}" y="${margin + size + 16}" text-anchor="middle">${value}</text>` +
    `<text x="${left - 6}" y="${y(value)}" text-anchor="end" dominant-baseline="middle">${value}</text>`
  );
  return `<rect x="${left}" y="${margin}" width="${size}" height="${size}" fill="none" stroke="#999"/>
<line x1="${x(0)}" y1="${y(0)}" x2="${x(1)}" y2="${y(1)}" stroke="#999" stroke-dasharray="4 4"/>
<text x="${left + size / 2}" y="${margin - 14}" text-anchor="middle" font-weight="bold">${title}</text>
<text x="${left + size / 2}" y="${
    margin + size + 34
  }" text-anchor="middle">stated (observed upward: share ${side})</text>
${ticks.join('\n')}
${points.join('\n')}`;
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

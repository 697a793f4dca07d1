/** The ways between the tasks of a graph, as SVG paths. */

/** A position in rem from the upper left. */
export interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** Right, down between the columns, and right again. */
export function elbow(
  from: Box,
  to: Box,
  { height, gapX }: { readonly height: number; readonly gapX: number },
): string {
  const [x, y] = [from.x + from.width, from.y + height / 2];
  const end = to.y + height / 2;
  if (y === end) return `M${x} ${y}H${to.x}`;
  const middle = x + gapX / 3;
  const round = 0.5;
  return `M${x} ${y}H${middle - round}Q${middle} ${y} ${middle} ${y + round}` +
    `V${end - round}Q${middle} ${end} ${middle + round} ${end}H${to.x}`;
}

/** From the middle of one to the middle of the other. */
export function curve(from: Box, to: Box): string {
  const [x, y] = [from.x + from.width, from.y + from.height / 2];
  const end = to.y + to.height / 2;
  const bend = Math.max(1, (to.x - x) / 2);
  return `M${x} ${y}C${x + bend} ${y} ${to.x - bend} ${end} ${to.x} ${end}`;
}
